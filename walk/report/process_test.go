package report

import (
	"context"
	"encoding/binary"

	"symkit/cfi"
	"symkit/emit"
	"symkit/walk"
)

// memoryMap is memory by address.
type memoryMap map[uint64][]byte

func (m memoryMap) Bytes(addr, n uint64) []byte {
	for at, b := range m {
		if addr >= at && addr-at <= uint64(len(b)) && n <= uint64(len(b))-(addr-at) {
			return b[addr-at:][:n]
		}
	}
	return nil
}

// fixed supplies the same symbols for every module.
type fixed string

func (f fixed) Symbols(context.Context, *walk.Module) *walk.Symbols {
	return &walk.Symbols{Index: emit.NewIndex([]byte(f)), From: "text"}
}

// process has one thread of x86-64, a module at 0x400000 (0x10000 bytes, no code
// bytes) and a stack of words at 0x8000.
func process(regs walk.Registers, stack ...uint64) *walk.Process {
	var b []byte
	for _, word := range stack {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return &walk.Process{OS: "Linux", CPU: "x86_64", Threads: []walk.Thread{{ID: 1, Regs: regs}}, Memory: memoryMap{0x8000: b},
		Modules: []*walk.Module{{Path: "/bin/app", Name: "app", Base: 0x400000, End: 0x410000}}}
}

func regsOf(pc uint64, set map[cfi.Reg]uint64) (r walk.Registers) {
	r.PC = pc
	for reg, v := range set {
		r.Set(reg, v)
	}
	return r
}

const symbolsText = `MODULE Linux x86_64 0 app
FUNC 1000 100 0 inner
FUNC 1100 100 0 middle
FUNC 1200 100 0 outer
FUNC 1300 100 0 _start
FUNC 1400 10 0 __restore_rt
`
