package inflate

import "golang.org/x/sys/cpu"

// Assembly where the processor has the instructions. The functions in Go do
// the same; TestGoLoops and FuzzInflate hold both to it.
func init() {
	if cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		rounds = roundsBMI2
	}
	if cpu.X86.HasAVX2 {
		adlerSums = adlerSumsAVX2
	}
}

// roundsBMI2 is roundsGo with shifts of three operands, which need no moves,
// and with all state in registers, for which the compiler has some too few.
//
//go:noescape
func roundsBMI2(d *decoder, outEnd, inEnd int) (undo uint64)

// adlerSumsAVX2 is adlerSumsGo in vectors of 32 bytes.
//
//go:noescape
func adlerSumsAVX2(p []byte) (sum, weighted uint64)
