package mdmp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"symkit/cfi"
	"symkit/internal/wire"
	"symkit/walk"
)

// readContext decodes the registers of the context at the cursor, of a dump of a CPU. A context whose
// flags are of another CPU is an error.
func readContext(cpu CPU, c wire.Cursor) (walk.Registers, error) {
	l := layoutOf(cpu, c)
	if l == nil && c.Err() == nil {
		c.Fail(c.Pos(), ErrCPU)
	}
	if c.Err() != nil {
		return walk.Registers{}, c.Err()
	}

	// A CPU bit in the flags that the structure does not have means that the context is of
	// another CPU. Flags without any CPU bit are accepted.
	at := c
	at.Skip(uint64(l.flags))
	start := at.Pos()
	flags := at.Uint(l.flagsSize)
	if at.Err() != nil {
		return walk.Registers{}, at.Err()
	}
	number := flags &^ contextParts
	if number != 0 && number&l.mask() == 0 {
		c.Fail(start, ErrContext)
	}
	return l.registers(c, l.need(flags))
}

// registers reads the registers that have DWARF numbers, and the program counter. The structure has
// the size need, and so all of its registers: a test compares the tables with the sizes.
func (l *layout) registers(c wire.Cursor, need int) (r walk.Registers, err error) {
	whole := c
	whole.Skip(uint64(need))
	if whole.Err() != nil {
		return r, whole.Err()
	}
	for i := range l.fields {
		f := &l.fields[i]
		if f.dwarf < 0 && i != l.pc {
			continue
		}
		at := c
		at.Skip(uint64(f.off))
		v := at.Uint(int(f.size))
		if f.dwarf >= 0 {
			r.Set(cfi.Reg(f.dwarf), v)
		}
		if i == l.pc {
			r.PC = v
		}
	}
	return r, nil
}

// contextParts are the bits of the flags for the parts that a context has; the
// other bits are for the CPU.
const contextParts = 0xff

// layoutOf chooses the structure of a context. A context of arm64 has one of two structures,
// whichever of the two CPU numbers the system information has: the flags say which. The
// older structure begins with 8 bytes of flags and has the bit contextARM64Old. Windows sets
// that bit too, together with the bit of the newer structure.
func layoutOf(cpu CPU, c wire.Cursor) *layout {
	if cpu != CPUARM64 && cpu != CPUARM64Old {
		return machines[cpu].layout
	}

	// The old structure has 64 bits of flags: in big-endian dumps the high half is first.
	flags := c.U32()
	if c.BigEndian() && flags == 0 {
		flags = c.U32()
	}
	if flags&contextARM64Old != 0 && flags&uint32(arm64Layout.cpu) == 0 {
		return &arm64OldLayout
	}
	return &arm64Layout
}

// ContextOf decodes the registers of a CONTEXT structure that is not in a minidump but, for example,
// in a microdump. cpu is the CPU's name in MODULE records. The size of data, not the flags in
// the structure, decides between the two structures of arm64. The
// error is a *wire.Error of the section "context".
func ContextOf(cpu string, big bool, data []byte) (walk.Registers, error) {
	c := wire.New("context", data, big)
	number, known := CPUNamed(cpu)
	l := machines[number].layout
	if number == CPUARM64 && len(data) == arm64OldLayout.size {
		l = &arm64OldLayout
	}
	if !known {
		c.Fail(0, ErrCPU)
		return walk.Registers{}, c.Err()
	}
	return l.registers(c, l.size)
}

// The parts of a context that are set, in the bits that all CPUs share but those of PowerPC and
// SPARC, which have one bit for all: control, integer and, on x86, segment registers.
const contextControlInteger, contextBase = 3, 1

// riscv64Padding is the bytes at the end of the structure of riscv64 that align its size, without
// which Breakpad's tool refuses the structure.
const riscv64Padding = 4

// WriteContext returns the CONTEXT structure of registers.
func WriteContext(cpu CPU, order binary.ByteOrder, regs *walk.Registers) []byte {
	l := machines[cpu].layout
	flags := l.cpu | contextControlInteger
	if cpu == CPUPPC || cpu == CPUPPC64 || cpu == CPUSPARC {
		flags = l.cpu | contextBase
	}

	data := make([]byte, l.size)
	if cpu == CPURISCV64 {
		data = append(data, make([]byte, riscv64Padding)...)
	}
	put(data[l.flags:], order, l.flagsSize, flags)
	for i := range l.fields {
		f := &l.fields[i]
		v, ok := uint64(0), false
		switch {
		case i == l.pc:
			v, ok = regs.PC, true
		case f.dwarf >= 0:
			v, ok = regs.Get(cfi.Reg(f.dwarf))
		}
		if ok {
			put(data[f.off:], order, int(f.size), v)
		}
	}
	return data
}

// put writes an integer of 2, 4 or 8 bytes.
func put(data []byte, order binary.ByteOrder, size int, v uint64) {
	switch size {
	case 2:
		order.PutUint16(data, uint16(v))
	case 4:
		order.PutUint32(data, uint32(v))
	default:
		order.PutUint64(data, v)
	}
}

// rustCPUs are the bits of flags that stand for a CPU, for rust-minidump.
const rustCPUs = 0x80000 | 0x20000 | 0x100000 | 0x40000000 | 0x400000 | 0x80000000 | 0x40000 | 0x20000000 |
	0x1000000 | 0x10000000 | 0x10000

// appendContext appends the text of the context at the cursor, of a dump of a CPU: nothing if the
// context is incomplete, or of another CPU.
func appendContext(out []byte, cpu CPU, c wire.Cursor) []byte {
	l := machines[cpu].layout
	if l == nil || l.title == "" || c.Len() < l.size {
		return out
	}
	flags := c
	flags.Skip(uint64(l.flags))
	if flags.Uint(l.flagsSize)&rustCPUs != l.cpu {
		return out
	}

	out = append(append(out, l.title...), '\n')
	for i := range l.fields {
		f := &l.fields[i]
		if f.shown == "" {
			continue
		}
		v := c
		v.Skip(uint64(f.off))
		out = append(append(append(out, "  "...), f.shown...), "= 0x"...)
		switch {
		case f.size == 16:
			out = append(out, wide(&v)...)
		case f.size > 8:
			out = hex.AppendEncode(out, v.Bytes(uint64(f.size)))
		default:
			out = strconv.AppendUint(out, v.Uint(int(f.size)), 16)
		}
		out = append(out, '\n')
	}
	return append(out, l.end...)
}

// wide reads a number of 16 bytes and returns its digits.
func wide(c *wire.Cursor) string {
	low, high := c.U64(), c.U64()
	if c.BigEndian() {
		low, high = high, low
	}
	if high == 0 {
		return strconv.FormatUint(low, 16)
	}
	return fmt.Sprintf("%x%016x", high, low)
}
