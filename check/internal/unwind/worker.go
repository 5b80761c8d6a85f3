package unwind

import (
	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/eval"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/internal/bounds"
)

// Input has the sides that Compare compares, and its options.
type Input struct {
	Sym      *symfile.File
	Image    *elfx.Image
	Code     pcs.Set // of the image
	Bias     uint64  // address of the ELF file minus that of the symbol file
	Jobs     int
	Progress func(stage string, done, total int)
	Report   report.Options
}

// part is code that an FDE holds for: all of the FDE's code, or the part of it for which no other
// FDE holds.
type part struct {
	pcs.Range
	fde cfi.FDE
}

// partBytes is what a part takes in memory, with what slices need to grow.
const partBytes = 200

// unwinder compares the STACK CFI records with the tables.
type unwinder struct {
	r     *Input
	c     *collect.Outcome
	arch  *eval.Arch
	parts []part
	// sframe holds the rows of .sframe by address. On ARM, which has no .sframe, it holds the rows
	// of the exception index table.
	sframe []sframeRow
	inits  []symfile.Init // the INIT records that consumers use, by address
	rules  [][]eval.Rule  // of the texts in Sym.Rules, parsed once for all goroutines

	records *bounds.Records     // counts the memory of parts and rows
	over    error               // there are more than the limit allows
	shared  map[string]*cfi.Row // the rules of rows, by appendRules
	key     []byte
}

// unwindWorker is the state of one goroutine.
type unwindWorker struct {
	*unwinder
	found    *collect.Outcome
	machines [eval.Seeds]eval.Machine
	state    []eval.Rule // in force
	next     position
	memo     memo
	compared uint64
	unsure   map[string]uint64 // PCs that are not verified, by reason
}

// newUnwindWorker returns a worker with machines of its own.
func newUnwindWorker(u *unwinder) *unwindWorker {
	return &unwindWorker{unwinder: u, found: collect.New(u.r.Report), machines: eval.NewMachines(u.arch, u.r.Image.Main.BigEndian), unsure: map[string]uint64{}, memo: newMemo()}
}

// take returns what the worker has found since the last call.
func (w *unwindWorker) take() *collect.Outcome {
	found := w.found
	found.Compared(checks.CFI, w.compared)
	for why, n := range w.unsure {
		found.Unverified(checks.CFI, n, why)
	}
	w.found, w.compared = collect.New(w.r.Report), 0
	clear(w.unsure)
	return found
}

// position is where the next row of a function begins: the first deltas of an INIT record are in
// force there, and their rules are in w.state.
type position struct {
	pc     uint64
	init   int    // index of w.inits
	deltas int    // number of deltas that are in force
	at     uint32 // line of the last record in force
}

// segment is a range of PCs over which one set of rules of the symbol file is in force.
type segment struct {
	lo, hi uint64
	at     uint32 // line of the last record that changed a rule; 0 without an INIT
}

// verdict is the result of a comparison.
type verdict struct {
	fault         string // empty if the rules are right
	inexpressible bool   // the row needs a rule that STACK CFI may not be able to express
}
