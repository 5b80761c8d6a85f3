package walk

// Limits of the memory and pointers that are kept for each stack beside its frames.
const (
	maxRegisterFrames = 256     // frames of a stack whose registers are kept
	maxAllRegisters   = 1 << 16 // frames of all stacks whose registers are kept
	maxContents       = 1 << 16 // bytes of a stack that are searched for pointers
)

// Pointer is a word of the stack that points to code with a name.
type Pointer struct {
	Addr  uint64 // of the word
	Value uint64
	// Module and Place are those of Value.
	Module *Module
	Place  *Place
}

// contents searches the stack of frame i, which ends where the caller's stack begins, for
// pointers to code.
func (w *walker) contents(frames []Frame, i int) {
	f := &frames[i]
	f.Pointers = w.pointersIn(f.SP, frames[i+1].SP)
}

// allPointers searches the whole memory of a stack for pointers to code.
func (w *walker) allPointers(s *Stack) {
	t := s.Thread
	if w.view.CPU == nil || t.StackSize == 0 || len(s.Frames) == 0 {
		return
	}
	w.looked = 0
	s.Pointers = w.pointersIn(s.Frames[0].SP, t.StackBase+t.StackSize)
}

// pointersIn returns the words in a range of the stack that point to functions.
func (w *walker) pointersIn(at, end uint64) (out []Pointer) {
	word := w.view.WordSize()
	for ; at < end && end-at >= word && w.looked < maxContents; at += word {
		w.looked += word
		v, ok := w.view.Word(at)
		if !ok {
			continue
		}

		// A word that points to no named code says nothing about the program.
		m := w.view.p.ModuleAt(v)
		if m == nil {
			continue
		}
		if place := w.view.syms.pointee(w.view.ctx, m, v); place.Func != "" {
			out = append(out, Pointer{at, v, m, place})
		}
	}
	return out
}
