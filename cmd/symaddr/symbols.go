package main

import (
	"slices"

	"symkit/lookup"
	"symkit/lookup/logs"
)

// addresses appends the virtual addresses that a reference into f can mean. Symbols that share a name give several.
func addresses(dst []uint64, f *lookup.File, r *logs.Reference) []uint64 {
	if r.Symbol != "" {
		return after(dst, f, r.Symbol, r.Addr, r.Size)
	}
	addr, ok := f.Address(r.Kind, r.Addr)
	if r.Mapping.Limit != 0 {
		addr, ok = r.Mapping.Address(f, r.Addr)
	}
	if ok {
		dst = append(dst, addr)
	}
	return dst
}

const (
	// mostPadding is the least number of bytes that cannot be padding. 35 of a kernel's 46,000 functions have more.
	mostPadding = 64
	// mostNamed is the number of symbols with one name from which on the name means nothing.
	mostNamed = 100
)

// after appends the addresses that are offset bytes after the symbols of a name, mangled or readable. A symbol fits if
// it is long enough for the offset and, with padding, has the size; a size of 0 is not known. If some symbols fit, the
// others are left out.
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
