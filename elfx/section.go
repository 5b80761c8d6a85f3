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

// ErrAbsent: a section whose bytes are in another file (SHT_NOBITS).
var ErrAbsent = errors.New("section has no bytes in this file")

// Section types that debug/elf has no names for.
const (
	shtX8664Unwind = elf.SectionType(0x70000001) // psABI x86-64: .eh_frame
	shtGNUSFrame   = elf.SectionType(0x6ffffff4)
)

// Section is one section header (gABI, "Section Header") and its bytes.
type Section struct {
	Name  string
	Index int // in File.Sections; -1: found through program headers
	Type  elf.SectionType
	Flags elf.SectionFlag
	// Addr is the virtual address; in a relocatable object the one that Open
	// laid it out at, from 0 on, as libdwfl does; 0 if it is not loaded, or its
	// offset among the debug sections of its name (see Data).
	Addr uint64
	// Offset and Size are of the bytes in the file, compressed or not.
	Offset  uint64
	Size    uint64
	Link    uint32
	Info    uint32
	Align   uint64
	Entsize uint64

	file    *File
	nameOff uint32
	relocs  int      // the section that relocates this one, or the next of its kind
	parts   *parts   // of which this section is the first, or nil
	head    *Section // the first of the parts that this section is one of, or nil

	mu       sync.Mutex // held while the bytes are made
	made     bool       // inflated or relocated: inflated and err hold
	stale    bool       // some of inflated was discarded
	inflated *mem.Buffer
	err      error
}

// Present tells whether the file has bytes for the section; a present section
// may be empty.
func (s *Section) Present() bool {
	return s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL
}

// File is the file that the section is in.
func (s *Section) File() *File { return s.file }

// label names the section in errors.
func (s *Section) label() string {
	if s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("section %d", s.Index)
}

// Raw aliases the section's bytes as they are in the file. It fails with
// ErrAbsent for SHT_NOBITS, and when the file ends first.
func (s *Section) Raw() ([]byte, error) {
	var data []byte
	err := s.file.do(func() (err error) {
		data, err = s.raw()
		return err
	})
	return data, err
}

func (s *Section) raw() ([]byte, error) {
	if !s.Present() {
		return nil, &wire.Error{Section: s.label(), Err: ErrAbsent}
	}
	return s.file.at(s.label(), s.Offset, s.Size)
}

// Data returns the section's bytes, uncompressed and, for debug and unwind
// information in a relocatable object, relocated to the addresses that Addr
// gives; of several such sections of one name, that which Section finds has the
// bytes of all. They alias the file when it stores them so; otherwise the first call
// makes them, once, whichever goroutine makes it. It fails with ErrAbsent for
// SHT_NOBITS, when the file ends first, with ErrCompression, and when a table
// of relocations is damaged; single relocations that cannot be applied are
// counted (File.RelocLosses).
func (s *Section) Data() ([]byte, error) {
	var data []byte
	err := s.file.do(func() (err error) {
		data, err = s.bytes()
		return err
	})
	return data, err
}

// Copy is Data for code that must not see its input change, such as a library that
// reads a byte twice: never the bytes of the mapped file, but a copy, which lives
// until the File is closed. Every call makes another.
func (s *Section) Copy() (data []byte, err error) {
	err = s.file.do(func() error {
		if data, err = s.bytes(); err == nil && s.parts == nil && s.aliases() {
			data = s.file.copied(data, s.Offset)
		}
		return err
	})
	return data, err
}

// Streams tells whether Stream can make the section's bytes.
func (s *Section) Streams() bool {
	if s.parts != nil || !s.Present() || !s.compressed() || s.applied() != 0 {
		return false
	}
	var p packing
	err := s.file.do(func() (err error) {
		p, err = s.packing()
		return err
	})
	return err == nil && p.kind == elf.COMPRESS_ZLIB
}

// Slide tells Stream where to inflate; so many bytes it has to keep, and to have room
// for behind them.
type Slide = inflate.Slide

const (
	SlideWindow = inflate.Window
	SlideRoom   = inflate.Room
)

// Stream is Data for a consumer that reads each byte only for a while, and while
// the section is still being inflated into the buffers that slide returns. All bytes are worth nothing if Stream fails. It keeps nothing: a later Data makes them
// anew.
func (s *Section) Stream(slide inflate.Slide) error {
	return s.file.do(func() error {
		p, err := s.packing()
		if err != nil {
			return err
		}
		d := s.dropper()
		at := 0 // of the buffer, in the section
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

// bytes is Data.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		s.forget()
	}
	if !s.made {
		// A fault must not leave it made with neither bytes nor error.
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

// aliases tells whether the section's bytes are used where they lie in the file.
func (s *Section) aliases() bool { return !s.compressed() && s.applied() == 0 }

// Discard gives the memory of bytes [from, to) of Data back to the system, as
// far as it is whole pages; not of several sections of one name. Nobody may touch the bytes any more, not those
// either that an earlier Data returned; a later Data makes all of them anew.
func (s *Section) Discard(from, to uint64) {
	if !s.Present() || s.parts != nil || from > to {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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

// forget lets go of the bytes that were made.
func (s *Section) forget() {
	s.file.memory.put(s.inflated)
	s.made, s.stale, s.inflated, s.err = false, false, nil, nil
}

// Cursor returns a cursor over Data, in the file's byte order.
func (s *Section) Cursor() (wire.Cursor, error) {
	data, err := s.Data()
	return s.file.cursor(s.label(), data), err
}

// compressed tells whether the bytes in the file are not the section's own.
func (s *Section) compressed() bool {
	return s.Present() && (s.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.Name, ".zdebug_"))
}

// Section finds a section by name, or nil. For .debug_X it also finds
// .zdebug_X, the older way of compressing. Where names or the whole section
// header table are lost, .symtab, .dynsym, .dynamic, .eh_frame, .sframe and
// .ARM.exidx (with what .ARM.extab must be in) are found by type or through
// program headers; so is .sframe under any name.
func (f *File) Section(name string) *Section {
	if s := f.named(name); s != nil {
		return s
	}
	if rest, ok := strings.CutPrefix(name, ".debug_"); ok {
		return f.named(".zdebug_" + rest)
	}
	if s := f.byType(name); s != nil {
		return s
	}
	for i := range f.synthetic {
		if s := &f.synthetic[i]; s.Name == name {
			return s
		}
	}
	return nil
}

func (f *File) named(name string) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Name == name && s.Type != elf.SHT_NULL {
			return cmp.Or(s.head, s)
		}
	}
	return nil
}

// byType finds the sections that have a type of their own.
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
		// The number is the processor's; and Solaris gives it to
		// .eh_frame_hdr as well, which has a name.
		if f.Machine != elf.EM_X86_64 || !f.namesLost() {
			return nil
		}
		want = shtX8664Unwind
	default:
		return nil
	}
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Type == want {
			return s
		}
	}
	return nil
}

// namesLost tells whether no section can be found by name.
func (f *File) namesLost() bool {
	for i := range f.Sections {
		if f.Sections[i].Name != "" {
			return false
		}
	}
	return true
}

// SectionData is the uncompressed bytes of the named section: nil without an
// error when the file has no such section or it is SHT_NOBITS, not nil when it
// is empty.
func (f *File) SectionData(name string) ([]byte, error) {
	s := f.Section(name)
	if s == nil || !s.Present() {
		return nil, nil
	}
	return s.Data()
}
