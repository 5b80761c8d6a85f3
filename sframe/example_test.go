package sframe_test

import (
	"encoding/binary"
	"fmt"
	"os"

	"symkit/cfi"
	"symkit/sframe"
)

// frame is what SFrame knows of a frame: enough to find the next one.
type frame struct{ pc, sp, fp uint64 }

// nextFrame is get_next_frame of the specification's Appendix A for AMD64: the
// rules of the row for pc, applied to the registers of the frame and to memory.
// The outermost frame has none: ok is false.
func nextFrame(x *sframe.Index, f frame, word func(addr uint64) (uint64, bool)) (next frame, ok bool) {
	fde, ok := x.Find(f.pc)
	if !ok {
		return frame{}, false
	}
	fre, ok, err := fde.Find(f.pc)
	if !ok || err != nil || fre.Outermost() {
		return frame{}, false
	}
	cfa, ra, fp := fde.Rules(&fre)
	next = frame{fp: f.fp}
	if next.sp, ok = apply(cfa, f, 0, word); !ok {
		return frame{}, false
	}
	if next.pc, ok = apply(ra, f, next.sp, word); !ok {
		return frame{}, false
	}
	if fp.Kind != cfi.KindNone {
		next.fp, ok = apply(fp, f, next.sp, word)
	}
	return next, ok
}

// apply gives the value of a rule in a frame whose CFA is known.
func apply(r cfi.Rule, f frame, cfa uint64, word func(addr uint64) (uint64, bool)) (uint64, bool) {
	base := cfa
	switch r.Kind {
	case cfi.KindReg, cfi.KindMemReg:
		switch r.Reg {
		case sframe.AMD64.SP():
			base = f.sp
		case sframe.AMD64.FP():
			base = f.fp
		default:
			return 0, false // not known of any but the innermost frame
		}
	}
	addr := base + uint64(r.Off)
	switch r.Kind {
	case cfi.KindReg, cfi.KindCFA:
		return addr, true
	case cfi.KindMemReg, cfi.KindMemCFA:
		return word(addr)
	}
	return 0, false
}

// Walking a stack: one function called by another, which keeps a frame pointer,
// called from where there is no SFrame.
func Example() {
	data, err := os.ReadFile("testdata/v3-amd64-two.bin")
	if err != nil {
		fmt.Println(err)
		return
	}
	section, err := sframe.Parse(data, sframe.Options{Addr: 0x2050, ABI: sframe.AMD64})
	if err != nil {
		fmt.Println(err)
		return
	}
	index, damaged := sframe.NewIndex(section)

	// bar, in the middle, was called by foo at 0x1006, foo by a stranger.
	stack := make([]byte, 0x230)
	binary.LittleEndian.PutUint64(stack[0x208:], 0x1006) // bar's return address
	binary.LittleEndian.PutUint64(stack[0x210:], 0x7fff) // the FP that foo saved
	binary.LittleEndian.PutUint64(stack[0x218:], 0x4000) // foo's return address
	const base = 0x10000
	word := func(addr uint64) (uint64, bool) {
		if addr < base || addr > base+uint64(len(stack))-8 {
			return 0, false
		}
		return binary.LittleEndian.Uint64(stack[addr-base:]), true
	}

	f, ok := frame{pc: 0x1013, sp: base, fp: base + 0x210}, true
	for ; ok; f, ok = nextFrame(index, f, word) {
		fmt.Printf("pc %#x sp %#x fp %#x\n", f.pc, f.sp, f.fp)
	}
	fmt.Println(len(damaged), "functions damaged")
	// Output:
	// pc 0x1013 sp 0x10000 fp 0x10210
	// pc 0x1006 sp 0x10210 fp 0x10210
	// pc 0x4000 sp 0x10220 fp 0x7fff
	// 0 functions damaged
}
