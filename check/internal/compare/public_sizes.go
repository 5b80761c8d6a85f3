package compare

import (
	"cmp"
	"debug/elf"
	"fmt"
	"sort"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/emit"
)

// publicSizes checks that INFO PUBLIC_SIZES has the size of each PUBLIC's symbol. Only symkit writes
// these records, and its first versions did not.
func (r *publicReport) publicSizes() {
	c, s := r.c, r.Sym
	have, any := r.declaredSizes()
	if !any {
		return
	}
	for i := range s.Publics {
		p := &s.Publics[i]
		var want, labels uint64
		for _, symbol := range r.Truth.Symbols.At(p.Addr + r.Bias) {
			if symbol.Function {
				want = max(want, symbol.Size)
			} else {
				labels = max(labels, symbol.Size)
			}
		}
		want = cmp.Or(want, labels) // a label with a size may be that of a table of functions

		// A stub for calls to another module has no symbol. It reaches to the next one.
		if r.unknown(p) {
			c.Unverified(checks.Publics, 1, noteExported)
			continue
		}
		c.Compared(checks.Publics, 1)
		switch size := have[i]; {
		case size == min(want, 1<<32-1):
		case size == 0:
			c.Missing(collect.At(checks.Publics, p.At, p.Addr, "no size in INFO %s; the symbol has %#x bytes", emit.KeyPublicSizes, want), 1)
		case want > 0:
			c.Wrong(collect.At(checks.Publics, p.At, p.Addr, "%#x bytes in INFO %s; the symbol has %#x", size, emit.KeyPublicSizes, want), 1)
		case size != r.toNext(i):
			c.Wrong(collect.At(checks.Publics, p.At, p.Addr, "%#x bytes in INFO %s, but no symbol has a size, and no stub ends there", size, emit.KeyPublicSizes), 1)
		}
	}
}

// declaredSizes returns the sizes that the INFO records give to the PUBLIC records.
func (r *publicReport) declaredSizes() (sizes []uint64, any bool) {
	publics := r.Sym.Publics
	sizes = make([]uint64, len(publics))
	for i := range r.Sym.Infos {
		info := emit.Info{Key: r.Sym.Infos[i].Key, Text: r.Sym.Infos[i].Text}
		if info.Key != emit.KeyPublicSizes {
			continue
		}
		any = true
		p, ok := info.PublicSizes()
		from := sort.Search(len(publics), func(i int) bool { return publics[i].Addr >= p.First })
		to := sort.Search(len(publics), func(i int) bool { return publics[i].Addr > p.Last })
		message := ""
		switch {
		case !ok || to-from != len(p.Sizes):
			message = fmt.Sprintf("%d sizes for %d PUBLIC records from %#x to %#x", len(p.Sizes), max(to-from, 0), p.First, p.Last)
		case publics[from].Addr != p.First:
			message = fmt.Sprintf("no PUBLIC is at the first address, %#x", p.First)
		case publics[to-1].Addr != p.Last:
			message = fmt.Sprintf("no PUBLIC is at the last address, %#x", p.Last)
		}
		if message != "" {
			r.c.Compared(checks.Publics, 1)
			r.c.Wrong(collect.At(checks.Publics, r.Sym.Infos[i].Line, p.First, "%s", message), 1)
			continue
		}
		for k, size := range p.Sizes {
			sizes[from+k] = uint64(size)
		}
	}
	return sizes, any
}

// toNext returns the bytes from PUBLIC i to the next one, or to the end of its section if that comes
// first.
func (r *publicReport) toNext(i int) uint64 {
	p := r.Sym.Publics[i].Addr + r.Bias
	end := uint64(0)
	for i := range r.Truth.Image.Main.Sections {
		s := &r.Truth.Image.Main.Sections[i]
		if s.Flags&elf.SHF_ALLOC != 0 && p >= s.Addr && p-s.Addr < s.Size {
			end = s.Addr + s.Size
		}
	}
	if i+1 < len(r.Sym.Publics) {
		end = min(end, r.Sym.Publics[i+1].Addr+r.Bias)
	}
	return end - p
}
