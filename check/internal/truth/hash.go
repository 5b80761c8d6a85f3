package truth

import (
	"debug/elf"

	"symkit/elfx"
)

// TextHash is the exclusive or of the 16-byte blocks of the first 4096 bytes
// of .text; the last block goes on after the section's end in the file, as Breakpad's.
// A file without a byte of .text has that of its other code, section after section.
func TextHash(f *elfx.File) []byte {
	var code []byte
	for _, name := range []string{".text", "text"} {
		text := f.Section(name)
		if text == nil || text.Size == 0 || len(code) > 0 {
			continue
		}
		n := min(text.Size, 4096)
		code = make([]byte, (n+15)&^15)
		got := copy(code, f.FileBytes(text.Offset, uint64(len(code))))
		if !text.Present() || uint64(got) < n {
			return nil
		}
	}
	if len(code) == 0 {
		code = otherCode(f)
	}
	if len(code) == 0 {
		return nil
	}
	h := make([]byte, 16)
	for i, b := range code {
		h[i%16] ^= b
	}
	return h
}

// otherCode is the first 4096 bytes of all code sections; nil if a part is not in
// the file.
func otherCode(f *elfx.File) (code []byte) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR || s.Size == 0 {
			continue
		}
		n := min(s.Size, 4096-uint64(len(code)))
		part := f.FileBytes(s.Offset, n)
		if !s.Present() || uint64(len(part)) < n {
			return nil
		}
		code = append(code, part...)
	}
	return code
}
