package sframes

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/eval"
	"symkit/check/internal/frames"
	"symkit/check/internal/pcs"
	"symkit/elfx"
	"symkit/internal/quantity"
	"symkit/sframe"
)

// read reads the headers of all sections. It returns false if there is nothing to verify.
func (v *verifier) read() bool {
	img := v.in.Image
	all := sectionsOf(img)
	if len(all) == 0 {
		v.note("the file has no .sframe section")
		return false
	}
	v.main = all[0].File()
	abi, ok := sframe.ABIOf(v.main.Machine, v.main.BigEndian)
	if !ok {
		v.c.Unverified(checks.SFrame, 1, errMachine.Error())
		return false
	}
	v.abi, v.arch = abi, eval.ArchOf(v.main.Machine, v.main.Class)

	// A debug file has the header of the section and no contents.
	for _, s := range all {
		switch {
		case !s.Present():
			v.note("%s has no contents in this file", s.Name)
		case s.Size == 0:
			v.note("%s is empty: no function has SFrame", s.Name)
		default:
			parsed, err := readSection(s, abi, img.Size(), v.in.Report.Limits)
			v.tables = append(v.tables, table{s, parsed, err})
		}
	}
	return len(v.tables) > 0
}

// headers looks for damaged headers, headers that were not merged, and headers of different versions.
func (v *verifier) headers() {
	chunks, fdes, first, unsortedMark := 0, 0, 0, false
	found := [4]int{} // headers by version
	for i := range v.tables {
		t := &v.tables[i]
		if t.parsed == nil {
			v.add(damaged, 0, 0, "%v", t.err)
			continue
		}
		for _, err := range t.parsed.Damage {
			v.add(damaged, 0, 0, "header: %v", err)
		}
		for k := range t.parsed.Chunks {
			c := &t.parsed.Chunks[k]
			if chunks == 0 {
				first = int(c.NumFDEs)
			}
			chunks++
			unsortedMark = unsortedMark || c.Flags&sortedFlag == 0
			fdes += int(c.NumFDEs)
			found[c.Version&3]++
		}
	}

	// An object has one header; a linker merges the headers of the objects.
	relocatable := v.main.Type == elf.ET_REL
	if chunks > 1 && (!relocatable || len(v.tables) == 1) {
		where := "the section has"
		if len(v.tables) > 1 {
			where = quantity.Count(uint64(len(v.tables)), "section has", "sections have")
		}
		v.add(unmerged, 0, 0, "%s %d headers: the linker has not merged those of its inputs; unwinders read the first one, with %d of %s",
			where, chunks, first, quantity.Count(uint64(fdes), "function", "functions"))
	}
	text, kinds := "", 0
	for version, n := range found {
		if n == 0 {
			continue
		}
		if kinds > 0 {
			text += ", "
		}
		kinds++
		text += quantity.Count(uint64(n), "header", "headers") + " of version " + quantity.Number(uint64(version))
	}
	if kinds > 1 {
		v.add(versions, 0, 0, "%s: no unwinder reads several versions of one file", text)
	}
	if chunks == 1 && fdes > 0 && unsortedMark && !relocatable {
		v.note("the FDEs are not marked as sorted: unwinders that search by halves do not use them")
	}
	if fdes == 0 && v.total == 0 {
		v.note(".sframe describes no function")
	}
}

// list lists the FDEs. A damaged one is a finding, and its code counts as described.
func (v *verifier) list() {
	for i := range v.tables {
		t := &v.tables[i]
		if t.parsed == nil {
			continue
		}
		for k := range t.parsed.Chunks {
			v.listChunk(i, k)
		}
	}
}

func (v *verifier) listChunk(i, k int) {
	c := &v.tables[i].parsed.Chunks[k]
	fres, bad := uint64(0), false
	for n := range int(c.NumFDEs) {
		v.over = cmp.Or(v.over, v.records.Take(1, functionBytes))
		if v.over != nil {
			return
		}
		f, err := c.FDE(n)
		if err != nil {
			v.add(damaged, f.Start, uint64(f.Size), "FDE %d: %v", n, err)
			v.lost = append(v.lost, pcs.Range{Lo: f.Start, Hi: max(f.Start, f.End())})
			bad = true
			continue
		}
		fres += uint64(f.NumFREs)
		v.funcs = append(v.funcs, function{Range: pcs.Range{Lo: f.Start, Hi: f.End()}, table: i, chunk: k, index: n,
			at: v.tables[i].section.Addr + uint64(f.Offset), signal: f.Signal, keyB: f.KeyB, mask: f.PCMask})
	}
	if !bad && fres != uint64(c.NumFREs) {
		v.add(damaged, 0, 0, "header: %s, the FDEs have %s", quantity.Count(uint64(c.NumFREs), "row", "rows"), quantity.Number(fres))
	}
}

// listDWARF lists the FDEs of .eh_frame, and those of .debug_frame for other code.
func (v *verifier) listDWARF() {
	for _, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		for fde, err := range frames.FDEs(v.in.Image, kind) {
			switch {
			case v.over != nil:
				return
			case err != nil:
				v.c.Unverified(checks.SFrame, 1, err.Error())
			case fde.Begin < fde.End && v.in.Code.Contains(fde.Begin):
				v.over = v.records.Take(1, partBytes)
				v.dwarf = append(v.dwarf, part{pcs.Range{Lo: fde.Begin, Hi: fde.End}, fde})
			}
		}
	}
	v.dwarf = pcs.Disjoint(v.dwarf)
	for i := range v.main.Sections {
		if s := &v.main.Sections[i]; strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt" {
			v.stubs = append(v.stubs, pcs.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	v.stubs = pcs.Union(v.stubs)
}

// order looks for chunks that are marked as sorted and are not.
func (v *verifier) order() {
	for i := 1; i < len(v.funcs); i++ {
		a, b := &v.funcs[i-1], &v.funcs[i]
		if a.table != b.table || a.chunk != b.chunk || a.Lo <= b.Lo {
			continue
		}
		if v.chunk(b).Flags&sortedFlag != 0 {
			v.add(unsorted, b.Lo, 0, "FDE %d: %s comes after %s, and the header says that the FDEs are sorted: unwinders that search by halves miss functions",
				b.index, v.title(b.Lo), v.title(a.Lo))
		}
	}
}

// Flags of a header (SFrame V3 §2.1.3).
const sortedFlag, pcrelFlag = 1, 4

func (v *verifier) chunk(f *function) *sframe.Chunk {
	return &v.tables[f.table].parsed.Chunks[f.chunk]
}

// place looks for functions that are not in code, and drops them.
func (v *verifier) place() {
	sections := codeSections(v.main)
	fields := v.startFields()
	lowest := lowestAddress(v.main)
	dropped := uint64(0)
	kept := v.funcs[:0]
	for _, f := range v.funcs {
		where, ok := fields.of(&f)
		i := pcs.After(sections, f.Lo)
		inside := i < len(sections) && sections[i].Lo <= f.Lo
		zero := f.Lo == f.at || f.Lo == v.tables[f.table].section.Addr+uint64(v.chunk(&f).Offset)
		switch {
		case ok && where == noneRelocation:
			dropped++ // ld -r leaves such FDEs of discarded sections
		case ok && where != "":
			v.add(outside, 0, f.Hi-f.Lo, "FDE %d: %s", f.index, where)
		case inside && f.Hi <= sections[i].Hi:
			kept = append(kept, f)
		case f.Lo == f.Hi:
			// A function without code describes nothing.
		case inside:
			v.add(outside, f.Lo, f.Hi-sections[i].Hi, "FDE %d: %s has %d bytes, and ends %d bytes after its section", f.index, v.title(f.Lo), f.Hi-f.Lo, f.Hi-sections[i].Hi)
		case zero:
			v.add(discarded, f.Lo, f.Hi-f.Lo, "FDE %d: the start address was not written: the linker has kept the FDE of a function that it has discarded (%d bytes)", f.index, f.Hi-f.Lo)
		case f.Lo < lowest || f.Lo >= ^uint64(0)-0xffff:
			v.add(discarded, f.Lo, f.Hi-f.Lo, "FDE %d: the function begins at %#x, where nothing is: the linker has kept the FDE of a function that it has discarded (%d bytes)", f.index, f.Lo, f.Hi-f.Lo)
		default:
			v.add(outside, f.Lo, f.Hi-f.Lo, "FDE %d: [%#x, %#x) is in no executable section", f.index, v.shown(f.Lo), v.shown(f.Hi))
		}
	}
	v.funcs = kept
	if dropped > 0 {
		v.note("%s of discarded sections, with R_NONE for a relocation, as ld -r leaves them", quantity.Count(dropped, "FDE", "FDEs"))
	}
	slices.SortStableFunc(v.funcs, func(a, b function) int { return cmp.Compare(a.Lo, b.Lo) })
}

// codeSections returns the executable sections by address, or segments if the file has no section
// headers. Sections side by side are not joined: no function is in two.
func codeSections(f *elfx.File) (all []pcs.Range) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 && s.Size > 0 {
			all = append(all, pcs.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	if len(all) == 0 {
		for _, r := range f.ExecRanges() {
			all = append(all, pcs.Range{Lo: r.Lo, Hi: r.Hi})
		}
	}
	return pcs.Disjoint(all)
}

// lowestAddress returns the lowest address that is loaded.
func lowestAddress(f *elfx.File) uint64 {
	lowest := ^uint64(0)
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&elf.SHF_ALLOC != 0 && s.Size > 0 {
			lowest = min(lowest, s.Addr)
		}
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; len(f.Sections) == 0 && s.Type == elf.PT_LOAD {
			lowest = min(lowest, s.Vaddr)
		}
	}
	return lowest
}

// overlaps looks for functions that begin inside of another one, and cuts them.
func (v *verifier) overlaps() {
	var last *function
	for i := range v.funcs {
		f := &v.funcs[i]
		if f.Lo == f.Hi {
			continue
		}
		if last != nil && f.Lo < last.Hi {
			f.cut, last.cut = true, true
		}
		switch {
		case last == nil || f.Lo >= last.Hi:
		case f.Range == last.Range:
			v.add(overlap, f.Lo, f.Hi-f.Lo, "FDEs %d and %d both describe %s: of a copy that the linker has discarded or folded, the FDE has to go as well", last.index, f.index, v.title(f.Lo))
		default:
			v.add(overlap, f.Lo, min(f.Hi, last.Hi)-f.Lo, "FDE %d: %s, of %d bytes, begins inside of FDE %d, [%#x, %#x)",
				f.index, v.title(f.Lo), f.Hi-f.Lo, last.index, v.shown(last.Lo), v.shown(last.Hi))
		}
		if last == nil || f.Hi > last.Hi {
			last = f
		}
	}
}
