package sframes

import (
	"debug/elf"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/internal/quantity"
)

// otherLink looks for a section whose start addresses or sizes are of another link, or count from
// another place than its flags say. Most of its functions do not begin and end where those of
// .eh_frame do, or, without .eh_frame, where symbols begin.
func (v *verifier) otherLink() bool {
	v.flaglessStarts()
	right, all := v.matches(func(f *function) uint64 { return f.Lo })
	if all < 2 || 2*right >= all {
		return false
	}

	// Start addresses that count from the field instead of the section, or the other way round.
	other := func(f *function) uint64 {
		toSection := f.at - v.tables[f.table].section.Addr - uint64(v.chunk(f).Offset)
		if v.chunk(f).Flags&pcrelFlag != 0 {
			return f.Lo - toSection
		}
		return f.Lo + toSection
	}
	if n, all := v.matches(other); 2*n > all && v.main.Type != elf.ET_REL {
		v.add(base, 0, 0, "the start addresses do not count from where SFRAME_F_FDE_FUNC_START_PCREL (flags %#x) says: read so, %d of %s are right; read the other way, %d",
			v.chunk(&v.funcs[0]).Flags, right, quantity.Count(uint64(all), "function", "functions"), n)
		return true
	}

	// All of them moved by one distance.
	if d, ok := v.distance(); ok {
		v.add(stale, 0, 0, "the section is of another link: all start addresses are off by %s; %d of %s begin and end where those of %s do",
			signed(d), right, quantity.Count(uint64(all), "function", "functions"), v.truth())
		return true
	}

	// Functions in places without functions can also be those of discarded or foreign code.
	inside, wrong := 0, 0
	for i := range v.funcs {
		f := &v.funcs[i]
		if f.Lo == f.Hi || !v.in.Code.Contains(f.Lo) || v.linkage(f.Lo) {
			continue
		}
		inside++
		if len(v.dwarf) > 0 && v.overlaid(f) && !v.same(f.Lo, f) || len(v.dwarf) == 0 && !v.symbols().begins(f.Lo) {
			wrong++
		}
	}
	if wrong < 2 || 2*wrong <= inside {
		return false
	}
	v.add(stale, 0, 0, "the section is of another link: %d of %s in code do not begin and end where those of %s do", wrong, quantity.Count(uint64(inside), "function", "functions"), v.truth())
	return true
}

// flaglessStarts looks for the start addresses of GNU as up to 2.44, which count from the field in an
// object and from the section in a linked file, in a file whose linker has not rewritten them.
func (v *verifier) flaglessStarts() {
	n := 0
	for i := range v.funcs {
		f := &v.funcs[i]
		if v.chunk(f).Flags&(sortedFlag|pcrelFlag) == 0 && v.in.Code.Contains(f.Lo) {
			n++
		}
	}
	if n == 0 || v.main.Type == elf.ET_REL {
		return
	}
	v.add(base, 0, 0, "the start addresses of %s count from their fields, and the header says from the section (SFRAME_F_FDE_FUNC_START_PCREL is not set): the linker has relocated the section without rewriting it; unwinders find other functions",
		quantity.Count(uint64(n), "function", "functions"))
}

// matches counts the functions that begin and end where one of the truth does, if start gives the
// start address, and all functions.
func (v *verifier) matches(start func(*function) uint64) (right, all int) {
	for i := range v.funcs {
		f := &v.funcs[i]
		lo := start(f)
		if f.Lo == f.Hi || f.mask || v.linkage(lo) {
			continue
		}
		all++
		if v.same(lo, f) {
			right++
		}
	}
	if len(v.dwarf) == 0 && len(v.symbols().funcs) < 4 {
		return all, all // nothing to compare with
	}
	return right, all
}

// same reports whether a function of the truth begins at lo and has the size of f.
func (v *verifier) same(lo uint64, f *function) bool {
	if len(v.dwarf) == 0 {
		return v.symbols().begins(lo)
	}
	i := pcs.After(v.dwarf, lo)
	return i < len(v.dwarf) && v.dwarf[i].fde.Begin == lo && v.dwarf[i].fde.End == lo+(f.Hi-f.Lo)
}

// begins reports whether a function of the truth begins at an address.
func (v *verifier) begins(lo uint64) bool {
	if len(v.dwarf) == 0 {
		return v.symbols().begins(lo)
	}
	i := pcs.After(v.dwarf, lo)
	return i < len(v.dwarf) && v.dwarf[i].fde.Begin == lo
}

// overlaid reports whether a DWARF FDE describes a part of f.
func (v *verifier) overlaid(f *function) bool {
	i := pcs.After(v.dwarf, f.Lo)
	return i < len(v.dwarf) && v.dwarf[i].Lo < f.Hi
}

// truth names what start addresses are compared with.
func (v *verifier) truth() string {
	if len(v.dwarf) == 0 {
		return "the symbol table"
	}
	return ".eh_frame"
}

func (v *verifier) symbols() *names {
	if v.names == nil {
		v.names = newNames(v.in.Image)
	}
	return v.names
}

// distance returns the distance between the start addresses and those of the truth, if it is the same
// for nearly all functions.
func (v *verifier) distance() (int64, bool) {
	const tried, sampled = 64, 256
	starts := v.truthStarts(tried)
	step := max(1, len(v.funcs)/sampled)
	first := -1
	for i := range v.funcs {
		if f := &v.funcs[i]; f.Lo < f.Hi && !f.mask {
			first = i
			break
		}
	}
	if first < 0 {
		return 0, false
	}

	// The first function is one of the first functions of the truth.
	for _, s := range starts {
		d := v.funcs[first].Lo - s
		right, all := 0, 0
		for i := 0; i < len(v.funcs); i += step {
			f := &v.funcs[i]
			if f.Lo == f.Hi || f.mask {
				continue
			}
			all++
			if v.begins(f.Lo - d) {
				right++
			}
		}
		if d != 0 && right >= 2 && 10*right >= 9*all {
			return int64(d), true
		}
	}
	return 0, false
}

// truthStarts returns the first n start addresses of the truth.
func (v *verifier) truthStarts(n int) (starts []uint64) {
	for i := 0; i < min(n, len(v.dwarf)); i++ {
		starts = append(starts, v.dwarf[i].fde.Begin)
	}
	if len(v.dwarf) > 0 {
		return starts
	}
	x := v.symbols()
	for i := 0; i < min(n, len(x.funcs)); i++ {
		starts = append(starts, x.table.Symbols[x.funcs[i]].Value)
	}
	return starts
}

// linkage reports whether an address is in a section of linkage stubs, of which the linker makes one
// FDE for DWARF, and one or two for SFrame.
func (v *verifier) linkage(addr uint64) bool { return v.stubs.Contains(addr) }

func signed(d int64) string {
	if d < 0 {
		return fmt.Sprintf("-%#x", -d)
	}
	return fmt.Sprintf("%#x", d)
}
