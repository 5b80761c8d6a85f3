package walk

import "errors"

// maxFrameGap is the largest distance, in bytes, from the place of a saved frame pointer to
// the address that it points to (Breakpad: 99.5 % of frames are smaller).
const maxFrameGap = 128 << 10

// scanFP recovers the frame pointer after a scan, which recovers only PC and SP. at is the
// address of the return address. The word below at is the frame pointer that the callee
// pushed, if its value can be one; on x86-64, where few functions have a frame pointer,
// only if the callee's frame pointer points to that word. Otherwise the frame pointer is
// unchanged, if its value can be that of the caller.
func (w *walker) scanFP(r, out *Registers, at uint64) {
	if !w.cpu.hasFP || w.cpu.lr != RegPC {
		return
	}
	place := at - uint64(w.cpu.arch.WordSize)
	fp, ok := r.Get(w.cpu.fp)
	v, readable := w.eval.word(place)
	switch {
	case readable && v > at && v-place <= maxFrameGap && (fp == place || w.cpu == x86CPU):
		out.Set(w.cpu.fp, v)
	case ok && fp > at:
		out.Set(w.cpu.fp, fp)
	}
}

// sameStack reports whether fp is above addr, and the memory from the word at addr
// to the word at fp is contiguous, as in one stack.
func (w *walker) sameStack(addr, fp uint64) bool {
	return fp > addr && w.p.Memory.Bytes(addr, fp-addr+uint64(w.cpu.arch.WordSize)) != nil
}

// Limits of a scan, in words. A scan reads more words where the frame is less certain to be
// small (as in Breakpad's walkers). All scans of a stack together find no more than
// maxScanned frames.
const (
	scanWords     = 40
	scanWordsLong = 160
	scanWordsMost = 8192    // of a scan that has found nothing (scanReach)
	scanWordsAll  = 2 << 20 // of all such scans; the threads share them
	maxScanned    = 1024
)

var (
	// errLostReturn: above the frame are the variables of an unknown caller, and words that earlier
	// calls left behind.
	errLostReturn = errors.New("the word with the return address is not in the dump")
	errLossy      = errors.New("the dump lacks a part of the stack, and no call of this function is in the rest")
)

// byScan searches for a return address above the stack pointer. The nearest return address
// after a call of the frame's own function is best; otherwise the nearest one is taken. If
// the frame pointer is 0, as _start leaves it, only the caller of the program's main is
// between the frame and _start: then a return address in _start is better than one in a
// module other than the frame's.
//
// Where the dump lacks words of the stack, the return address may be one of them, or the frame may not
// begin where it seems to. Only a call of the frame's own function is then a reason to go on.
func (w *walker) byScan(f *Frame, r *Registers) (out Registers, v verdict, err error) {
	switch {
	case w.maxScanned == 0:
		return out, notFound, errors.New("not wanted")
	case w.extent.least > 0:
		return out, notFound, errLostReturn
	case w.scanned >= w.maxScanned:
		return out, notFound, errors.New("too many scans")
	}

	// The window is larger where a frame's size is least certain.
	n := uint64(scanWords)
	if f.Trust >= TrustSignal {
		n = scanWordsLong
	}
	if w.cpu.scan != 0 {
		n = w.cpu.scan
	}

	word := uint64(w.cpu.arch.WordSize)
	sp := max(w.cpu.sp(r), w.extent.scan)
	// A return address after a call of this very function is preferred to the
	// nearest one.
	nearest, err := uint64(0), errors.New("no return address in reach")
	hit, foreign, sure, lossy := false, false, false, w.lossy
	fp, known := r.Get(w.cpu.fp)
	last := w.cpu.hasFP && known && fp == 0
	for i := range w.scanReach(n) {
		if i >= n && hit {
			break
		}
		at := w.cpu.narrow(sp + i*word)
		ra, ok := w.eval.word(at)
		if !ok {
			err, lossy = ErrMemory, lossy || w.p.MappingAt(at) != nil
			break
		}
		if f.Trust == TrustLeaf && w.returnAddr(ra) == f.PC || !w.scanHit(ra) {
			continue // a leaf's saved link register led to f itself
		}
		if w.calls(ra, f) == isCallee || last && (!hit || foreign) && w.p.inStart(w.returnAddr(ra)) {
			nearest, hit, sure = at, true, true
			break
		}
		if !hit {
			nearest, hit, foreign = at, true, w.p.ModuleAt(w.returnAddr(ra)) != f.Module
		}
	}

	switch {
	case !hit:
		return out, notFound, err
	case lossy && !sure:
		return out, notFound, errLossy
	}
	// The word after the return address is the least that the stack pointer can be.
	w.scanned++
	out.PC, _ = w.eval.word(nearest)
	w.scanFP(r, &out, nearest)
	out.Set(w.cpu.arch.SP, w.cpu.narrow(nearest+word))
	return out, found, nil
}

// scanReach returns the number of words that a scan reads if the first n have no return
// address: more than n on Windows, if the dump lists the pages with code. There, the
// outermost frames (RtlUserThreadStart) are at the very end of the stack, and no data of the
// system follows them.
func (w *walker) scanReach(n uint64) uint64 {
	if !w.p.windows() || len(w.p.Mappings) == 0 {
		return n
	}
	return max(n, min(scanWordsMost, scanWordsAll/uint64(max(1, len(w.p.Threads)))))
}

// scanHit reports whether a word of the stack counts as a return address: the word points
// into a module, after a call, and into a function if the module has symbols. In a stripped file, the
// call itself must be known instead.
func (w *walker) scanHit(ra uint64) bool {
	addr := w.returnAddr(ra)
	if addr < lowestPC || !w.returnsToCode(ra) {
		return false
	}
	// No call is known to be before _start; startup code keeps the address of _start on
	// the stack.
	if addr == w.p.Entry && w.p.Memory.Bytes(addr-1, 1) == nil {
		return false
	}

	m := w.p.ModuleAt(addr - 1)
	if m == nil {
		return len(w.p.Modules) == 0
	}
	idx := w.index(m)
	if idx == nil || w.syms.place(w.ctx, m, addr-1).Func != "" {
		return true
	}
	// Most functions of a stripped file have no symbol.
	funcs, _, _ := idx.Counts()
	_, kind := w.callTarget(ra)
	return funcs == 0 && kind != isHidden
}
