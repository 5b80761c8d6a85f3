package truth

import (
	"debug/elf"

	"symkit/check/internal/pcs"
	"symkit/elfx"
)

// CodeOf is where a file's machine code lies: its executable sections, or,
// without section headers, its executable segments. (A segment may hold the
// ELF header too, and with it address 0, which marks discarded code.)
func CodeOf(f *elfx.File) pcs.Set {
	var r pcs.Set
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			r = append(r, pcs.Range{Lo: s.Addr, Hi: s.Addr + s.Size})
		}
	}
	if len(r) == 0 {
		for _, x := range f.ExecRanges() {
			r = append(r, pcs.Range{Lo: x.Begin, Hi: x.End})
		}
	}
	return pcs.Union(r)
}
