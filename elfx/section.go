package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"symkit/internal/mem"
	"symkit/located"
)

// errAbsent: the bytes of the section are in another file (SHT_NOBITS).
var errAbsent = errors.New("section has no bytes in this file")

// Section types that debug/elf has no names for.
const (
	shtX8664Unwind = elf.SectionType(0x70000001) // psABI x86-64: .eh_frame
	shtGNUSFrame   = elf.SectionType(0x6ffffff4)
)

// Present reports whether the file has bytes for the section. A present section
// may be empty.
func (s *Section) Present() bool {
	return s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL
}

// File returns the file that contains the section.
func (s *Section) File() *File { return s.file }

// label returns the section's name in errors.
func (s *Section) label() string {
	if s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("section %d", s.Index)
}

// Raw aliases the section's bytes as they are in the file. The error is errAbsent
// for SHT_NOBITS, and located.ErrTruncated if the file ends inside the section.
func (s *Section) Raw() ([]byte, error) { return guarded(s.file, s.raw) }

func (s *Section) raw() ([]byte, error) {
	if !s.Present() {
		return nil, &located.Error{Section: s.label(), Err: errAbsent}
	}
	return s.file.at(s.label(), s.Offset, s.Size)
}

// Discard returns the memory of section offsets [from, to) of Data to the system, as
// far as these are whole pages. It does nothing for several sections of one name.
// Bytes in the range that Data returned must not be used afterwards; a later Data
// makes all bytes again.
func (s *Section) Discard(from, to uint64) {
	if !s.Present() || s.joins() || from > to {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	// Pages of a buffer are dropped for good, pages of the file can be read again.
	switch {
	case s.made:
		s.stale = s.inflated.Discard(from, to) || s.stale
	case to <= s.Size:
		s.file.drop(s.Offset+from, s.Offset+to)
	}
}

// Release is Discard for the whole section.
func (s *Section) Release() {
	if !s.Present() || s.joins() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.made {
		s.forget()
	}
	s.file.drop(s.Offset, s.Offset+s.Size)
}

// cached returns the bytes that make makes. The first caller makes them, others wait and
// share the result.
func (s *Section) cached(make func() (*mem.Buffer, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.stale {
		s.forget()
	}
	if !s.made {
		// A fault must not leave made set with neither bytes nor error.
		s.err = mem.Guard(func() (err error) {
			s.inflated, err = make()
			return err
		})
		s.made = true
	}
	return s.inflated.Bytes(), s.err
}

// joins reports whether the section's bytes are those of several parts, of which the
// section is the first.
func (s *Section) joins() bool { return s.parts != nil && s.parts.all[0] == s.Index }

// forget releases the inflated or relocated bytes.
func (s *Section) forget() {
	s.file.memory.put(s.inflated)
	s.made, s.stale, s.inflated, s.err = false, false, nil, nil
}

// compressed reports whether the file has the section's bytes in compressed form.
func (s *Section) compressed() bool {
	return s.Present() && (s.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.Name, ".zdebug_"))
}

// Section returns the section with a name, or nil. For .debug_X, Section also finds
// .zdebug_X, the older form of compression. If names or the whole section header
// table are lost, .symtab, .dynsym, .dynamic, .eh_frame, .sframe and .ARM.exidx
// (with the bytes that contain .ARM.extab) are found by type or through program
// headers. A section of SFrame's type is found under any name.
func (f *File) Section(name string) *Section {
	// By exact name, by the name of the older compression, by type, and at last made from
	// program headers.
	if s := f.named(name); s != nil {
		return s
	}
	if rest, ok := strings.CutPrefix(name, ".debug_"); ok {
		return f.named(".zdebug_" + rest)
	}
	if s := f.byType(name); s != nil {
		return s
	}
	return find(f.synthetic, func(s *Section) bool { return s.Name == name })
}

// find returns the first element that match reports true for, or nil.
func find[T any](all []T, match func(*T) bool) *T {
	for i := range all {
		if match(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// named returns the section header with a name, or nil; of several parts, the first.
func (f *File) named(name string) *Section {
	n, ok := f.names.Find(maphash.String(nameSeed, name), func(n uint32) bool { return f.Sections[n].Name == name })
	if !ok {
		return nil
	}
	s := &f.Sections[n]
	if s.parts != nil {
		s = &f.Sections[s.parts.all[0]]
	}
	return s
}

// byType returns a section whose type identifies it, or nil.
func (f *File) byType(name string) *Section {
	var want elf.SectionType
	switch name {
	case ".symtab":
		want = elf.SHT_SYMTAB
	case ".dynsym":
		want = elf.SHT_DYNSYM
	case ".dynamic":
		want = elf.SHT_DYNAMIC
	case ".sframe":
		want = shtGNUSFrame
	case ".eh_frame":
		// The meaning of the number depends on the processor, and Solaris
		// gives the type to .eh_frame_hdr, too, which has a name.
		if f.Machine != elf.EM_X86_64 || !f.namesLost() {
			return nil
		}
		want = shtX8664Unwind
	default:
		return nil
	}
	return find(f.Sections, func(s *Section) bool { return s.Type == want })
}

// namesLost reports whether no section can be found by name.
func (f *File) namesLost() bool {
	return find(f.Sections, func(s *Section) bool { return s.Name != "" }) == nil
}

// present returns s if the file has its bytes, else nil.
func present(s *Section) *Section {
	if s == nil || !s.Present() {
		return nil
	}
	return s
}

// loaded reports whether the section is loaded into memory.
func (s *Section) loaded() bool {
	return s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NULL
}

// isCode reports whether the section is loaded and executable.
func (s *Section) isCode() bool {
	const code = elf.SHF_EXECINSTR | elf.SHF_ALLOC
	return s.Flags&code == code
}

// linked returns the string table that a section's sh_link names, or nil.
func (f *File) linked(s *Section) *Section {
	// Sections made from program headers have no sh_link.
	if s.Index < 0 || s.Link == 0 || uint64(s.Link) >= uint64(len(f.Sections)) {
		return nil
	}
	if t := &f.Sections[s.Link]; t.Type == elf.SHT_STRTAB {
		return t
	}
	return nil
}
