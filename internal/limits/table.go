package limits

// All has all limits. docs/robustness.md has a table of them.
var All = []*Limit{
	InflateRatio, SectionNames, Notes, AbbrevAttributes, DIEDepth, RangeEntries, LineSharing, MaskRows, SFrameSharing, Files, Names, Output,
	CheckInput, CheckLines, CheckRecords, CheckUnits, CheckStrings, CheckDepth, CheckRows,
	Threads, FramesPerThread, Frames, Report, UnpackedSymbols, FetchedSymbols, FetchedFiles, FetchedTotal,
}

// Limits of dump_syms and of what all programs read of ELF files.
var (
	InflateRatio     = &Limit{Name: "inflate-ratio", Base: 256, What: "bytes for each byte of a compressed section"}
	SectionNames     = &Limit{Name: "section-names", Base: 64 << 20, What: "bytes of the section name table"}
	Notes            = &Limit{Name: "notes", Base: 1 << 20, What: "notes looked at in one file"}
	AbbrevAttributes = &Limit{Name: "abbreviation-attributes", Base: 8192, What: "attributes of one abbreviation"}
	DIEDepth         = &Limit{Name: "die-depth", Base: 1 << 10, What: "DIEs in each other"}
	RangeEntries     = &Limit{Name: "range-entries", Base: 64, PerByte: 1, What: "range list entries of one unit, or further ranges of its inlined calls, by its size"}
	LineSharing      = &Limit{Name: "line-sharing", Base: 16, What: "line programs, on average, that use a byte of .debug_line"}
	MaskRows         = &Limit{Name: "sframe-mask-rows", Base: 1 << 20, What: "rows that the repeating FDEs of an SFrame section stand for"}
	SFrameSharing    = &Limit{Name: "sframe-sharing", Base: 16, What: "FDEs, on average, that use a byte of an SFrame section's rows"}
	Files            = &Limit{Name: "files", Base: 16 << 20, PerByte: 1, What: "bytes of all names of source files, by the size of the file"}
	Names            = &Limit{Name: "names", Base: 16 << 20, PerByte: 4, What: "bytes of all names of functions, by the size of the file"}
	Output           = &Limit{Name: "output", Base: 64 << 20, PerByte: 8, What: "bytes of the symbol file, by the size of the file"}
)

// Limits of symcheck.
var (
	CheckInput   = &Limit{Name: "symcheck-input", Base: 4 << 30, What: "bytes read of a pipe"}
	CheckLines   = &Limit{Name: "symcheck-lines", Base: 1 << 26, What: "line records of a symbol file"}
	CheckRecords = &Limit{Name: "symcheck-records", Base: 1 << 25, What: "records of each other kind of a symbol file"}
	CheckUnits   = &Limit{Name: "symcheck-units", Base: 1 << 22, What: "units of the debug information"}
	CheckStrings = &Limit{Name: "symcheck-strings", Base: 64 << 20, PerByte: 32, What: "bytes of strings of the debug information, by its size"}
	CheckDepth   = &Limit{Name: "symcheck-depth", Base: 1 << 10, What: "levels of inlined calls that symcheck diff compares"}
	CheckRows    = &Limit{Name: "symcheck-rows", Base: 1 << 24, What: "SFrame rows"}
)

// Limits of stackwalk.
var (
	Threads         = &Limit{Name: "threads", Base: 4 << 20, What: "threads of a dump"}
	FramesPerThread = &Limit{Name: "frames-per-thread", Base: 1 << 18, What: "frames of one thread without --max-frames"}
	Frames          = &Limit{Name: "frames", Base: 1 << 19, What: "frames of all threads without --max-frames"}
	Report          = &Limit{Name: "report", Base: 256 << 20, PerByte: 32, What: "bytes of what stackwalk says of a dump, by the size of the dump"}
	UnpackedSymbols = &Limit{Name: "unpacked-symbols", Base: 64 << 20, PerByte: 128, What: "bytes of an unpacked symbol file, by its packed size"}
	FetchedSymbols  = &Limit{Name: "fetched-symbols", Base: 4 << 30, What: "bytes of an unpacked symbol file from a server, on disk"}
	FetchedFiles    = &Limit{Name: "fetched-files", Base: 8 << 30, What: "bytes of an ELF file from a debuginfod server, on disk; DEBUGINFOD_MAXSIZE goes before it"}
	FetchedTotal    = &Limit{Name: "fetched-total", Base: 32 << 30, What: "bytes of all files from a symbol server, or from all debuginfod servers, in one run"}
)
