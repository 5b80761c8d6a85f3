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
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/mem"
	"symkit/limits"
)

// Frame is a function that an address is in: the innermost inlined one, or one that it is inlined into.
type Frame struct {
	// Name is the name in the source, without its scope (DW_AT_name), or that of a symbol. In a symbol
	// file it is the readable name.
	Name string
	// Linkage is the linkage name, "" if the function has none or the file does not say.
	Linkage string
	// File is the path of the source file as the compiler saw it, "" if it is not known.
	File string
	// Line and Column are those of the address or, in a frame that calls an inlined function, of the
	// call; each is 0 if it is not known.
	Line, Column uint32
	// Discriminator distinguishes the blocks of code of one line, 0 if there is one.
	Discriminator uint32
	// StartFile and StartLine are where the function is declared, "" and 0 if that is not known.
	StartFile string
	StartLine uint32
	// Start is the virtual address of the function's first byte, 0 if it is not known.
	Start uint64
	// Inlined is set if the function is inlined into that of the next frame.
	Inlined bool
}

// Symbol is an entry of a symbol table.
type Symbol struct {
	Name string
	// File is the name of the source file of a local symbol, as the symbol table has it, or "".
	File string
	// Addr is a virtual address.
	Addr uint64
	// Size is in bytes, 0 if it is not known.
	Size uint64
	// Data is set if the symbol is a variable.
	Data bool
}

// Options say where the companions of a file are, and how much memory may be used.
type Options struct {
	// Search says where the companions of an ELF file are searched for.
	Search companion.Search
	// Memory bounds the bytes that decoded units take, those that are being decoded too: units that
	// have not been used for the longest time are dropped. 0 is no bound. The sections of the file
	// that are compressed come on top.
	Memory int64
	// Jobs is the number of goroutines of Load and Open; 0 is that of the processors.
	Jobs int
	// Limits bound the cost of damaged and hostile files.
	Limits limits.Limits
}

// ErrOther: the file is neither an ELF file nor a symbol file.
var ErrOther = errors.New("neither an ELF file nor a symbol file")

// File is an opened file. Its methods may be called from any number of goroutines, except Close.
type File struct {
	path   string
	source source
	image  *module // nil unless the file is an ELF file
	close  func()
}

// source is a format of symbols.
type source interface {
	// frames appends the frames of a virtual address to dst.
	frames(dst []Frame, addr uint64) ([]Frame, error)
	// symbolAt returns the symbol that covers a virtual address, or the last one below it whose size is
	// not known.
	symbolAt(addr uint64) (Symbol, bool)
	// symbols appends the symbols of a name.
	symbols(dst []Symbol, name string) []Symbol
}

// Open opens the file at path, whatever its format, with its companions. The caller closes it.
func Open(ctx context.Context, path string, opt Options) (*File, error) {
	m, warnings, err := companion.Open(ctx, []string{path}, opt.Search)
	if err == nil {
		f, err := New(ctx, m, opt)
		if err != nil {
			m.Close()
			return nil, err
		}
		f.close = m.Close
		for _, w := range warnings {
			f.image.lose(w)
		}
		return f, nil
	}
	if !errors.Is(err, elfx.ErrNotELF) {
		return nil, err
	}
	return openOther(path)
}

// New looks up addresses in a module that is open already, and must be open as long as the File is used.
func New(ctx context.Context, m *companion.Module, opt Options) (*File, error) {
	image, err := newModule(ctx, m, opt)
	if err != nil {
		return nil, err
	}
	return &File{path: m.Image.Main.Path(), source: image, image: image, close: func() {}}, nil
}

// openOther opens a GSYM file or a symbol file.
func openOther(path string) (*File, error) {
	mapped, err := mem.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{path: path, close: func() { _ = mapped.Release() }}
	err = mem.Guard(func() (err error) {
		data := mapped.Bytes()
		switch {
		case isGSYM(data):
			f.source, err = newGSYM(data)
		case isSymbolFile(data):
			f.source = newSymbolFile(data)
		default:
			err = ErrOther
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

// BuildID returns the build id of an ELF file or a GSYM file, or nil.
func (f *File) BuildID() []byte {
	switch s := f.source.(type) {
	case *module:
		return s.image.BuildID()
	case *gsymFile:
		return s.file.UUID
	}
	return nil
}

// Frames appends to dst the functions that a virtual address is in: the innermost inlined one first, the
// function that has the code last. An address with a line and without a function has one frame without a
// name. An address that nothing is known of has no frame. An error is about damage that costs this address
// its answer or a part of it; dst then has what could be read.
func (f *File) Frames(dst []Frame, addr uint64) ([]Frame, error) { return f.source.frames(dst, addr) }

// SymbolAt returns the symbol of the symbol table, of a function or a variable, that a virtual address is
// in. Of the symbols at one address the one with the largest size holds.
func (f *File) SymbolAt(addr uint64) (Symbol, bool) { return f.source.symbolAt(addr) }

// Symbols appends to dst the symbols of a name, by address.
func (f *File) Symbols(dst []Symbol, name string) []Symbol { return f.source.symbols(dst, name) }

// Load decodes all units, on Options.Jobs goroutines, as far as Options.Memory allows. It is worth its time
// if many addresses are asked for. It returns the error of ctx.
func (f *File) Load(ctx context.Context) error {
	if f.image == nil {
		return nil
	}
	return f.image.load(ctx)
}

// Losses returns the damage that was met so far.
func (f *File) Losses() []error {
	if f.image == nil {
		return nil
	}
	return f.image.damage()
}
