// Package limitof has the names of the limits of package limits, as SYMKIT_LIMITS has them. The
// table there says what each bounds.
package limitof

// Limits of dump_syms, and of the parts of ELF files that all programs read.
const (
	InflateRatio     = "inflate-ratio"
	Inflated         = "inflated"
	UnitRecords      = "unit-records"
	LineRecords      = "line-records"
	SymbolRecords    = "symbol-records"
	FrameRecords     = "frame-records"
	SectionNames     = "section-names"
	Notes            = "notes"
	AbbrevAttributes = "abbreviation-attributes"
	DIEDepth         = "die-depth"
	RangeEntries     = "range-entries"
	LineSharing      = "line-sharing"
	MaskRows         = "sframe-mask-rows"
	SFrameSharing    = "sframe-sharing"
	Files            = "files"
	Names            = "names"
	Output           = "output"
	Package          = "package"
	PackageWindow    = "package-window"
	Members          = "members"

	// Limits of package lookup.
	LookupUnit = "lookup-unit"

	// Limits of symcheck.
	CheckInput   = "symcheck-input"
	CheckLines   = "symcheck-lines"
	CheckRecords = "symcheck-records"
	CheckUnits   = "symcheck-units"
	CheckStrings = "symcheck-strings"
	CheckDepth   = "symcheck-depth"
	CheckRows    = "symcheck-rows"

	// Limits of stackwalk.
	Threads         = "threads"
	CoreNotes       = "core-notes"
	FramesPerThread = "frames-per-thread"
	Frames          = "frames"
	RuleTerms       = "rule-terms"
	SymbolText      = "symbol-text"
	InlinedCalls    = "inlined-calls"
	Report          = "report"
	UnpackedSymbols = "unpacked-symbols"
	FetchedSymbols  = "fetched-symbols"
	FetchedFiles    = "fetched-files"
	FetchedTotal    = "fetched-total"
)
