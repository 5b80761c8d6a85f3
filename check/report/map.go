package report

// Range is the module-relative addresses [Lo, Hi).
type Range struct {
	Lo uint64 `json:"lo"`
	Hi uint64 `json:"hi"`
}

// Map is the coverage of a module's code, for pages. All addresses are module-relative.
type Map struct {
	// Code is the executable sections.
	Code []Range
	// Covered has the addresses that the records of each class cover, in the order of
	// Report.Coverage.
	Covered []Covered
	// Functions are the FUNC records by address, and the functions of the ELF file that have none.
	Functions []Function
	// Units are the compilation units that Function.Unit counts.
	Units []string
	// Files are the source files that Function.File counts.
	Files []string
}

// Covered is the addresses that records of one class cover: ranges in ascending order that neither
// overlap nor touch.
type Covered struct {
	Class  string
	Ranges []Range
}

// Function is a function of a Map.
type Function struct {
	Range
	Name string
	// Missing states that only the ELF file has the function.
	Missing bool
	// Wrong and Lost are the numbers of PCs whose lines or inlined calls differ from the ELF
	// file's, and for which the symbol file has no record.
	Wrong, Lost uint64
	// File and Unit are numbers in Map.Files and Map.Units, -1 if unknown.
	File, Unit int
}

// Instruction is one instruction near a finding.
type Instruction struct {
	Addr  uint64 `json:"addr"`
	Bytes string `json:"bytes"` // in hexadecimal
	Text  string `json:"text"`  // empty if the bytes are no instruction
	// Source is the file and line that the symbol file has for the address.
	Source string `json:"source,omitempty"`
	// Here states that the finding begins in the instruction.
	Here bool `json:"here,omitempty"`
}

// Change has the differences of two symbol files for one function.
type Change struct {
	Name string `json:"name"`
	// Kind is "changed", "moved" (another address, the same size), "added" or "removed".
	Kind string `json:"kind"`
	// Old and New are the addresses of the FUNC in both files, empty if there is none.
	Old Range `json:"old"`
	New Range `json:"new"`
	// OldName is the name in the first file, if it differs.
	OldName string `json:"old_name,omitempty"`
	// Lines, Inlines and Rules are the numbers of PCs that differ.
	Lines   uint64 `json:"lines,omitempty"`
	Inlines uint64 `json:"inlines,omitempty"`
	Rules   uint64 `json:"rules,omitempty"`
	// First are the first differences in words.
	First []string `json:"first,omitempty"`
}
