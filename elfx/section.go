package elfx

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"strings"
	"sync"

	"symkit/internal/inflate"
	"symkit/internal/mem"
	"symkit/internal/wire"
)

// ErrAbsent: the bytes of the section are in another file (SHT_NOBITS).
var ErrAbsent = errors.New("section has no bytes in this file")

// Section types that debug/elf has no names for.
const (
	shtX8664Unwind = elf.SectionType(0x70000001) // psABI x86-64: .eh_frame
	shtGNUSFrame   = elf.SectionType(0x6ffffff4)
)

// Section is one section header (gABI, "Section Header") and its bytes.
type Section struct {
	Name  string
	Index int // in File.Sections; -1: made from a program header
	Type  elf.SectionType
	Flags elf.SectionFlag
	// Addr is the virtual address. In a relocatable object, Open assigns the
	// addresses from 0 on, as libdwfl does. The Addr of a section that is not
	// loaded is 0, or its offset among the debug sections of its name (see Data).
	Addr uint64
	// Offset (a file offset) and Size locate the bytes in the file, compressed or
	// not.
	Offset  uint64
	Size    uint64
	Link    uint32
	Info    uint32
	Align   uint64
	Entsize uint64

	file    *File
	nameOff uint32
	relocs  int      // index of the first relocation section that applies; in a relocation section: of the next one
	parts   *parts   // nil unless this section is the first of its parts
	head    *Section // the first part, in the other parts; else nil

	mu       sync.Mutex // held while the section is inflated or relocated
	made     bool       // inflated and err are the result
	paid     bool       // relocated before: its bytes and its losses are counted
	stale    bool       // part of inflated was discarded
	inflated *mem.Buffer
	err      error
}

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

// Raw aliases the section's bytes as they are in the file. The error is ErrAbsent
// for SHT_NOBITS, and located.ErrTruncated if the file ends inside the section.
func (s *Section) Raw() ([]byte, error) { return guarded(s.file, s.raw) }

func (s *Section) raw() ([]byte, error) {
	if !s.Present() {
		return nil, &wire.Error{Section: s.label(), Err: ErrAbsent}
	}
	return s.file.at(s.label(), s.Offset, s.Size)
}

// Data returns the section's bytes, uncompressed. Debug and unwind information in
// a relocatable object is also relocated to the addresses in Addr; if several such
// sections have one name, the section that File.Section finds has the bytes of all.
//
// The bytes alias the file if the file stores them so. Otherwise the first call, in
// whichever goroutine, inflates or relocates the section, and later calls share the
// result. The error is ErrAbsent for SHT_NOBITS, located.ErrTruncated if the file ends
// inside the section, ErrCompression, or that of a damaged relocation section. A
// single relocation that cannot be applied is counted (File.RelocLosses).
func (s *Section) Data() ([]byte, error) { return guarded(s.file, s.bytes) }

// Copy is Data for code that must not see its input change, such as a library that
// reads a byte twice. The result never aliases the mapped file. Each call makes a
// new copy, which is valid until the File is closed.
func (s *Section) Copy() ([]byte, error) {
	return guarded(s.file, func() ([]byte, error) {
		data, err := s.bytes()
		if err == nil && s.parts == nil && s.aliases() {
			data = s.file.copied(data, s.Offset)
		}
		return data, err
	})
}

// Streams reports whether Stream can inflate the section.
func (s *Section) Streams() bool {
	if s.parts != nil || !s.compressed() || s.applied() != 0 {
		return false
	}
	p, err := guarded(s.file, s.packing)
	return err == nil && p.kind == elf.COMPRESS_ZLIB
}

// Slide returns the buffer that Stream inflates into next, when buf[:done] is final:
// either buf and done, or another buffer, which begins with the last kept bytes of
// buf[:done]. The first call has no buffer, the last call all of the output.
//
// At least the last SlideWindow bytes must be kept, or all if there are fewer. After
// these, the buffer must have SlideSpace bytes, or the rest of the section if that is
// less.
type Slide func(buf []byte, done int) (next []byte, kept int)

// Sizes of the buffers of a Slide, in bytes.
const (
	SlideWindow = inflate.Window
	SlideSpace  = inflate.Space
)

// Stream is Data for a consumer that reads the bytes while the section is still
// being inflated into the buffers that slide returns, and needs each byte only for
// a short time. If Stream fails, the consumer must discard all bytes. Stream keeps
// nothing: a later Data inflates the section again.
func (s *Section) Stream(slide Slide) error {
	return s.file.do(func() error {
		p, err := s.packing()
		if err != nil {
			return err
		}

		// Pages of the file are dropped after the decoder has read them, and pages of the
		// buffers are populated before it writes them.
		d := s.dropper()
		at := 0 // section offset of the buffer
		var a ahead
		err = inflate.ZlibSliding(int(p.size), p.body, func(buf []byte, done int) ([]byte, int) {
			d.consumed(at+done, int(p.size))
			next, kept := slide(buf, done)
			at += done - kept
			a.wrote(next, kept)
			return next, kept
		})

		d.consumed(int(p.size), int(p.size))
		return s.unpacked(p, err)
	})
}

// bytes is Data without mem.Guard.
func (s *Section) bytes() ([]byte, error) {
	if s.parts != nil {
		return s.joined()
	}
	return s.loadOne()
}

// loadOne is bytes for this section alone.
func (s *Section) loadOne() ([]byte, error) {
	if s.aliases() {
		return s.raw()
	}

	// The first caller inflates or relocates; others wait and share the result.
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.stale {
		s.forget()
	}
	if !s.made {
		// A fault must not leave made set with neither bytes nor error.
		s.err = mem.Guard(func() (err error) {
			if s.applied() != 0 {
				s.inflated, err = s.relocatedData()
			} else {
				s.inflated, err = s.decompress()
			}
			return err
		})
		s.made = true
	}
	return s.inflated.Bytes(), s.err
}

// aliases reports whether Data aliases the file.
func (s *Section) aliases() bool { return !s.compressed() && s.applied() == 0 }

// Discard returns the memory of section offsets [from, to) of Data to the system, as
// far as these are whole pages. It does nothing for several sections of one name.
// Bytes in the range that Data returned must not be used afterwards; a later Data
// makes all bytes again.
func (s *Section) Discard(from, to uint64) {
	if !s.Present() || s.parts != nil || from > to {
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
	if !s.Present() || s.parts != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.made {
		s.forget()
	}
	s.file.drop(s.Offset, s.Offset+s.Size)
}

// forget releases the inflated or relocated bytes.
func (s *Section) forget() {
	s.file.memory.put(s.inflated)
	s.made, s.stale, s.inflated, s.err = false, false, nil, nil
}

// cursor returns a cursor over bytes in the file's byte order.
func (s *Section) cursor() (wire.Cursor, error) {
	data, err := s.bytes()
	return s.file.cursor(s.label(), data), err
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
	s := find(f.Sections, func(s *Section) bool { return s.Name == name && s.Type != elf.SHT_NULL })
	if s == nil {
		return nil
	}
	return cmp.Or(s.head, s)
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

// SectionData returns the uncompressed bytes of the named section. They are nil,
// without an error, if the file has no such section or the section is SHT_NOBITS,
// and not nil if the section is empty.
func (f *File) SectionData(name string) ([]byte, error) {
	return dataOf(f.Section(name))
}
