package code

import "symkit/cfi"

// access is a load or store at an offset from register rn. If before is set, the offset is
// added before the access, and rn keeps the sum if write is set. Otherwise the offset is
// added to rn after the access.
type access struct {
	load, before, write bool
	rn                  cfi.Reg
	offset              int64
}

// access adds the loads or stores of registers to consecutive words, and the change
// of the base register.
func (e *effect) access(a access, word int64, regs ...cfi.Reg) {
	kind, at := opStore, a.offset
	if a.load {
		kind = opLoad
	}
	if !a.before || a.write {
		at = 0
	}

	if a.before && a.write {
		e.add(opMove, a.rn, a.rn, a.offset)
	}
	for i, reg := range regs {
		if reg != None {
			e.add(kind, reg, a.rn, at+int64(i)*word)
		}
	}
	if !a.before {
		e.add(opMove, a.rn, a.rn, a.offset)
	}
}

// SignExtend returns the low bits of v as a signed number.
func SignExtend(v uint32, bits int) int64 { return int64(int32(v<<(32-bits)) >> (32 - bits)) }
