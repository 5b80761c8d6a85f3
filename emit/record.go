// Package emit writes and reads the Breakpad text symbol format: record types, a writer, a
// strict reader, and an index. Package emit handles the text only, and does not verify it
// against a program.
//
//	index := emit.NewIndex(data) // of a symbol file
//	if s, ok := index.Symbol(0x1051); ok {
//		for _, c := range s.Calls { // inlined calls, the innermost first, then the function
//			fmt.Printf("%s at %s:%d\n", c.Func, c.File, c.Line)
//		}
//	}
//
// An Index answers questions about one address, also in files of other tools; a Reader
// yields all records and accepts only those that every consumer reads; a Writer writes
// records.
//
// A symbol file has one record per line, of fields with single spaces between them.
// Numbers are hexadecimal in lower case without a prefix, except the decimal
// line, file, origin and depth numbers. All addresses are relative to the
// module's load address. The names of sections cited in this package
// ("FUNC records", "STACK CFI records") are those of Breakpad's format
// document, symbol_files.md.
//
// The Writer stays within the limits of all known consumers: see maxLine,
// maxName and maxRanges, and Func for the text of names. Sizes of code are
// below 2^32 by their type; Split cuts larger ranges.
package emit

// Limits of records. The Reader rejects a line above maxLine and a name above maxName.
const (
	// maxLine bounds a line in bytes, without its newline: readers with a fixed
	// buffer discard lines that are not much longer.
	maxLine = 100 << 10
	// maxName bounds a name in bytes as written. A longer one is cut and ends
	// in "<truncated>".
	maxName = 64 << 10
	// maxRanges is the number of ranges in one INLINE record; further ranges are
	// written in further records. Breakpad's reader silently drops the ranges after
	// the 254th; the Reader rejects a record with more.
	maxRanges = 250
)

// maxNumber is the largest line, file, origin or depth number: consumers keep
// them in 32-bit signed integers.
const maxNumber = 1<<31 - 1

// Record is a pointer to one of the record types of this package. The Reader
// yields records; a type switch distinguishes them.
type Record interface {
	// Append appends the record's line or lines, newline included, to dst.
	Append(dst []byte) []byte
	record()
}

// Module is the first record: the module that the file describes ("MODULE records").
type Module struct {
	OS   string // "Linux"
	Arch string // "x86_64"
	ID   string // the debug id: upper-case hex digits, the last ones the age
	Name string // the file's base name; may contain spaces
}

// Info is a record that consumers may ignore: a key, and text whose meaning depends on
// the key. See CodeID and SignalFrame.
type Info struct {
	Key  string // without spaces
	Text string // may be empty
}

// File gives a source file the number that Line and Inline refer to
// ("FILE records").
type File struct {
	Num  uint32
	Name []byte
}

// InlineOrigin gives an inlined function's name the number that Inline refers
// to ("INLINE_ORIGIN records").
type InlineOrigin struct {
	Num  uint32
	Name []byte
}

// Func is a function, or one contiguous part of it ("FUNC records"). The Line
// and Inline records that follow belong to it.
//
// Its name, as every name in this package, is written so that it can neither
// break the line nor be read as something else, and stays valid UTF-8: spaces
// at both ends are dropped; a control character (Unicode class Cc, so tab, CR,
// newline, NUL), a bidirectional control, a line or paragraph separator and each
// byte that is not UTF-8 become \xNN; an empty name becomes "<name omitted>"; a long name
// is cut (maxName). A backslash is not escaped, because it is common in file names:
// escapes are for human readers and cannot be reversed.
type Func struct {
	Addr      uint64 // module-relative
	Size      uint32 // in bytes
	ParamSize uint32 // bytes of arguments on the stack; 0 outside x86 Windows
	Name      []byte
	Multiple  bool // other symbols share this address ("m")
}

// Line attributes code to a line of a source file ("Line records").
type Line struct {
	Addr uint64 // module-relative
	Size uint32 // in bytes
	Line uint32 // 0: no line; a number above maxNumber is written as 0
	File uint32 // the Num of a File
}

// Range is the code in [Addr, Addr+Size), as the records write it.
type Range struct {
	Addr uint64 // module-relative
	Size uint32 // in bytes
}

// Inline is one inlined call in the Func it follows ("INLINE records").
//
// The format has a file number of -1 for a call whose file is unknown, which
// makes one known consumer reject the whole symbol file. Package emit neither writes nor
// reads such a number. A caller that does not know the file sets CallFile to the file of
// the code around the call, and CallLine to 0.
type Inline struct {
	Depth    uint32 // 0: called from the function itself
	CallLine uint32 // line of the call; above maxNumber it is written as 0
	CallFile uint32 // the Num of a File
	Origin   uint32 // the Num of an InlineOrigin
	// Ranges is the inlined code. Without ranges, nothing is written. The Ranges of a
	// record that the Reader yields are valid until the next record.
	Ranges []Range
}

// Public is a symbol whose size is not known ("PUBLIC records").
type Public struct {
	Addr      uint64
	ParamSize uint32 // as in Func
	Name      []byte
	Multiple  bool // other symbols share this address ("m")
}

// StackCFIInit begins the unwind rules of a range ("STACK CFI records"). The
// StackCFI records that follow belong to it.
//
// Rules that break the format (no "REG: EXPRESSION" pairs divided by single
// spaces, other than printable ASCII, longer than maxName) are written as
// ".cfa: .undef .ra: .undef": a stack walker then finds no caller, instead of a wrong
// one.
type StackCFIInit struct {
	Addr  uint64
	Size  uint32 // in bytes
	Rules []byte // "REG: EXPRESSION REG: EXPRESSION", in postfix
}

// StackCFI holds the rules that change at Addr ("STACK CFI records"). Without
// rules, nothing is written; rules that break the format are written as in StackCFIInit.
type StackCFI struct {
	Addr  uint64
	Rules []byte
}

// Rules are rules of STACK CFI records that were checked once and are written many
// times.
type Rules struct {
	rest []byte // the rest of a line, from the space before the rules on
}

// StackWin is the frame data of x86 Windows code ("STACK WIN records"). All
// sizes are in bytes.
type StackWin struct {
	Type          uint32 // 4: frame data, 0: FPO
	Addr          uint64
	CodeSize      uint32
	PrologueSize  uint32
	EpilogueSize  uint32
	ParamSize     uint32
	SavedRegsSize uint32
	LocalSize     uint32
	MaxStackSize  uint32
	// Program is the program string; a record without one ends in AllocatesBP.
	Program     []byte
	AllocatesBP bool
}

func (*Module) record()       {}
func (*Info) record()         {}
func (*File) record()         {}
func (*InlineOrigin) record() {}
func (*Func) record()         {}
func (*Line) record()         {}
func (*Inline) record()       {}
func (*Public) record()       {}
func (*StackCFIInit) record() {}
func (*StackCFI) record()     {}
func (*StackWin) record()     {}
