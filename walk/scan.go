package walk

import (
	"errors"

	"symkit/walk/internal/cpu"
)

// maxFrameGap is the largest distance, in bytes, from the place of a saved frame pointer to
// the address that it points to (Breakpad: 99.5 % of frames are smaller).
const maxFrameGap = 128 << 10

// scanFP recovers the frame pointer after a scan, which recovers only PC and SP. at is the
// address of the return address. The word below at is the frame pointer that the callee
// pushed, if its value can be one; on x86-64, where few functions have a frame pointer,
// only if the callee's frame pointer points to that word. Otherwise the frame pointer is
// unchanged, if its value can be that of the caller.
func (v *view) scanFP(r, out *cpu.Registers, at uint64) {
	if v.hasLR() {
		return
	}
	place := at - v.WordSize()
	fp, ok := r.Get(v.FP)
	saved, readable := v.Word(place)
	switch {
	case readable && saved > at && saved-place <= maxFrameGap && (fp == place || v.PushesFP):
		out.Set(v.FP, saved)
	case ok && fp > at:
		out.Set(v.FP, fp)
	}
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
func byScan(v *view, c *callee) (out cpu.Registers, _ verdict, err error) {
	switch {
	case v.noScan:
		return out, notFound, errors.New("not wanted")
	case c.least > 0:
		return out, notFound, errLostReturn
	case c.scans <= 0:
		return out, notFound, errors.New("too many scans")
	}

	// The window is larger where a frame's size is least certain.
	n := uint64(scanWords)
	if c.Trust >= TrustSignal {
		n = scanWordsLong
	}
	if v.ScanWords != 0 {
		n = v.ScanWords
	}

	word := v.WordSize()
	sp := max(v.SP(c.regs), c.scan)
	// A return address after a call of this very function is preferred to the
	// nearest one.
	nearest, err := uint64(0), errors.New("no return address in reach")
	hit, foreign, sure, lossy := false, false, false, c.lossy
	fp, known := c.regs.Get(v.FP)
	last := known && fp == 0
	for i := range v.scanReach(n) {
		if i >= n && hit {
			break
		}
		at := v.Narrow(sp + i*word)
		ra, ok := v.Word(at)
		if !ok {
			err, lossy = cpu.ErrMemory, lossy || v.p.MappingAt(at) != nil
			break
		}
		if c.Trust == TrustLeaf && v.ReturnAddr(ra) == c.PC || !v.isReturn(ra) {
			continue // a leaf's saved link register led to f itself
		}
		if v.calls(ra, c.Frame) == isCallee || last && (!hit || foreign) && v.p.inStart(v.ReturnAddr(ra)) {
			nearest, hit, sure = at, true, true
			break
		}
		if !hit {
			nearest, hit, foreign = at, true, v.p.ModuleAt(v.ReturnAddr(ra)) != c.Module
		}
	}

	switch {
	case !hit:
		return out, notFound, err
	case lossy && !sure:
		return out, notFound, errLossy
	}
	// The word after the return address is the least that the stack pointer can be.
	out.PC, _ = v.Word(nearest)
	v.scanFP(c.regs, &out, nearest)
	v.SetSP(&out, nearest+word)
	return out, found, nil
}

// scanReach returns the number of words that a scan reads if the first n have no return
// address: more than n on Windows, if the dump lists the pages with code. There, the
// outermost frames (RtlUserThreadStart) are at the very end of the stack, and no data of the
// system follows them.
func (v *view) scanReach(n uint64) uint64 {
	if !v.p.windows() || len(v.p.Mappings) == 0 {
		return n
	}
	return max(n, min(scanWordsMost, scanWordsAll/uint64(max(1, len(v.p.Threads)))))
}
