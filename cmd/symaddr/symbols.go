package main

import (
	"slices"

	"symkit/lookup"
	"symkit/lookup/logs"
)

// addresses appends the virtual addresses that a reference into f can mean: several where symbols share a name, none if
// nothing is known of the reference.
func addresses(dst []uint64, f *lookup.File, r *logs.Reference) []uint64 {
	if r.Symbol != "" {
		return after(dst, f, r.Symbol, r.Addr, r.Size)
	}
	addr, ok := uint64(0), false
	if r.Mapping.Limit != 0 {
		addr, ok = r.Mapping.Address(f, r.Addr)
	} else {
		addr, ok = f.Address(r.Kind, r.Addr)
	}
	if ok {
		dst = append(dst, addr)
	}
	return dst
}

// Bounds: how many bytes lie between two functions, but for a few in a thousand of a kernel, and how many symbols of one
// name are too many to look at.
const (
	mostPadding = 64
	mostNamed   = 100
)

// after appends the addresses that lie offset bytes after the symbols of a name, or else of a name for people. Of several
// symbols count those that are long enough and, if a size is given, as long with the padding behind, if there are any.
// None counts of mostNamed.
func after(dst []uint64, f *lookup.File, name string, offset, size uint64) []uint64 {
	all := f.Symbols(nil, name, mostNamed)
	if len(all) == 0 {
		all = f.Named(nil, name, mostNamed)
	}
	if len(all) == mostNamed {
		return dst
	}
	fits := func(s lookup.Symbol) bool {
		return s.Size == 0 || offset <= s.Size && (size == 0 || size-s.Size < mostPadding)
	}
	some := slices.ContainsFunc(all, fits)
	for _, s := range all {
		addr := s.Addr + offset
		if (!some || fits(s)) && !slices.Contains(dst, addr) {
			dst = append(dst, addr)
		}
	}
	return dst
}
