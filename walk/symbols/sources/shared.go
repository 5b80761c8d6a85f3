package sources

import (
	"cmp"
	"container/list"
	"context"
	"sync"

	"symkit/walk"
)

// Shared is a Supplier for many processes, which may be walked at the same time. The
// processes share the symbols of equal modules. Symbols that no process uses stay
// until all unused symbols take more than Max bytes; then the longest unused are
// released first.
type Shared struct {
	// Max bounds the memory for symbols that no process uses, in bytes. Mapped files do not
	// count.
	Max int64

	supplier walk.Supplier
	mu       sync.Mutex
	entries  map[moduleKey]*sharedSymbols
	unused   list.List // of *sharedSymbols, the longest unused first
	size     int64     // of the entries of unused
}

// NewShared makes a Shared of a supplier, which may be called from several
// goroutines, but once for each module.
func NewShared(s walk.Supplier, maxBytes int64) *Shared {
	return &Shared{Max: maxBytes, supplier: s, entries: map[moduleKey]*sharedSymbols{}}
}

// moduleKey distinguishes modules.
type moduleKey struct{ path, name, debugID, fileID string }

// sharedSymbols is the symbols of one module.
type sharedSymbols struct {
	key  moduleKey
	once sync.Once
	syms *walk.Symbols
	bad  int // malformed lines that were found when the symbols were loaded
	size int64

	users int           // under Shared.mu
	place *list.Element // in Shared.unused, nil while there are users
}

// Symbols implements walk.Supplier. A module without an id, or whose file is in the
// dump itself, is not shared.
func (s *Shared) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	key := moduleKey{m.Path, m.Name, m.DebugID, m.FileID()}
	if m.Image != nil || key.debugID == "" && key.fileID == "" {
		return s.supplier.Symbols(ctx, m)
	}

	// The first user loads the symbols, and the others wait.
	e := s.take(key)
	e.once.Do(func() {
		e.syms = &walk.Symbols{} // for the case that the file is truncated while it is read
		e.syms = s.supplier.Symbols(ctx, m)
		if x := e.syms.Index; x != nil {
			e.bad, e.size = x.Bad(), x.HeapSize()+e.syms.Heap
		}
	})
	if ctx.Err() != nil && e.syms.Index == nil {
		s.forget(e) // a caller with more time may find the symbols
	}

	// Each user closes a copy.
	out := *e.syms
	out.BadLines, out.Shared = e.bad, true
	out.Close = sync.OnceValue(func() error { return s.release(e) })
	return &out
}

// Prefetch implements walk.Prefetcher.
func (s *Shared) Prefetch(ctx context.Context, m *walk.Module) bool {
	p, ok := s.supplier.(walk.Prefetcher)
	return ok && p.Prefetch(ctx, m)
}

// take finds or makes the entry of a module, and counts a user.
func (s *Shared) take(key moduleKey) *sharedSymbols {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		e = &sharedSymbols{key: key}
		s.entries[key] = e
	}

	e.users++
	if e.place != nil {
		s.unused.Remove(e.place)
		e.place, s.size = nil, s.size-e.size
	}
	return e
}

// forget has the next user load the symbols again.
func (s *Shared) forget(e *sharedSymbols) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[e.key] == e {
		delete(s.entries, e.key)
	}
}

// release ends a use, and closes unused symbols beyond the limits.
func (s *Shared) release(e *sharedSymbols) error {
	s.mu.Lock()
	e.users--
	if e.users == 0 {
		e.place = s.unused.PushBack(e)
		s.size += e.size
	}
	s.mu.Unlock()
	return s.closeUnused(s.Max, maxKept)
}

// maxKept bounds the modules that no process uses: each may hold a mapping.
const maxKept = 4096

// drop removes the longest unused entry.
func (s *Shared) drop() *sharedSymbols {
	e := s.unused.Remove(s.unused.Front()).(*sharedSymbols)
	e.place = nil
	s.size -= e.size
	if s.entries[e.key] == e {
		delete(s.entries, e.key)
	}
	return e
}

// Close releases all symbols that no process uses.
func (s *Shared) Close() error { return s.closeUnused(0, 0) }

// closeUnused releases unused symbols, the longest unused first, until those that
// are left take at most size bytes and belong to at most n modules.
func (s *Shared) closeUnused(size int64, n int) error {
	var old []*sharedSymbols
	s.mu.Lock()
	for s.size > size || s.unused.Len() > n {
		old = append(old, s.drop())
	}

	s.mu.Unlock()

	var err error
	for _, e := range old {
		if e.syms.Close != nil {
			err = cmp.Or(err, e.syms.Close())
		}
	}
	return err
}
