// Package sources has the sources of symbols on this machine for a process's modules: symbol stores
// (Store), the files that the modules were loaded from (Files), a list of sources (Chain),
// one set of symbols for many processes (Shared). Package symbols joins them with ELF files
// (elfsyms) and servers (symserver).
//
//	files := &sources.Files{Exe: "app"}
//	defer files.Close()
//	supplier := sources.Chain(
//		&sources.Store{Dirs: []string{"symbols"}},
//		&elfsyms.Supplier{Files: files},
//	)
//	result, err := walk.Walk(ctx, process, supplier, walk.Options{})
//
// For each module a supplier reports the places that it searched, and why none of them had
// the symbols (walk.Symbols.Tried).
package sources

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
