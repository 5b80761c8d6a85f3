// Package elfx reads an ELF file: headers, sections (inflated and relocated on demand),
// segments, symbols. Join pairs the file with its separate debug file; package companion
// finds that file, package identity makes the ids of symbol files.
//
//	f, err := elfx.Open("app")
//	if err != nil {
//		return err // "app: ELF header+0x10: truncated"
//	}
//	defer f.Close()
//	text, err := f.SectionData(".text")
//
// Every error begins with the path of the file and wraps a *located.Error with
// section and offset: printing the error gives "path: section+0xoffset: what".
// Three kinds of error have no section: the file cannot be opened (the system's
// error, ErrNotRegular), the file changed while its bytes were read
// (ErrChanged), and two files do not belong together (see Join).
//
// The bytes that methods return alias the mapped file and are read-only. The packages of
// this module survive that the file is truncated while they read its bytes; other code
// reads a Section.Copy. Addresses are virtual addresses of the file; offsets are file
// offsets, or section offsets where a section is named.
package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"symkit/internal/filename"
	"symkit/internal/hashindex"
	"symkit/internal/mem"
	"symkit/limits"
	"symkit/located"
)

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

	input
	opt         Options
	memory      memory
	names       hashindex.Index      // of Sections, by name
	over        func() map[int]error // compressed sections that are refused, by index; see allOverAllowance
	synthetic   []Section            // sections made from program headers
	buildID     []byte
	holdsLoaded bool
	losses      []error
	reloc       relocation // of a relocatable object
}

// input is where a file came from, and its bytes.
type input struct {
	path    string
	archive string      // path of the file that contains this file, or ""
	source  Source      // nil: the caller owns the bytes
	info    fs.FileInfo // nil: the file is not in a file system
	data    []byte
	paid    uint64 // bytes of the file that the user gave, by which limits count: DebugData has the size of its program
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
	// Limits bound the cost of the file while it is open: inflate-ratio,
	// section-names and notes.
	Limits limits.Limits
}

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

	file   *File
	relocs int    // index of the first relocation section that applies; in a relocation section: of the next one
	parts  *parts // the sections of one name that are read as one, or nil
	contents
}

// contents are the bytes of a section that are not in the file as they are: inflated or
// relocated by the first goroutine that needs them.
type contents struct {
	mu       sync.Mutex // held while the section is inflated or relocated
	made     bool       // inflated and err are the result
	paid     bool       // relocated before: its bytes and its losses are counted
	stale    bool       // part of inflated was discarded
	inflated *mem.Buffer
	err      error
}

// parts are the debug sections of a relocatable object, such as a .dwo file, that
// have one name: each type unit is in a section of its own, in a group that the
// linker keeps once (gABI, "Section Groups"), and some compilers emit such sections
// for each function. The parts are read as one section, as if they were linked.
type parts struct {
	all  []int // section indices; those in no group come first, because others refer to them
	once sync.Once
	data []byte
	err  error
}

// relocation is the state that the relocated sections of one file share.
type relocation struct {
	symbols    func() ([]Symbol, error) // of .symtab, rebased; read on the first call
	mu         sync.Mutex
	copied     uint64 // bytes of section copies
	read       uint64 // bytes of relocation sections
	losses     []error
	symtabFrom int // index of .symtab
}

// Segment is one program header (gABI, "Program Header").
type Segment struct {
	Type   elf.ProgType
	Flags  elf.ProgFlag
	Offset uint64 // file offset
	Vaddr  uint64 // virtual address
	Filesz uint64 // bytes in the file
	Memsz  uint64 // bytes in memory
	Align  uint64
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
		if errors.Is(err, located.ErrTruncated) {
			return &filename.Error{Path: f.path, Err: fmt.Errorf("%w: the file is not complete; copy it again", filename.Cause(err, f.path))}
		}
	}
	return nil
}

// HoldsLoaded reports whether the file has the bytes that are loaded into memory.
// A separate debug file does not: its .text, .eh_frame and .dynamic are SHT_NOBITS,
// and its program headers refer to bytes that the file does not have.
func (f *File) HoldsLoaded() bool { return f.holdsLoaded }

// WriteTo writes the file's bytes to w. For a member of an archive, these are the
// member's bytes.
func (f *File) WriteTo(w io.Writer) (n int64, err error) {
	var written int
	var failed error
	err = f.do(func() error {
		written, failed = w.Write(f.data)
		return nil
	})

	switch {
	case err != nil:
	case errors.Is(failed, syscall.EFAULT): // the kernel read a page that is gone
		err = &filename.Error{Path: f.path, Err: ErrChanged}
	default:
		err = failed // an error of w: the file's path does not belong to it
	}
	return int64(written), err
}

// do runs fn under mem.Guard and puts the path before the error of fn. Every
// exported method that returns an error calls do or guarded once.
func (f *File) do(fn func() error) error {
	if err := mem.Guard(fn); err != nil {
		return &filename.Error{Path: f.path, Err: err}
	}
	return nil
}

// lose adds an error to Losses.
func (f *File) lose(err error) {
	f.losses = append(f.losses, &filename.Error{Path: f.path, Err: err})
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
func (f *File) at(section string, off, n uint64) ([]byte, error) { return at(f.data, section, off, n) }

// drop returns the whole pages between two file offsets to the system.
func (f *File) drop(from, to uint64) {
	if f.source != nil {
		f.source.Drop(from, to)
	}
}
