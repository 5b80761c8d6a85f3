package unwind

import (
	"testing"

	"symkit/cfi"
)

// TestLinkagePCs: the PCs of a row of GNU ld's linkage table are counted as if one by one.
func TestLinkagePCs(t *testing.T) {
	for k := range uint64(16) {
		p := pltRule{reg: 7, off: 8, k: k}
		for lo := range uint64(40) {
			for hi := lo; hi < 80; hi += 3 {
				for _, off := range []int64{0, 8, 16} {
					other := cfi.Rule{Kind: cfi.KindReg, Reg: 7, Off: off}
					want := uint64(0)
					for pc := lo; pc < hi; pc++ {
						if is := p.off + 8*int64(min(max(pc%16+1, k)-k, 1)); is != off {
							want++
						}
					}
					if got := p.differ(lo, hi, other); got != want {
						t.Fatalf("[%d, %d), from byte %d on, CFA+%d: %d PCs, want %d", lo, hi, k, off, got, want)
					}
				}
			}
		}
	}
}
