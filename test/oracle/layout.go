//go:build oracle

package oracle

import (
	"cmp"
	"debug/elf"
	"slices"
	"testing"
)

// Span is the addresses from Lo up to, but not including, Hi.
type Span struct{ Lo, Hi uint64 }

// Layout is the part of a file's address space that comparisons need, as
// debug/elf reads it.
type Layout struct {
	Machine elf.Machine
	Load    uint64 // the base of the addresses in a symbol file
	Code    []Span // the executable sections
}

// ReadLayout reads the layout of a file.
func ReadLayout(t *testing.T, path string) Layout {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer f.Close()

	// The first PT_LOAD has the load address.
	l := Layout{Machine: f.Machine}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			l.Load = p.Vaddr
			break
		}
	}

	// Code lies in executable sections.
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
			l.Code = append(l.Code, Span{s.Addr, s.Addr + s.Size})
		}
	}
	return l
}

// Live reports whether addr is in an executable section. Code at other addresses
// was discarded by the linker.
func (l *Layout) Live(addr uint64) bool {
	for _, s := range l.Code {
		if addr >= s.Lo && addr < s.Hi {
			return true
		}
	}
	return false
}

// AppendSpan adds a span to a list of disjoint spans, none of which begins after it.
func AppendSpan(list []Span, s Span) []Span {
	if n := len(list) - 1; n >= 0 && s.Lo <= list[n].Hi {
		list[n].Hi = max(list[n].Hi, s.Hi)
		return list
	}
	return append(list, s)
}

// Join sorts spans and merges those that overlap or touch.
func Join(spans []Span) (out []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Lo, b.Lo) })
	for _, s := range spans {
		out = AppendSpan(out, s)
	}
	return out
}
