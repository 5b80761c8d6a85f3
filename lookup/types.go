package lookup

import (
	"symkit/elfx/companion"
	"symkit/limits"
)

// Frame is a function that an address is in: the innermost inlined one, or one that it is inlined into.
type Frame struct {
	// Name is the name in the source, without its scope (DW_AT_name), or that of a symbol. In a symbol
	// file it is the readable name.
	Name string
	// Linkage is the linkage name, that of the symbol if DWARF has none; "" if the file does not say.
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
	// Size is the number of bytes of the function from Start on, 0 if it is not known. Of ELF files it is not.
	Size uint64
	// Inlined is set if the function is inlined into that of the next frame.
	Inlined bool
	// Stub is set for a slot of a procedure linkage table: Linkage is the name of the function that the slot calls, and
	// @plt, or the name of the section before the first slot. Neither DWARF nor symbols describe slots.
	Stub bool
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
	// have not been used for the longest time are dropped. A unit that takes more than half of Memory is not
	// decoded: its addresses have the names of symbols, without lines, and Losses says so. 0 is the limit
	// lookup-unit for the size of the file. The sections of the file that are compressed come on top.
	Memory int64
	// Jobs is the number of goroutines of Load and Open, besides the one that inflates a large compressed .debug_info
	// until the File is closed; 0 is that of the processors.
	Jobs int
	// Limits bound the cost of damaged and hostile files.
	Limits limits.Limits
	// Relative leaves the directory of the compilation out of paths of source files.
	Relative bool
}

// textSpan is a part of a text.
type textSpan struct{ from, to uint32 }
