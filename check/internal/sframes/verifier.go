package sframes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/bounds"
	"symkit/sframe"
)

// The causes of findings.
const (
	damaged    = "damaged"        // bytes that have no meaning
	unmerged   = "unmerged"       // several headers, or several sections
	versions   = "versions"       // headers of different versions
	unsorted   = "unsorted"       // marked as sorted, and not sorted
	overlap    = "overlap"        // functions that overlap
	discarded  = "discarded"      // functions that the linker has discarded
	outside    = "outside-code"   // functions that are not in code
	base       = "start-base"     // start addresses that count from another place than the flags say
	stale      = "stale"          // addresses or sizes of another link
	onlySFrame = "only-sframe"    // a function that .eh_frame does not have
	onlyDWARF  = "only-eh-frame"  // a function that .sframe does not have
	signal     = "signal"         // the mark of a signal trampoline
	cfaDiffers = "cfa"            // rows with another CFA
	raDiffers  = "return-address" // rows with another return address
	fpDiffers  = "frame-pointer"  // rows with another frame pointer
	pacDiffers = "pac-state"      // rows with another state or key of pointer authentication
)

// Input is the file to verify, and the options.
type Input struct {
	Image *elfx.Image
	Code  pcs.Set
	Bias  uint64 // to subtract from addresses in findings
	// Findings states that what is wrong counts. Otherwise it is a note: a symbol file can be right
	// beside an .sframe section that is wrong.
	Findings bool
	Report   report.Options
}

// verifier looks for what is wrong in the .sframe sections of one image.
type verifier struct {
	in      *Input
	c       *collect.Outcome
	arch    *eval.Arch
	abi     sframe.ABI
	main    *elfx.File // that has the sections
	tables  []table
	funcs   []function  // in the order of the tables, then by address
	lost    []pcs.Range // of FDEs that cannot be read
	dwarf   []part      // by address
	stubs   pcs.Set     // sections of linkage stubs, which the linker describes
	names   *names
	records *bounds.Records
	over    error
	causes  map[string]uint64 // findings by cause
	total   uint64
}

// table is one section with .sframe's contents.
type table struct {
	section *elfx.Section
	parsed  *sframe.Section
	err     error
}

// function is an FDE that can be read.
type function struct {
	pcs.Range
	table, chunk, index int
	at                  uint64 // address of the FDE
	signal, keyB, mask  bool
	cut                 bool // another function overlaps
	moved               bool // the function has other bounds in DWARF
}

// part is code that a DWARF FDE holds for.
type part struct {
	pcs.Range
	fde cfi.FDE
}

// What a function and a part take in memory, with what slices need to grow.
const functionBytes, partBytes = 120, 200

// maxEach bounds the findings of one cause that have a text. All are counted.
const maxEach = 1 << 12

// add adds a finding about n PCs.
func (v *verifier) add(cause string, addr, n uint64, format string, args ...any) {
	v.total++
	v.causes[cause]++
	switch {
	case !v.in.Findings:
	case v.causes[cause] > maxEach:
		v.c.More(checks.SFrame, n, 0, 1)
	case cause == onlyDWARF:
		v.c.Missing(report.Finding{Check: checks.SFrame, Cause: cause, Addr: v.shown(addr), What: fmt.Sprintf(format, args...)}, n)
	default:
		v.c.Wrong(report.Finding{Check: checks.SFrame, Cause: cause, Addr: v.shown(addr), What: fmt.Sprintf(format, args...)}, n)
	}
}

// shown returns an address as findings have it; code below the load address has none.
func (v *verifier) shown(addr uint64) uint64 {
	if addr < v.in.Bias {
		return addr
	}
	return addr - v.in.Bias
}

// note adds a note that takes no part in the verdict.
func (v *verifier) note(format string, args ...any) {
	if v.in.Findings {
		v.c.Note(checks.SFrame, fmt.Sprintf(format, args...))
	}
}

// kinds lists the causes that were found.
func (v *verifier) kinds() string {
	return strings.Join(slices.Sorted(maps.Keys(v.causes)), ", ")
}

// title names the function at an address for a finding.
func (v *verifier) title(addr uint64) string {
	name := v.symbols().at(addr)
	if name == "" {
		return fmt.Sprintf("function at %#x", v.shown(addr))
	}
	return fmt.Sprintf("%s at %#x", name, v.shown(addr))
}
