package minidump

import (
	"symkit/internal/wire"
	"symkit/walk"
)

// ContextOf decodes a CONTEXT structure that is not in a minidump but, for example, in a
// microdump. cpu is the CPU's name in MODULE records. The size of data, not the flags in
// the structure, decides between the two structures of arm64. The context aliases data. The
// error is a *wire.Error of the section "context".
func ContextOf(cpu string, big bool, data []byte) (Context, error) {
	c := wire.New("context", data, big)
	number, known := cpusByName[cpu]
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

// WalkRegisters returns the registers of the context for a walk.
func (x *Context) WalkRegisters() walk.Registers { return registers(x) }
