// Package elfx opens one ELF file: headers,
// sections (inflated on demand), notes and identity, symbols, relocations; and
// pairs it with its separate debug file (Join).
//
// Every error begins with the path of the file it is about and wraps a
// *wire.Error with the section and offset, so that printing it gives "path:
// section+0xoffset: what". Three have no section: that a file cannot be opened
// (the system's error, ErrNotRegular, ErrTooLarge), that it changed while it was
// read (ErrChanged), and that two files do not belong together (see Join).
//
// The bytes handed out alias the mapped file: they are read-only, and every
// goroutine that reads them does so under mem.Guard.
package elfx

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"

	"symkit/internal/mem"
	"symkit/internal/wire"
)

// Header is what the ELF header says of the whole file (gABI, "ELF Header").
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
	// Sections is the section header table, the null section at index 0
	// included; empty when the file has none or it is damaged (see Losses).
	// Use elements in place: they must not be copied.
	Sections []Section
	// Segments is the program header table.
	Segments []Segment

	path        string
	archive     string      // the file that this one is in, or ""
	source      Source      // nil: the bytes are the caller's
	info        fs.FileInfo // nil: the file is not one of a file system
	data        []byte
	memory      memory
	allowance   allowance
	synthetic   []Section // found through program headers
	buildID     []byte
	holdsLoaded bool
	losses      []error
	reloc       relocation // of a relocatable object
}

// Source is what the bytes of a file lie in.
type Source interface {
	// Bytes are the file's bytes until Release.
	Bytes() []byte
	// Drop gives the memory of bytes [from, to) back to the system if they can
	// be read again.
	Drop(from, to uint64)
	Release() error
}

// Open maps the file at path and reads its headers and notes. It fails for
// what is not an ELF file and for one whose headers give nothing to go by;
// lesser damage is in Losses.
func Open(path string) (*File, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// open is Open without the path in its errors.
func open(path string) (*File, error) {
	m, err := mem.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	f := &File{path: path, source: m, info: m.Info(), data: m.Bytes()}
	if err := mem.Guard(f.parse); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// withoutPath removes the path from a system error.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// NewFile reads an ELF file that is in memory, such as an unpacked
// .gnu_debugdata. The name stands for the path, in errors too. The File keeps
// data.
func NewFile(name string, data []byte) (*File, error) {
	f := &File{path: name, data: data}
	if err := f.do(f.parse); err != nil {
		return nil, err
	}
	return f, nil
}

// NewPart reads an ELF file that is inside another file, at the path archive.
// The File owns source; after an error it is released.
func NewPart(path, archive string, source Source) (*File, error) {
	f := &File{path: path, archive: archive, source: source, data: source.Bytes()}
	if err := f.do(f.parse); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close unmaps the file. What aliased it must no longer be touched.
func (f *File) Close() error {
	f.memory.release()
	f.data = nil
	if f.source == nil {
		return nil
	}
	return f.source.Release()
}

// Path is the path the file was opened by; of a file inside another one
// (Archive), that one's path, "!/" and its own name.
func (f *File) Path() string { return f.path }

// Archive is the path of the file that this one is in (archive.Member, DebugData), or
// "".
func (f *File) Archive() string { return f.archive }

// Size is the file's length in bytes.
func (f *File) Size() int { return len(f.data) }

// FileBytes aliases up to n bytes of the file from an offset: fewer where the file
// ends first.
func (f *File) FileBytes(off, n uint64) []byte {
	off = min(off, uint64(len(f.data)))
	n = min(n, uint64(len(f.data))-off)
	return f.data[off:][:n:n]
}

// Info describes the file as it was when opened; nil for one that is in memory
// or inside another file.
func (f *File) Info() fs.FileInfo { return f.info }

// Losses lists the damage that Open could work around: each error is located
// and names the path. Nothing is added after Open.
func (f *File) Losses() []error { return f.losses }

// Complete fails where the file ends inside its headers: half a download. What is
// left of them would pass for the whole.
func (f *File) Complete() error {
	for _, err := range f.losses {
		if errors.Is(err, wire.ErrTruncated) {
			return fmt.Errorf("%w: the file is not complete; copy it again", err)
		}
	}
	return nil
}

// HoldsLoaded tells whether the file has the bytes of what is loaded into
// memory. It is false for a separate debug file, whose .text, .eh_frame and
// .dynamic are SHT_NOBITS; its program headers then point at nothing.
func (f *File) HoldsLoaded() bool { return f.holdsLoaded }

// AddrSize is the size of an address in bytes: 4 or 8.
func (f *File) AddrSize() int {
	if f.Class == elf.ELFCLASS64 {
		return 8
	}
	return 4
}

// do runs fn under mem.Guard and puts the path before its error. Every exported
// method that returns an error goes through it, once.
func (f *File) do(fn func() error) error {
	if err := mem.Guard(fn); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

func (f *File) lose(err error) {
	f.losses = append(f.losses, fmt.Errorf("%s: %w", f.path, err))
}

// at aliases n bytes of the file from offset off. The error names section and
// the number of bytes that are there.
func (f *File) at(section string, off, n uint64) ([]byte, error) {
	size := uint64(len(f.data))
	if off > size {
		return nil, &wire.Error{Section: section, Err: wire.ErrTruncated}
	}
	if n > size-off {
		return nil, &wire.Error{Section: section, Offset: int(size - off), Err: wire.ErrTruncated}
	}
	return f.data[off:][:n:n], nil
}

// cursor reads data in the file's byte order.
func (f *File) cursor(section string, data []byte) wire.Cursor {
	return wire.New(section, data, f.BigEndian)
}
