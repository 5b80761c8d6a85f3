package walk

import (
	"context"

	"symkit/emit"
)

// lookup names addresses of a process, for one worker: by the symbols of modules, which all
// workers share, or by the names of generated code.
type lookup struct {
	ctx       context.Context
	p         *Process
	syms      *symbolizer
	generated *Generated
}

// at returns the module and the place of an address.
func (l *lookup) at(addr uint64) (*Module, *Place) {
	if m := l.p.ModuleAt(addr); m != nil {
		return m, l.place(m, addr)
	}
	return nil, l.generated.place(addr)
}

// place returns the place of an address in m.
func (l *lookup) place(m *Module, addr uint64) *Place { return l.syms.place(l.ctx, m, addr) }

// index returns the symbols of m; nil if there are none.
func (l *lookup) index(m *Module) *emit.Index {
	if m == nil {
		return nil
	}
	return l.syms.index(l.ctx, m)
}

// isGenerated reports whether addr is in code outside of all modules, as just-in-time
// compilers make: in executable memory, or in a function of a perf map or jitdump
// file. The stack above sp is no code, although programs with nested functions have an
// executable stack: trampolines there jump, and are no callers.
func (l *lookup) isGenerated(addr, sp uint64) bool {
	if addr < lowestPC || l.p.ModuleAt(addr) != nil {
		return false
	}
	if l.generated.place(addr) != noPlace {
		return true
	}
	m := l.p.MappingAt(addr)
	return m != nil && m.Execute && !(addr >= sp && sp >= m.Begin)
}

// maxFrame bounds the size in bytes of a frame if the mapping of its stack is not known.
const maxFrame = 16 << 20

// sameMapping reports whether a frame at sp can end at cfa: in the same mapping or in those that
// follow without a gap, as far as the mappings are known.
func (p *Process) sameMapping(sp, cfa uint64) bool {
	if cfa <= sp {
		return false
	}
	m := p.MappingAt(sp)
	if m == nil {
		return cfa-sp <= maxFrame
	}
	for end := m.End; ; end = m.End {
		if cfa <= end {
			return true
		}
		m = p.MappingAt(end)
		if m == nil || !m.Write || m.End <= end {
			return false
		}
	}
}
