package walk

import (
	"symkit/emit"
	"symkit/walk/internal/rules"
)

// unwindRules are the records that give the caller of a frame at one address.
type unwindRules struct {
	cfi    *rules.Program // nil if there is no STACK CFI
	win    *rules.Program // of a STACK WIN record with a program
	record emit.StackWin
	hasWin bool
	params uint32 // bytes of the function's arguments
}

// size is what the programs count as when they are read, and in the cache.
func (u *unwindRules) size() int {
	n := 1
	for _, p := range []*rules.Program{u.cfi, u.win} {
		if p != nil {
			n += p.Size()
		}
	}
	return n
}

// compileCost is how many times longer it takes to read a term than to evaluate it.
const compileCost = 8

// maxKept bounds the terms of the programs that are kept in memory, of all modules.
const maxKept = 1 << 20

// rulesAt returns the rules at an address of m; nil if m has no symbols.
func (v *view) rulesAt(m *Module, addr uint64) *unwindRules {
	idx := v.index(m)
	if idx == nil {
		return nil
	}

	ms := v.syms.mods[m]
	ms.mu.RLock()
	u := ms.rules[addr]
	ms.mu.RUnlock()
	if u != nil {
		return u
	}

	// Two workers may read the rules of one address; their results are equal.
	u = v.readRules(idx, addr-m.Base)
	v.syms.cost.terms(compileCost * u.size())
	if v.syms.kept.Add(int64(u.size())) > maxKept {
		return u
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.rules[addr] = u
	return u
}

// readRules reads the rules at an address of a module.
func (v *view) readRules(idx *emit.Index, addr uint64) *unwindRules {
	u := &unwindRules{}
	if _, list, ok := idx.CFI(addr, v.rules[:0]); ok {
		v.rules = list
		u.cfi = rules.Compile(&v.Stack, list)
	}
	if !v.Win {
		return u
	}

	u.record, u.hasWin = idx.Win(addr)
	if u.hasWin {
		u.params = u.record.ParamSize
		if len(u.record.Program) > 0 {
			u.win = rules.CompileWin(&v.Stack, u.record.Program)
		}
		return u
	}
	s, _ := idx.Symbol(addr)
	u.params = s.ParamSize
	return u
}
