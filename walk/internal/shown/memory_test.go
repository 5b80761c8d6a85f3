package shown

import (
	"symkit/cfi"
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

const insnPC = 0x1000

func regsOf(pc uint64, set map[cfi.Reg]uint64) (r walk.Registers) {
	r.PC = pc
	for reg, v := range set {
		r.Set(reg, v)
	}
	return r
}
