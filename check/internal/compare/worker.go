package compare

import (
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
)

// worker compares the functions of units. Two goroutines have no worker in common.
type worker struct {
	in    *Input
	out   *Units // what the worker has found
	spent int64  // steps of comparing that in.work does not count yet

	// The other fields are a cache and buffers, used again for each unit or function.
	body       symfile.Body
	same       map[uint64]likeness // by index of INLINE_ORIGIN and number of name
	calls      []call
	nested     []call
	levels     [2]pcs.Set
	symCalls   []call
	keys       pcs.Levels
	ends       []uint64
	unsorted   []call
	borders    []uint64
	have, want []call
}

func newWorker(in *Input, out *Units) *worker {
	return &worker{in: in, out: out, same: map[uint64]likeness{}}
}

// call is an inlined call over [lo, hi), addresses of the ELF file.
type call struct {
	depth          uint32
	lo, hi         uint64
	callLine, file uint32
	name           uint32 // number in naming.Table; of a record, the index of its INLINE_ORIGIN
	at             uint32 // line of the symbol file
}

// likeness is how well a record matches a call of the DWARF.
type likeness uint8

const (
	callDiffers likeness = iota
	callUnread           // all but the function's name, which is not known, agrees
	callUnsure           // the same, and the name, which no code here reads, may be right
	callSame
)

// maxComparisons bounds how often each record is compared. Units and functions of a damaged or
// malicious file can all describe the same code; in sound files each record is compared only a few
// times.
const maxComparisons = 64

// spend counts steps of comparing. The count that all workers share gets many at a time, because
// processors wait for each other when they write to one place.
func (w *worker) spend(steps int64) {
	w.spent += steps
	if w.spent >= 1<<12 {
		w.in.work.spent.Add(w.spent)
		w.spent = 0
	}
}

// exhausted reports whether comparing has to end because the file describes the same code too often. The
// rest counts as not verified then.
func (w *worker) exhausted(check string) bool {
	s := w.in.Sym
	records := len(s.Funcs) + s.Lines + s.Ranges
	if w.in.work.spent.Load() <= int64(maxComparisons*records+1<<24) {
		return false
	}
	w.out.hide(check, noteTooOften)
	return true
}

const noteTooOften = "the same code is described too often"
