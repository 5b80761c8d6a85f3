package mdmp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"symkit/cfi"
	"symkit/internal/wire"
	"symkit/walk"
)

// Errors of contexts.
var (
	// ErrContext: a thread context of another CPU than the dump's.
	ErrContext = errors.New("context of another CPU")
	// ErrCPU: a CPU whose contexts are not known.
	ErrCPU = errors.New("unknown CPU")
)

// Context is the registers of a thread: one of the CONTEXT structures. It
// aliases the dump.
type Context struct {
	Flags uint64 // ContextFlags
	// Extra has the bytes after the structure. On x86 they are the state that
	// XSAVE writes, if bit 0x40 of the flags is set.
	Extra []byte

	layout *layout
	data   []byte
	big    bool
}

// readContext decodes the context at the cursor, of a dump of a CPU. A context whose flags are of
// another CPU is an error.
func readContext(cpu CPU, c wire.Cursor) (Context, error) {
	lay := layoutOf(cpu, c)
	start := c.Pos()
	if lay == nil && c.Err() == nil {
		c.Fail(start, ErrCPU)
	}
	if c.Err() != nil {
		return Context{}, c.Err()
	}

	// ContextFlags is at an offset that depends on the CPU's structure.
	x := Context{layout: lay, big: c.BigEndian()}
	flags := c
	flags.Skip(uint64(lay.flags))
	x.Flags = flags.Uint(lay.flagsSize)
	if flags.Err() != nil {
		return Context{}, flags.Err()
	}

	// A CPU bit in the flags that the structure does not have means that the context is of
	// another CPU. Flags without any CPU bit are accepted.
	if number := x.Flags &^ contextParts; number != 0 && number&lay.mask() == 0 {
		c.Fail(start+lay.flags, ErrContext)
	}

	// All fields lie inside these bytes, so reading a register cannot fail.
	x.data = c.Bytes(uint64(lay.need(x.Flags)))
	x.Extra = c.Bytes(uint64(c.Len()))
	if c.Err() != nil {
		return Context{}, c.Err()
	}
	return x, nil
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
		return layouts[cpu]
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

// ContextOf decodes a CONTEXT structure that is not in a minidump but, for example, in a
// microdump. cpu is the CPU's name in MODULE records. The size of data, not the flags in
// the structure, decides between the two structures of arm64. The context aliases data. The
// error is a *wire.Error of the section "context".
func ContextOf(cpu string, big bool, data []byte) (Context, error) {
	c := wire.New("context", data, big)
	number, known := CPUsByName[cpu]
	lay := layouts[number]
	if number == CPUARM64 && len(data) == arm64OldLayout.size {
		lay = &arm64OldLayout
	}
	if !known {
		c.Fail(0, ErrCPU)
		return Context{}, c.Err()
	}

	// All fields lie inside the structure.
	x := Context{layout: lay, big: big, data: c.Bytes(uint64(lay.size)), Extra: c.Bytes(uint64(c.Len()))}
	if c.Err() != nil {
		return Context{}, c.Err()
	}
	flags := wire.New("context", x.data[lay.flags:], big)
	x.Flags = flags.Uint(lay.flagsSize)
	return x, nil
}

// value reads a field. A field lies inside the data, because readContext reads as many bytes as
// need returns, and a test compares the tables with the sizes.
func (x *Context) value(f *field) uint64 {
	c := wire.New("context", x.data, x.big)
	c.Skip(uint64(f.off))
	return c.Uint(int(f.size))
}

// PC returns the program counter.
func (x *Context) PC() uint64 { return x.value(&x.layout.fields[x.layout.pc]) }

// SP returns the stack pointer.
func (x *Context) SP() uint64 { return x.value(&x.layout.fields[x.layout.sp]) }

// Register is a register of a context.
type Register struct {
	Name string
	// DWARF is the register's number in the CPU's DWARF psABI, or -1.
	DWARF int
	Value uint64
	// Size is the register's size in bytes: 2, 4 or 8.
	Size int
}

// All yields all registers: those without DWARF numbers too.
func (x *Context) All() iter.Seq[Register] {
	return func(yield func(Register) bool) {
		for i := range x.layout.fields {
			f := &x.layout.fields[i]
			if f.name != "" && !yield(Register{f.name, int(f.dwarf), x.value(f), int(f.size)}) {
				return
			}
		}
	}
}

// Registers returns the registers that have DWARF numbers, and the program counter.
func (x *Context) Registers() (r walk.Registers) {
	for reg := range x.All() {
		if reg.DWARF >= 0 {
			r.Set(cfi.Reg(reg.DWARF), reg.Value)
		}
	}
	r.PC = x.PC()
	return r
}

// The parts of a context that are set, in the bits that all CPUs share but those of PowerPC and
// SPARC, which have one bit for all: control, integer and, on x86, segment registers.
const contextControlInteger, contextBase = 3, 1

// riscv64Padding is the bytes at the end of the structure of riscv64 that align its size, without
// which Breakpad's tool refuses the structure.
const riscv64Padding = 4

// WriteContext returns the CONTEXT structure of registers.
func WriteContext(cpu CPU, order binary.ByteOrder, regs *walk.Registers) []byte {
	l := layouts[cpu]
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
	l := layouts[cpu]
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
