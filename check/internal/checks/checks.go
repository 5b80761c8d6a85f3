// Package checks has the names of the checks of a symbol file.
package checks

// The checks. report.Names says which packages make them.
const (
	Grammar    = "grammar"    // lines that the strict reader rejects
	Canonical  = "canonical"  // symkit's own order and spelling, in its own files
	Duplicates = "duplicates" // numbers, addresses, keys given twice
	Order      = "order"      // single records that break the order of their class
	Overlaps   = "overlaps"   // FUNC, line, INLINE and INIT ranges
	Nesting    = "nesting"    // lines and INLINE ranges inside their FUNC and parent
	Consumers  = "consumers"  // records that Breakpad or rust-minidump drop without a message
	Rules      = "rules"      // STACK CFI rules that do not evaluate
	Win        = "stack-win"  // STACK WIN fields and programs

	Module  = "module"        // MODULE and INFO CODE_ID
	Funcs   = "functions"     // one FUNC for each contiguous range of code
	Names   = "names"         // of FUNC records
	Code    = "code"          // FUNC bytes lie in executable sections
	Lines   = "lines"         // file and line of each PC
	Inlines = "inlines"       // chain of inlined calls of each PC
	Publics = "publics"       // symbols without a FUNC, and their names
	CFI     = "cfi"           // CFA, return address, registers of each PC
	Signal  = "signal-frames" // INFO SIGNAL_FRAME
	SFrame  = "sframe"        // .sframe itself, against code and DWARF
)

// All lists all checks, in the order of a report.
var All = []string{
	Grammar, Canonical, Duplicates, Order, Overlaps, Nesting, Consumers, Rules, Win,
	Module, Funcs, Names, Code, Lines, Inlines, Publics, CFI, Signal,
	SFrame,
}
