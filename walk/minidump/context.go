package minidump

import (
	"iter"

	"symkit/internal/wire"
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

// Register is a register of a context.
type Register struct {
	Name string
	// DWARF is the register's number in the CPU's DWARF psABI, or -1.
	DWARF int
	Value uint64
	// Size is the register's size in bytes: 2, 4 or 8.
	Size int
}

// Context decodes the context at a location, for the dump's CPU. A context
// whose flags are of another CPU is an error.
func (d *Dump) Context(l Location) (Context, error) {
	c := d.at(l)
	lay := d.layout(c)
	start := c.Pos()
	if lay == nil && c.Err() == nil {
		c.Fail(start, ErrCPU)
	}
	if c.Err() != nil {
		return Context{}, c.Err()
	}

	// ContextFlags is at an offset that depends on the CPU's structure.
	x := Context{layout: lay, big: d.big}
	flags := c
	flags.Skip(uint64(lay.flags))
	x.Flags = flags.Uint(lay.flagsSize)
	if flags.Err() != nil {
		return Context{}, flags.Err()
	}

	// A CPU bit in the flags that the structure does not have means that the context is of
	// another CPU. Flags without any CPU bit are accepted.
	if cpu := x.Flags &^ contextParts; cpu != 0 && cpu&lay.mask() == 0 {
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

// layout chooses the structure of a context. A context of arm64 has one of two structures,
// whichever of the two CPU numbers the system information has: the flags say which. The
// older structure begins with 8 bytes of flags and has the bit contextARM64Old. Windows sets
// that bit too, together with the bit of the newer structure.
func (d *Dump) layout(c wire.Cursor) *layout {
	cpu := d.System.CPU
	if cpu != CPUARM64 && cpu != CPUARM64Old {
		return layouts[cpu]
	}

	// The old structure has 64 bits of flags: in big-endian dumps the high half is first.
	flags := c.U32()
	if d.big && flags == 0 {
		flags = c.U32()
	}
	if flags&contextARM64Old != 0 && flags&uint32(arm64Layout.cpu) == 0 {
		return &arm64OldLayout
	}
	return &arm64Layout
}

// value reads a field. A field lies inside the data, because Context reads as many bytes as
// need returns, and a test compares the tables with the sizes.
func (x *Context) value(f *field) uint64 {
	c := wire.New(section, x.data, x.big)
	c.Skip(uint64(f.off))
	return c.Uint(int(f.size))
}

// PC returns the program counter.
func (x *Context) PC() uint64 { return x.value(&x.layout.fields[x.layout.pc]) }

// SP returns the stack pointer.
func (x *Context) SP() uint64 { return x.value(&x.layout.fields[x.layout.sp]) }

// Registers yields the registers: the program counter, the stack pointer, the
// general ones and the flags, in the order of the CPU's structure.
func (x *Context) Registers() iter.Seq[Register] {
	return func(yield func(Register) bool) {
		for i := range x.layout.fields {
			f := &x.layout.fields[i]
			if !yield(Register{f.name, int(f.dwarf), x.value(f), int(f.size)}) {
				return
			}
		}
	}
}
