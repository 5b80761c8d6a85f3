package walk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"symkit/elfx/companion"
	"symkit/emit"
	"symkit/internal/mem"
)

// Supplier finds the symbols of modules. Its methods are called from several
// goroutines, but once for each module.
type Supplier interface {
	// Symbols looks for the symbols of m. The result is never nil; its Index is nil when there
	// are none.
	Symbols(ctx context.Context, m *Module) *Symbols
}

// Symbols are the symbols that a Supplier found for a module.
type Symbols struct {
	Index *emit.Index
	// From is the file that the symbols came from; URL is where it was fetched,
	// empty if it was not.
	From string
	URL  string
	// Tried are the places that were looked at before, in order.
	Tried []companion.Probe
	// Damage counts the losses that making the symbols worked around.
	Damage int
	// Heap is the memory that the symbols themselves take, in bytes, where they
	// are not mapped from a file.
	Heap int64
	// Close releases the memory that Index aliases; Close may be nil.
	Close func() error

	// Shared: other processes use Index at the same time. BadLines is the number of
	// malformed lines that were found when Index was loaded.
	Shared   bool
	BadLines int
}

// symbolizer holds the symbols of a process's modules, and caches the places of
// addresses.
type symbolizer struct {
	supplier Supplier
	mods     map[*Module]*moduleSymbols
	progress func(m *Module)
}

type moduleSymbols struct {
	once sync.Once
	syms *Symbols
	met  atomic.Bool // by the walk of a stack

	mu     sync.Mutex
	places map[uint64]*Place
}

var noPlace = &Place{}

func newSymbolizer(p *Process, s Supplier, progress func(*Module)) *symbolizer {
	z := &symbolizer{supplier: s, mods: map[*Module]*moduleSymbols{}, progress: progress}
	for _, m := range p.Modules {
		z.mods[m] = &moduleSymbols{places: map[uint64]*Place{}}
	}
	return z
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
	})
	return ms.syms
}

// index returns the symbols of m; nil if there are none.
func (z *symbolizer) index(ctx context.Context, m *Module) *emit.Index {
	z.mods[m].met.Store(true)
	return z.symbols(ctx, m).Index
}

// place returns the place of an address in m, from the symbols of m.
func (z *symbolizer) place(ctx context.Context, m *Module, addr uint64) *Place {
	z.mods[m].met.Store(true)
	return z.pointee(ctx, m, addr)
}

// pointee returns the place of an address in m that a word of a stack points to.
func (z *symbolizer) pointee(ctx context.Context, m *Module, addr uint64) *Place {
	idx := z.symbols(ctx, m).Index
	if idx == nil {
		return noPlace
	}

	ms := z.mods[m]
	ms.mu.Lock()
	p := ms.places[addr]
	ms.mu.Unlock()
	if p != nil {
		return p
	}

	// Two workers may look up one address; their results are equal.
	p = newPlace(idx, m.Base, addr)
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.places[addr] = p
	return p
}

// newPlace looks an address up and copies the result.
func newPlace(idx *emit.Index, base, addr uint64) *Place {
	p := &Place{signal: idx.SignalFrame(addr - base)}
	s, ok := idx.Symbol(addr - base)
	if !ok {
		return p
	}

	p.FuncAddr, p.Public = base+s.Addr, s.Public
	if s.LineAddr != 0 || len(s.Calls[0].File) > 0 {
		p.LineAddr = base + s.LineAddr
	}
	if len(s.Calls) > 1 {
		p.CallAddr = base + s.CallAddr
	}
	// The last call is the function itself, the others are inlined into it.
	for i, c := range s.Calls {
		if i == len(s.Calls)-1 {
			p.Func, p.File, p.Line = string(c.Func), string(c.File), c.Line
			break
		}
		p.Inlines = append(p.Inlines, InlineCall{string(c.Func), string(c.File), c.Line})
	}
	return p
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
