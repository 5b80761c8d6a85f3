// Package symbols holds the places that symbols of a process's modules come from:
// symbol stores (Store), the files that the modules were loaded from (Files), one
// place after the other (Chain), one set of symbols for many processes (Shared).
// Package elfsyms makes symbols of ELF files, package symserver fetches them.
//
//	files := &symbols.Files{Exe: "app"}
//	defer files.Close()
//	supplier := symbols.Chain(
//		&symbols.Store{Dirs: []string{"symbols"}},
//		&elfsyms.Supplier{Files: files},
//	)
//	result, err := walk.Walk(ctx, process, supplier, walk.Options{})
//
// A supplier says of each module which places it looked at, and why none of them served
// (walk.Symbols.Tried).
package symbols

import (
	"context"

	"symkit/walk"
)

// Chain tries one supplier after the other until one has symbols.
func Chain(suppliers ...walk.Supplier) walk.Supplier { return chain(suppliers) }

type chain []walk.Supplier

func (c chain) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	all := &walk.Symbols{}
	for _, s := range c {
		// The places of all suppliers that were tried are reported.
		got := s.Symbols(ctx, m)
		if got.Index != nil {
			got.Tried = append(all.Tried, got.Tried...)
			return got
		}
		all.Tried = append(all.Tried, got.Tried...)
	}
	return all
}

// Prefetch implements walk.Prefetcher: the first supplier that has symbols ends it.
func (c chain) Prefetch(ctx context.Context, m *walk.Module) bool {
	for _, s := range c {
		if p, ok := s.(walk.Prefetcher); ok && p.Prefetch(ctx, m) {
			return true
		}
	}
	return false
}
