package walk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"symkit/elfx/companion"
	"symkit/emit"
	"symkit/internal/mem"
	"symkit/limits"
)

// symbolizer holds the symbols of a process's modules, and caches the places of
// addresses.
type symbolizer struct {
	supplier Supplier
	mods     map[*Module]*moduleSymbols
	progress func(m *Module)
	cost     cost
	kept     atomic.Int64 // terms of the programs that are kept
}

type moduleSymbols struct {
	once  sync.Once
	syms  *Symbols
	index *emit.Index // that of syms, which counts what is read
	met   atomic.Bool // by the walk of a stack

	mu     sync.RWMutex // each frame of each thread reads, few write
	places map[uint64]*Place
	rules  map[uint64]*unwindRules
	names  map[*byte]string // by the first byte in the symbol file
}

var noPlace = &Place{}

func newSymbolizer(p *Process, s Supplier, bounds limits.Limits, progress func(*Module)) *symbolizer {
	z := &symbolizer{supplier: s, mods: map[*Module]*moduleSymbols{}, progress: progress}
	z.cost.limits = bounds
	for _, m := range p.Modules {
		z.mods[m] = &moduleSymbols{}
	}
	z.forget()
	return z
}

// forget empties the caches and resets the costs; the symbols stay loaded.
func (z *symbolizer) forget() {
	z.cost.reset()
	z.kept.Store(0)
	for _, ms := range z.mods {
		ms.places, ms.rules, ms.names = map[uint64]*Place{}, map[uint64]*unwindRules{}, map[*byte]string{}
	}
}

// symbols loads the symbols of m at the first call.
func (z *symbolizer) symbols(ctx context.Context, m *Module) *Symbols {
	ms := z.mods[m]
	ms.once.Do(func() {
		ms.syms = &Symbols{}
		if z.supplier == nil {
			return
		}
		if z.progress != nil {
			z.progress(m)
		}
		err := mem.Guard(func() error {
			ms.syms = z.supplier.Symbols(ctx, m)
			return nil
		})
		if err != nil {
			ms.syms = &Symbols{Tried: []companion.Probe{{Path: m.Path, Err: err}}}
		}
		if ms.syms.Index != nil {
			ms.index = ms.syms.Index.Count(&z.cost.text)
		}
	})
	return ms.syms
}

// meet notes that the walk of a stack met the module.
func (ms *moduleSymbols) meet() {
	if !ms.met.Load() {
		ms.met.Store(true)
	}
}

// index returns the symbols of m; nil if there are none.
func (z *symbolizer) index(ctx context.Context, m *Module) *emit.Index {
	ms := z.mods[m]
	ms.meet()
	z.symbols(ctx, m)
	return ms.index
}

// place returns the place of an address in m, from the symbols of m.
func (z *symbolizer) place(ctx context.Context, m *Module, addr uint64) *Place {
	z.mods[m].meet()
	return z.pointee(ctx, m, addr)
}

// pointee returns the place of an address in m that a word of a stack points to.
func (z *symbolizer) pointee(ctx context.Context, m *Module, addr uint64) *Place {
	ms := z.mods[m]
	z.symbols(ctx, m)
	if ms.index == nil {
		return noPlace
	}

	ms.mu.RLock()
	p := ms.places[addr]
	ms.mu.RUnlock()
	switch {
	case p != nil:
		return p
	case z.cost.over() != nil:
		return noPlace
	}

	// Two workers may look up one address; their results are equal.
	signal := ms.index.SignalFrame(addr - m.Base)
	below, known := ms.index.Below(addr - m.Base)
	s, ok := ms.index.Symbol(addr - m.Base)
	ms.mu.Lock()
	defer ms.mu.Unlock()
	p = &Place{signal: signal}
	if known {
		p.below = m.Base + below
	}
	if ok {
		ms.fill(p, &s, m.Base)
		z.cost.calls.Add(int64(len(p.Inlines)))
	}
	ms.places[addr] = p
	return p
}

// fill copies what the symbols have about an address. Places share their names.
func (ms *moduleSymbols) fill(p *Place, s *emit.Symbol, base uint64) {
	p.FuncAddr, p.Public, p.After = base+s.Addr, s.Public, s.After
	if s.LineAddr != 0 || len(s.Calls[0].File) > 0 {
		p.LineAddr = base + s.LineAddr
	}
	if len(s.Calls) > 1 {
		p.CallAddr = base + s.CallAddr
		p.Inlines = make([]InlineCall, 0, len(s.Calls)-1)
	}

	// The last call is the function itself, the others are inlined into it.
	for i, c := range s.Calls {
		name, file := ms.name(c.Func), ms.name(c.File)
		if i == len(s.Calls)-1 {
			p.Func, p.File, p.Line = name, file, c.Line
			break
		}
		p.Inlines = append(p.Inlines, InlineCall{name, file, c.Line})
	}
}

// name returns a name of the symbol file as a string: the same one for each use of a record,
// since many frames, and inlined calls by the thousand, can have one name.
func (ms *moduleSymbols) name(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	s, ok := ms.names[&text[0]]
	if !ok {
		s = string(text)
		ms.names[&text[0]] = s
	}
	return s
}

// close releases the symbols of all modules.
func (z *symbolizer) close() error {
	var errs []error
	for _, ms := range z.mods {
		if ms.syms != nil && ms.syms.Close != nil {
			errs = append(errs, ms.syms.Close())
		}
	}
	return errors.Join(errs...)
}

// found returns what is known of the symbols of m, when the walk has ended.
func (z *symbolizer) found(m *Module) ModuleSymbols {
	ms := z.mods[m]
	f := ModuleSymbols{Module: m, Symbols: ms.syms, Met: ms.met.Load()}
	if f.Symbols == nil || f.Symbols.Index == nil {
		return f
	}
	f.Loaded, f.BadLines = true, f.Symbols.Index.Bad()
	if f.Symbols.Shared {
		f.BadLines = f.Symbols.BadLines
	}
	// The symbols are closed when Walk returns.
	f.Symbols.Index = nil
	return f
}
