// Package elfx reads an ELF file: headers, sections (inflated on demand), notes and
// identity, symbols, relocations. Join pairs the file with its separate debug file;
// package companion finds that file.
//
//	f, err := elfx.Open("app")
//	if err != nil {
//		return err // "app: ELF header+0x10: truncated"
//	}
//	defer f.Close()
//	id, err := f.ModuleID()
//	if err != nil {
//		return err
//	}
//	text, err := f.SectionData(".text")
//
// Every error begins with the path of the file and wraps a *located.Error with
// section and offset: printing the error gives "path: section+0xoffset: what".
// Three kinds of error have no section: the file cannot be opened (the system's
// error, ErrNotRegular, ErrTooLarge), the file changed while its bytes were read
// (ErrChanged), and two files do not belong together (see Join).
//
// The bytes that methods return alias the mapped file: they are read-only, and every
// goroutine reads them under Guard. Addresses are virtual addresses of the file; offsets
// are file offsets, or section offsets where a section is named.
package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"

	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/internal/wire"
	"symkit/limits"
)

// Header has the fields of the ELF header that concern the whole file (gABI, "ELF
// Header").
type Header struct {
	Class     elf.Class
	BigEndian bool
	OSABI     elf.OSABI
	Type      elf.Type
	Machine   elf.Machine
	Entry     uint64 // virtual address
	Flags     uint32 // e_flags, meaning depends on Machine
}

// File is one opened ELF file. Its methods may be called from any number of
// goroutines, except Close.
type File struct {
	Header
	// Sections is the section header table with the null section at index 0. It
	// is empty if the file has no table or a damaged one (see Losses). Elements
	// must not be copied.
	Sections []Section
	// Segments is the program header table.
	Segments []Segment

	opt         Options
	path        string
	archive     string      // path of the file that contains this file, or ""
	source      Source      // nil: the caller owns the bytes
	info        fs.FileInfo // nil: the file is not in a file system
	data        []byte
	paid        uint64 // bytes of the file that the user gave, by which limits count: DebugData has the size of its program
	memory      memory
	allowance   allowance
	synthetic   []Section // sections made from program headers
	buildID     []byte
	holdsLoaded bool
	losses      []error
	reloc       relocation // of a relocatable object
}

// Source owns the bytes of a file.
type Source interface {
	// Bytes returns the file's bytes, which are valid until Release.
	Bytes() []byte
	// Drop returns the memory of bytes [from, to) to the system if the bytes
	// can be read again.
	Drop(from, to uint64)
	Release() error
}

// Options say how files are opened. The functions Open and NewFile are the methods of
// the zero Options.
type Options struct {
	// Limits bound the cost of the file while it is open: limits.InflateRatio,
	// limits.SectionNames and limits.Notes.
	Limits limits.Limits
}

// Open maps the file at path and reads its headers and notes. Open fails if the
// file is not an ELF file (ErrNotELF) or if neither header table is usable; lesser
// damage is in Losses.
func Open(path string) (*File, error) { return Options{}.Open(path) }

// Open is the function Open with options.
func (opt Options) Open(path string) (*File, error) {
	f, err := open(path, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// open is Open without the path in its errors.
func open(path string, opt Options) (*File, error) {
	m, err := mem.Open(path)
	if err != nil {
		return nil, filename.WithoutPath(err)
	}

	// Parsing reads the mapped file, so it is guarded: the file can be truncated at any
	// time.
	f := &File{opt: opt, path: path, source: m, info: m.Info(), data: m.Bytes()}
	if err := mem.Guard(f.parse); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// NewFile reads an ELF file in memory. The name takes the place of the path,
// also in errors. The File aliases data.
func NewFile(name string, data []byte) (*File, error) { return Options{}.NewFile(name, data) }

// NewFile is the function NewFile with options.
func (opt Options) NewFile(name string, data []byte) (*File, error) {
	f := &File{opt: opt, path: name, data: data}
	if err := f.do(f.parse); err != nil {
		return nil, err
	}
	return f, nil
}

// NewPart reads an ELF file that is inside another file, whose path is archive.
// The File owns source; after an error source is released.
func (opt Options) NewPart(path, archive string, source Source) (*File, error) {
	f := &File{opt: opt, path: path, archive: archive, source: source, data: source.Bytes()}
	if err := f.do(f.parse); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Options returns the options that the file was opened with.
func (f *File) Options() Options { return f.opt }

// Close unmaps the file. Bytes that alias the file must not be used afterwards.
func (f *File) Close() error {
	f.memory.release()
	f.data = nil
	if f.source == nil {
		return nil
	}
	return f.source.Release()
}

// Path returns the path that the file was opened by. The path of a file inside
// another file is Archive, "!/" and a name.
func (f *File) Path() string { return f.path }

// Archive returns the path of the file that contains this file (archive.Member,
// DebugData), or "".
func (f *File) Archive() string { return f.archive }

// Size returns the file's length in bytes.
func (f *File) Size() int { return len(f.data) }

// FileBytes aliases n bytes from a file offset, or fewer if the file ends first.
func (f *File) FileBytes(off, n uint64) []byte {
	off = min(off, uint64(len(f.data)))
	n = min(n, uint64(len(f.data))-off)
	return f.data[off:][:n:n]
}

// Info describes the file as of Open; nil for a file in memory or inside another
// file.
func (f *File) Info() fs.FileInfo { return f.info }

// Losses lists the damage that Open tolerated. Each error has the path, section
// and offset. Open alone adds to the list.
func (f *File) Losses() []error { return f.losses }

// Complete returns an error if the file ends inside its headers, such as an
// interrupted download: the headers that are left would look like a whole file.
func (f *File) Complete() error {
	for _, err := range f.losses {
		if errors.Is(err, wire.ErrTruncated) {
			return fmt.Errorf("%w: the file is not complete; copy it again", err)
		}
	}
	return nil
}

// HoldsLoaded reports whether the file has the bytes that are loaded into memory.
// A separate debug file does not: its .text, .eh_frame and .dynamic are SHT_NOBITS,
// and its program headers refer to bytes that the file does not have.
func (f *File) HoldsLoaded() bool { return f.holdsLoaded }

// AddrSize returns the size of an address in bytes: 4 or 8.
func (f *File) AddrSize() int { return int(f.byClass(4, 8)) }

// byClass returns the value for the file's class.
func (f *File) byClass(class32, class64 uint64) uint64 {
	if f.Class == elf.ELFCLASS64 {
		return class64
	}
	return class32
}

// do runs fn under mem.Guard and puts the path before the error of fn. Every
// exported method that returns an error calls do or guarded once.
func (f *File) do(fn func() error) error {
	if err := mem.Guard(fn); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// lose adds an error to Losses.
func (f *File) lose(err error) {
	f.losses = append(f.losses, fmt.Errorf("%s: %w", f.path, err))
}

// guarded is do for a function that returns a value.
func guarded[T any](f *File, fn func() (T, error)) (value T, err error) {
	err = f.do(func() (err error) {
		value, err = fn()
		return err
	})
	return value, err
}

// at aliases n bytes from file offset off. The offset of an error is the number
// of bytes that the file has from off on.
func (f *File) at(section string, off, n uint64) ([]byte, error) {
	size := uint64(len(f.data))

	// Both checks avoid sums, which could overflow.
	if off > size {
		return nil, &wire.Error{Section: section, Err: wire.ErrTruncated}
	}
	if n > size-off {
		return nil, &wire.Error{Section: section, Offset: int(size - off), Err: wire.ErrTruncated}
	}
	return f.data[off:][:n:n], nil
}

// cursor returns a cursor over data in the file's byte order.
func (f *File) cursor(section string, data []byte) wire.Cursor {
	return wire.New(section, data, f.BigEndian)
}
