package walk

import (
	"context"

	"symkit/elfx/companion"
	"symkit/emit"
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

// Prefetcher is a Supplier that needs a long time to get symbols, and therefore can get
// them before a walk needs them.
type Prefetcher interface {
	// Prefetch gets the symbols of m into the Supplier's memory or cache; it reports whether
	// it has them. It is called from several goroutines.
	Prefetch(ctx context.Context, m *Module) bool
}
