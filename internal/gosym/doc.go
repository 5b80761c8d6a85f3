// Package gosym decodes the function table that the Go linker puts into every
// Go program: the pclntab, section .gopclntab (.data.rel.ro.gopclntab in some
// position-independent files). The runtime needs it for its own tracebacks, so
// it stays in a stripped file and gives the same functions, lines and inlined
// calls as DWARF.
//
//	table, err := gosym.Open(".gopclntab", data, addr, gosym.Image{Read: read, Data: ranges, Exec: code, Text: text})
//	if err != nil {
//		return err
//	}
//	for f, err := range table.Funcs() {
//		if err != nil {
//			log.Print(err) // this function is damaged, others are not
//			continue
//		}
//		fmt.Printf("%#x %s\n", f.Entry, table.Name(f.Name))
//	}
//
// There is no specification. The facts are those of Go's own sources, named in
// comments by file: runtime/symtab.go, runtime/runtime2.go (_func),
// runtime/symtabinl.go, cmd/link/internal/ld/pcln.go and symtab.go.
//
// The package is pure: it takes bytes, gives values and opens no files. All
// addresses are virtual addresses of the ELF file.
//
// Nothing in the file gives the version of the structures, and a stripped file may have no
// symbols. So each structure that is searched for is recognised by conditions that it must
// satisfy (see module.go), and every offset is compared with the table before it is used.
package gosym

import "errors"

// Errors that a *located.Error of this package can carry, besides those of package located.
var (
	// ErrMagic: the bytes are no pclntab of a known version.
	ErrMagic = errors.New("not a Go function table")
	// ErrHeader: a field of the header has a value that no linker writes.
	ErrHeader = errors.New("impossible header of a Go function table")
	// ErrCount: more functions than there are bytes for.
	ErrCount = errors.New("more functions than the table has bytes for")
	// ErrRecord: a function whose record lies outside of the table.
	ErrRecord = errors.New("function record outside of the table")
	// ErrText: the address that the offsets of functions count from is not known.
	ErrText = errors.New("start of the Go text is not known")
	// ErrOrder: a function that begins before the end of the previous one.
	ErrOrder = errors.New("functions out of order")
	// ErrAddress: a function outside of the executable ranges.
	ErrAddress = errors.New("function outside of the code")
	// ErrName: a name outside of the name table or without an end.
	ErrName = errors.New("name outside of the name table")
	// ErrVarint: a number of a pc-value table that does not fit 32 bits.
	ErrVarint = errors.New("number does not fit 32 bits")
	// ErrStep: a pc-value table with more empty ranges than any assembler writes.
	ErrStep = errors.New("too many empty ranges of addresses")
	// ErrInline: an impossible entry of an inline tree.
	ErrInline = errors.New("impossible inline tree")
	// ErrModule: no word of the module data makes the inline trees valid.
	ErrModule = errors.New("module data that tells where inline trees are was not found")
	// ErrDepth: calls inlined more deeply than any compiler does.
	ErrDepth = errors.New("inline tree too deep")
)

// Version is the layout of a table, named by the first Go release that wrote
// it. Releases between two versions write the earlier one.
type Version uint8

// The layouts, with the magic number each begins with (internal/abi/symtab.go).
const (
	Go12  Version = iota + 1 // 0xfffffffb
	Go116                    // 0xfffffffa
	Go118                    // 0xfffffff0
	Go120                    // 0xfffffff1
)

// Range is the addresses [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// Image is the rest of the file, which a table refers to by address.
type Image struct {
	// Read returns the n bytes at addr, as they are when the program runs: a
	// position-independent file needs its relative relocations applied. It
	// returns nil if the file has no such bytes. The result is not written to.
	Read func(addr, n uint64) []byte
	// Data is where the linker may have put the module data (symbol
	// runtime.firstmoduledata): .go.module, .noptrdata, .data, .data.rel.ro;
	// or the range of that symbol alone, if it is known.
	Data []Range
	// Exec is the executable ranges. Functions outside of them are damage.
	Exec []Range
	// Text is the address of runtime.text: the symbol or the start of .text.
	// It is used if there is no module data.
	Text uint64
}
