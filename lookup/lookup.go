// Package lookup answers what is at an address: functions with the calls that are inlined there, source
// files, lines and columns. It reads ELF files with their debug information, Breakpad symbol files, and
// GSYM files.
//
//	f, err := lookup.Open(ctx, "app", lookup.Options{})
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	frames, err := f.Frames(nil, 0x1149)
//	for _, frame := range frames { // innermost first
//		fmt.Printf("%s at %s:%d:%d\n", frame.Name, frame.File, frame.Line, frame.Column)
//	}
//
// An ELF file is opened with its companions: the separate debug file, dwz's file, .dwo files and .dwp
// packages, MiniDebugInfo. A unit of DWARF is decoded when an address in it is first asked for; Load
// decodes all units at once. Options.Memory bounds what decoded units take.
//
// Damage costs the unit or table that it is in: addresses there have the name of their symbol, and
// Losses lists the damage.
package lookup

import (
	"context"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/emit"
	"symkit/internal/filename"
	"symkit/internal/mem"
)

// ErrNoDebug is among the losses of a file: its functions have the names of symbols, if there are some, and no lines.
var ErrNoDebug = errors.New("no debug information")

// ErrOther: the file is neither an ELF file nor one of symbols.
var ErrOther = errors.New("neither an ELF file, a symbol file nor a GSYM file")

// source is a format of symbols.
type source interface {
	// frames appends the frames of a virtual address to dst.
	frames(dst []Frame, addr uint64) ([]Frame, error)
	// symbolAt returns the symbol that covers a virtual address, or the last one below it whose size is
	// not known.
	symbolAt(addr uint64) (Symbol, bool)
	// symbols appends the first n symbols of a name, or all if n < 0.
	symbols(dst []Symbol, name string, n int) []Symbol
}

// File is an opened file. Its methods may be called from any number of goroutines, except Close.
type File struct {
	path   string
	source source
	image  *module // nil unless the file is an ELF file
	close  func()
}

// Open opens the file at path, whatever its format, with its companions. The caller closes it.
func Open(ctx context.Context, path string, opt Options) (*File, error) {
	m, warnings, err := companion.Open(ctx, []string{path}, opt.Search)
	if err == nil {
		image, err := newModule(ctx, m, opt)
		if err != nil {
			m.Close()
			return nil, err
		}
		for _, w := range warnings {
			image.losses.add(w)
		}
		if len(warnings) == 0 && len(image.known.Load().slots) == 0 && image.goTab() == nil { // a warning says why already
			image.losses.add(&filename.Error{Path: path, Err: ErrNoDebug})
		}
		return &File{path: path, source: image, image: image, close: func() { image.close(); m.Close() }}, nil
	}
	if !errors.Is(err, elfx.ErrNotELF) {
		return nil, err
	}
	return openOther(path, opt)
}

// FromModule looks up addresses in a module that is open already, and that Close leaves open.
func FromModule(ctx context.Context, m *companion.Module, opt Options) (*File, error) {
	image, err := newModule(ctx, m, opt)
	if err != nil {
		return nil, err
	}
	return &File{path: m.Image.Main.Path(), source: image, image: image, close: image.close}, nil
}

// FromIndex looks up addresses in a symbol file that is open already: path and buildID, which may be nil, are what
// Path and BuildID return; heap is the number of bytes of its text in memory, 0 for a mapped file; release is called by
// Close. Options.Memory bounds the functions that are kept.
func FromIndex(path string, buildID []byte, index *emit.Index, heap int64, opt Options, release func()) *File {
	return &File{path: path, source: newSymbolFile(index, buildID, heap, opt), close: release}
}

// kindSize is how many bytes of a file tell its format.
const kindSize = 64 << 10

// openOther opens a GSYM file or a symbol file.
func openOther(path string, opt Options) (*File, error) {
	mapped, err := mem.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{path: path, close: func() { _ = mapped.Release() }}
	err = mem.Guard(func() (err error) {
		data := mapped.Bytes()
		switch {
		case isGSYM(data):
			f.source, err = newGSYM(path, data)
		case isSymbolFile(data):
			f.source = newSymbolFile(emit.NewIndex(data), nil, 0, opt)
		default:
			err = ErrOther
			kind := elfx.KindOf(data[:min(len(data), kindSize)])
			if kind != (elfx.Kind{}) {
				err = fmt.Errorf("%w: it is %v", err, kind)
			}
		}
		return err
	})
	if err != nil {
		f.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// isGSYM reports whether data begins with the magic number of GSYM, in either byte order.
func isGSYM(data []byte) bool {
	return len(data) >= 4 && (string(data[:4]) == "MYSG" || string(data[:4]) == "GSYM")
}

// isSymbolFile reports whether data begins with the first record of a symbol file.
func isSymbolFile(data []byte) bool { return len(data) >= 7 && string(data[:7]) == "MODULE " }

// Close closes the file and those that Open found. Frames stay valid.
func (f *File) Close() { f.close() }

// Path returns the path that the file was opened by.
func (f *File) Path() string { return f.path }

// BuildID returns the build id, or nil if the file has none or does not say.
func (f *File) BuildID() []byte {
	switch s := f.source.(type) {
	case *module:
		return s.image.BuildID()
	case *gsymFile:
		return s.file.UUID
	case *symbolFile:
		return s.id
	}
	return nil
}

// Frames appends to dst the functions that a virtual address is in: the innermost inlined one first, the
// function that has the code last. An address with a line and without a function has one frame without a
// name. An address that nothing is known of has no frame. An error is about damage that costs this address
// its answer or a part of it; dst then has what could be read.
func (f *File) Frames(dst []Frame, addr uint64) ([]Frame, error) {
	from := len(dst)
	dst, err := f.source.frames(dst, addr)
	return bounded(dst, from), err
}

// mostText is how many bytes the names and paths of an answer may have: the largest answer in ceph-osd has 300,000.
// Inlined calls in each other can share one long name, so that each answer would be larger than the file.
const mostText = 1 << 20

// bounded returns dst, whose frames from one on are an answer, without the inlined calls that are beyond mostText.
func bounded(dst []Frame, from int) []Frame {
	text, last := 0, len(dst)-1
	for i := from; i < last; i++ {
		f := &dst[i]
		text += max(len(f.Name), len(f.Linkage)) + len(f.File)
		if text > mostText {
			dst[i] = dst[last]
			return dst[:i+1]
		}
	}
	return dst
}

// SymbolAt returns the symbol of the symbol table, of a function or a variable, that a virtual address is
// in. Of the symbols at one address the one with the largest size holds.
func (f *File) SymbolAt(addr uint64) (Symbol, bool) { return f.source.symbolAt(addr) }

// SymbolBelow is SymbolAt, or else the last symbol below the address in the same section: the code after a
// function's end may still belong to the function, and be padding as well. In a symbol file it is the PUBLIC record
// below whose size is not known, unless a record in between shows that the symbol has ended.
func (f *File) SymbolBelow(addr uint64) (Symbol, bool) {
	switch s := f.source.(type) {
	case *module:
		return s.table().below(addr)
	case *symbolFile:
		sym, _, ok := s.symbol(addr)
		return sym, ok
	}
	return f.source.symbolAt(addr)
}

// CodeFile returns the name that a symbol file has for the file with the code, if the file with the debug information
// has another one, as on Windows: app.exe, of app.pdb. It is "" if the file does not say.
func (f *File) CodeFile() string {
	s, ok := f.source.(*symbolFile)
	if !ok {
		return ""
	}
	return s.index.CodeFile()
}

// CodeID returns the code id of a symbol file, or the build id of another file in hexadecimal; "" if there is none.
func (f *File) CodeID() string {
	s, ok := f.source.(*symbolFile)
	if ok && s.index.CodeID() != "" {
		return s.index.CodeID()
	}
	return hex.EncodeToString(f.BuildID())
}

// Symbols appends to dst the first n symbols of a name by address, or all if n < 0; of an ELF file, all symbols if the
// name is empty.
func (f *File) Symbols(dst []Symbol, name string, n int) []Symbol {
	return f.source.symbols(dst, name, n)
}

// Named appends to dst the first n symbols of an ELF file whose name has a version after it: pthread_create@@GLIBC_2.34
// is one of "pthread_create". If there are none, it appends those with a readable name, in the order of the symbol table:
// "Codec::run(int)", or "Codec::run(int) [clone .cold]" for a compiler's copy. The first such call demangles all names.
func (f *File) Named(dst []Symbol, name string, n int) []Symbol {
	if f.image == nil {
		return dst
	}
	return f.image.table().readable(dst, name, n)
}

// Load decodes all units, on Options.Jobs goroutines, as far as Options.Memory allows. It is worth its time
// if many addresses are asked for. It returns the error of ctx.
func (f *File) Load(ctx context.Context) error {
	if f.image == nil {
		return nil
	}
	return f.image.load(ctx)
}

// Memory returns the bytes that the file takes in memory: its decoded units or functions, its sections that are
// compressed in the file, the index and the unpacked text of a symbol file. It does not count what is mapped.
func (f *File) Memory() int64 {
	switch s := f.source.(type) {
	case *module:
		return s.used.Load() + s.inflated
	case *symbolFile:
		return s.memory()
	}
	return 0
}

// AddrSize returns the size of an address of the file in bytes, 4 or 8; 8 if the file does not say.
func (f *File) AddrSize() int {
	if f.image == nil {
		return 8
	}
	return f.image.image.Main.AddrSize()
}

// Section returns the virtual address of a section of an ELF file, and the size that the section has in memory: 0 if
// the section is not loaded.
func (f *File) Section(name string) (addr, size uint64, ok bool) {
	if f.image == nil {
		return 0, 0, false
	}
	s := f.image.image.Main.Section(name)
	switch {
	case s == nil:
		return 0, 0, false
	case s.Flags&elf.SHF_ALLOC == 0:
		return s.Addr, 0, true
	}
	return s.Addr, s.Size, true
}

// Losses returns the damage that was met so far.
func (f *File) Losses() []error {
	g, ok := f.source.(*gsymFile)
	switch {
	case ok:
		return g.losses.all()
	case f.image == nil:
		return nil
	}
	errs := f.image.losses.all()
	for _, file := range []*elfx.File{f.image.image.Main, f.image.image.Debug} {
		if file != nil {
			errs = append(errs, file.RelocLosses()...)
		}
	}
	return errs
}
