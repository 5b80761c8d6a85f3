package limits

import "symkit/internal/limitof"

// about has the name of each limit, the bounded quantity in words, and the value unless it
// is changed.
var about = [...]struct {
	name, what string
	bound
}{
	{limitof.InflateRatio, "bytes for each byte of a compressed section", bound{base: 256}},
	{limitof.Inflated, "bytes that all compressed sections inflate to, by the size of the file", bound{base: 16 << 20, perByte: 12}},
	{limitof.UnitRecords, "bytes of memory for units and functions, by the size of the file", bound{base: 24 << 20, perByte: 6}},
	{limitof.LineRecords, "bytes of memory for line tables and their lines, by the size of the file", bound{base: 16 << 20, perByte: 4}},
	{limitof.SymbolRecords, "bytes of memory for symbols, by the size of the file", bound{base: 4 << 20, perByte: 4}},
	{limitof.FrameRecords, "bytes of memory for entries of unwind tables, by the size of the file", bound{base: 6 << 20, perByte: 4}},
	{limitof.SectionNames, "bytes of the section name table", bound{base: 64 << 20}},
	{limitof.Notes, "notes looked at in one file", bound{base: 1 << 20}},
	{limitof.AbbrevAttributes, "attributes of one abbreviation", bound{base: 8192}},
	{limitof.DIEDepth, "DIEs in each other", bound{base: 1 << 10}},
	{limitof.RangeEntries, "range list entries of a unit, or more ranges of its inlined calls, by its size", bound{base: 64, perByte: 1}},
	{limitof.LineSharing, "line programs, on average, that use a byte of .debug_line", bound{base: 16}},
	{limitof.MaskRows, "rows that the repeating FDEs of an SFrame section stand for", bound{base: 1 << 20}},
	{limitof.SFrameSharing, "FDEs, on average, that use a byte of an SFrame section's rows", bound{base: 16}},
	{limitof.Files, "bytes of all names of source files, by the size of the file", bound{base: 16 << 20, perByte: 1}},
	{limitof.Names, "bytes of all names of functions, by the size of the file", bound{base: 8 << 20, perByte: 4}},
	{limitof.Output, "bytes of the symbol file, by the size of the file", bound{base: 64 << 20, perByte: 8}},
	{limitof.Package, "bytes that a package unpacks to, by its size", bound{base: 1 << 30, perByte: 256}},
	{limitof.PackageWindow, "bytes of the window of a package's compression", bound{base: 128 << 20}},
	{limitof.Members, "ELF files, archives and directories (squashfs) in a package, by 64ths of its size", bound{base: 8 << 10, perByte: 1}},

	{limitof.LookupUnit, "bytes of memory for a unit in a lookup, by the size of the file", bound{base: 14 << 20, perByte: 12}},

	{limitof.CheckInput, "bytes read of a pipe", bound{base: 4 << 30}},
	{limitof.CheckLines, "line records of a symbol file", bound{base: 1 << 26}},
	{limitof.CheckRecords, "records of each other kind of a symbol file", bound{base: 1 << 25}},
	{limitof.CheckUnits, "units of the debug information", bound{base: 1 << 22}},
	{limitof.CheckStrings, "bytes of strings of the debug information, by its size", bound{base: 64 << 20, perByte: 32}},
	{limitof.CheckDepth, "levels of inlined calls that symcheck diff compares", bound{base: 1 << 10}},
	{limitof.CheckRows, "SFrame rows", bound{base: 1 << 24}},

	{limitof.Threads, "threads of a dump", bound{base: 4 << 20}},
	{limitof.CoreNotes, "bytes of the notes of a core file from a pipe", bound{base: 256 << 20}},
	{limitof.FramesPerThread, "frames of one thread without --max-frames", bound{base: 1 << 18}},
	{limitof.Frames, "frames of all threads without --max-frames", bound{base: 1 << 19}},
	{limitof.RuleTerms, "terms of unwind rules that are evaluated for a dump", bound{base: 128 << 20}},
	{limitof.SymbolText, "bytes of symbol files that are read for the frames of a dump", bound{base: 256 << 20}},
	{limitof.InlinedCalls, "inlined calls at the places of a dump, each place once", bound{base: 2 << 20}},
	{limitof.Report, "bytes of stackwalk's report of a dump, by the size of the dump", bound{base: 256 << 20, perByte: 32}},
	{limitof.UnpackedSymbols, "bytes of an unpacked symbol file and its index, by its packed size", bound{base: 64 << 20, perByte: 36}},
	{limitof.FetchedSymbols, "bytes of an unpacked symbol file from a server, on disk", bound{base: 4 << 30}},
	{limitof.FetchedFiles, "bytes of an ELF file from a debuginfod server, on disk; DEBUGINFOD_MAXSIZE takes precedence", bound{base: 8 << 30}},
	{limitof.FetchedTotal, "bytes of all files from a symbol server, or from all debuginfod servers, in one run", bound{base: 32 << 30}},
}

// index returns the index of a limit in about. It panics if no limit has the name.
func index(name string) int {
	for i := range about {
		if about[i].name == name {
			return i
		}
	}
	panic("limits: there is no limit " + name)
}
