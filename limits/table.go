package limits

// Limit is the number of one bound. docs/robustness.md has a table of all.
type Limit uint8

// Limits of dump_syms, and of the parts of ELF files that all programs read.
const (
	InflateRatio     Limit = iota // bytes for each byte of a compressed section
	Inflated                      // bytes of all compressed sections, by the size of the file
	UnitRecords                   // bytes of memory for units and functions, by the size of the file
	LineRecords                   // bytes of memory for line tables and their lines, by the size of the file
	SymbolRecords                 // bytes of memory for symbols, by the size of the file
	FrameRecords                  // bytes of memory for entries of unwind tables, by the size of the file
	SectionNames                  // bytes of the section name table
	Notes                         // notes looked at in one file
	AbbrevAttributes              // attributes of one abbreviation
	DIEDepth                      // DIEs in each other
	RangeEntries                  // range list entries of a unit, or more ranges of its inlined calls, by its size
	LineSharing                   // line programs, on average, that use a byte of .debug_line
	MaskRows                      // rows that the repeating FDEs of an SFrame section stand for
	SFrameSharing                 // FDEs, on average, that use a byte of an SFrame section's rows
	Files                         // bytes of all names of source files, by the size of the file
	Names                         // bytes of all names of functions, by the size of the file
	Output                        // bytes of the symbol file, by the size of the file: for the programs
	Package                       // bytes that a package unpacks to, by its size
	PackageWindow                 // bytes of the window of a package's compression
	Members                       // files and archives in a package or an archive, by 64ths of its bytes

	// Limits of symcheck.
	CheckInput   // bytes read of a pipe: for the program
	CheckLines   // line records of a symbol file
	CheckRecords // records of each other kind of a symbol file
	CheckUnits   // units of the debug information
	CheckStrings // bytes of strings of the debug information, by its size
	CheckDepth   // levels of inlined calls that package diff compares
	CheckRows    // SFrame rows

	// Limits of stackwalk.
	Threads         // threads of a dump
	CoreNotes       // bytes of the notes of a core file from a pipe
	FramesPerThread // frames of one thread, unless walk.Options.MaxFrames is given
	Frames          // frames of all threads, unless walk.Options.MaxFrames is given
	RuleTerms       // terms of unwind rules that are evaluated for a dump
	SymbolText      // bytes of symbol files that are read for the frames of a dump
	InlinedCalls    // inlined calls of the places of a dump
	Report          // bytes of a report, by the size of the dump: for the program
	UnpackedSymbols // bytes of an unpacked symbol file and its index, by its packed size
	FetchedSymbols  // bytes of an unpacked symbol file from a server, on disk
	FetchedFiles    // bytes of an ELF file from a debuginfod server, on disk
	FetchedTotal    // bytes of all files from a symbol server, or from all debuginfod servers

	numLimits
)

// about has the name of each limit, the bounded quantity in words, and the value unless it
// is changed.
var about = [numLimits]struct {
	name, what string
	bound
}{
	InflateRatio:     {"inflate-ratio", "bytes for each byte of a compressed section", bound{base: 256}},
	Inflated:         {"inflated", "bytes that all compressed sections inflate to, by the size of the file", bound{base: 16 << 20, perByte: 12}},
	UnitRecords:      {"unit-records", "bytes of memory for units and functions, by the size of the file", bound{base: 24 << 20, perByte: 6}},
	LineRecords:      {"line-records", "bytes of memory for line tables and their lines, by the size of the file", bound{base: 16 << 20, perByte: 4}},
	SymbolRecords:    {"symbol-records", "bytes of memory for symbols, by the size of the file", bound{base: 4 << 20, perByte: 4}},
	FrameRecords:     {"frame-records", "bytes of memory for entries of unwind tables, by the size of the file", bound{base: 8 << 20, perByte: 4}},
	SectionNames:     {"section-names", "bytes of the section name table", bound{base: 64 << 20}},
	Notes:            {"notes", "notes looked at in one file", bound{base: 1 << 20}},
	AbbrevAttributes: {"abbreviation-attributes", "attributes of one abbreviation", bound{base: 8192}},
	DIEDepth:         {"die-depth", "DIEs in each other", bound{base: 1 << 10}},
	RangeEntries:     {"range-entries", "range list entries of a unit, or more ranges of its inlined calls, by its size", bound{base: 64, perByte: 1}},
	LineSharing:      {"line-sharing", "line programs, on average, that use a byte of .debug_line", bound{base: 16}},
	MaskRows:         {"sframe-mask-rows", "rows that the repeating FDEs of an SFrame section stand for", bound{base: 1 << 20}},
	SFrameSharing:    {"sframe-sharing", "FDEs, on average, that use a byte of an SFrame section's rows", bound{base: 16}},
	Files:            {"files", "bytes of all names of source files, by the size of the file", bound{base: 16 << 20, perByte: 1}},
	Names:            {"names", "bytes of all names of functions, by the size of the file", bound{base: 8 << 20, perByte: 4}},
	Output:           {"output", "bytes of the symbol file, by the size of the file", bound{base: 64 << 20, perByte: 8}},
	Package:          {"package", "bytes that a package unpacks to, by its size", bound{base: 1 << 30, perByte: 256}},
	PackageWindow:    {"package-window", "bytes of the window of a package's compression", bound{base: 128 << 20}},
	Members:          {"members", "ELF files, archives and directories (squashfs) in a package, by 64ths of its size", bound{base: 8 << 10, perByte: 1}},

	CheckInput:   {"symcheck-input", "bytes read of a pipe", bound{base: 4 << 30}},
	CheckLines:   {"symcheck-lines", "line records of a symbol file", bound{base: 1 << 26}},
	CheckRecords: {"symcheck-records", "records of each other kind of a symbol file", bound{base: 1 << 25}},
	CheckUnits:   {"symcheck-units", "units of the debug information", bound{base: 1 << 22}},
	CheckStrings: {"symcheck-strings", "bytes of strings of the debug information, by its size", bound{base: 64 << 20, perByte: 32}},
	CheckDepth:   {"symcheck-depth", "levels of inlined calls that symcheck diff compares", bound{base: 1 << 10}},
	CheckRows:    {"symcheck-rows", "SFrame rows", bound{base: 1 << 24}},

	Threads:         {"threads", "threads of a dump", bound{base: 4 << 20}},
	CoreNotes:       {"core-notes", "bytes of the notes of a core file from a pipe", bound{base: 256 << 20}},
	FramesPerThread: {"frames-per-thread", "frames of one thread without --max-frames", bound{base: 1 << 18}},
	Frames:          {"frames", "frames of all threads without --max-frames", bound{base: 1 << 19}},
	RuleTerms:       {"rule-terms", "terms of unwind rules that are evaluated for a dump", bound{base: 128 << 20}},
	SymbolText:      {"symbol-text", "bytes of symbol files that are read for the frames of a dump", bound{base: 256 << 20}},
	InlinedCalls:    {"inlined-calls", "inlined calls at the places of a dump, each place once", bound{base: 2 << 20}},
	Report:          {"report", "bytes of stackwalk's report of a dump, by the size of the dump", bound{base: 256 << 20, perByte: 32}},
	UnpackedSymbols: {"unpacked-symbols", "bytes of an unpacked symbol file and its index, by its packed size", bound{base: 64 << 20, perByte: 36}},
	FetchedSymbols:  {"fetched-symbols", "bytes of an unpacked symbol file from a server, on disk", bound{base: 4 << 30}},
	FetchedFiles:    {"fetched-files", "bytes of an ELF file from a debuginfod server, on disk; DEBUGINFOD_MAXSIZE takes precedence", bound{base: 8 << 30}},
	FetchedTotal:    {"fetched-total", "bytes of all files from a symbol server, or from all debuginfod servers, in one run", bound{base: 32 << 30}},
}

// String returns the limit's name in SYMKIT_LIMITS.
func (x Limit) String() string { return about[x].name }

// What returns the bounded quantity in words.
func (x Limit) What() string { return about[x].what }

// All yields all limits.
func All(yield func(Limit) bool) {
	for x := range numLimits {
		if !yield(x) {
			return
		}
	}
}
