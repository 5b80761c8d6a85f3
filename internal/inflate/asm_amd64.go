package inflate

import "golang.org/x/sys/cpu"

// The assembly is used if the processor has its instructions. The functions in Go do the
// same; TestGoLoops and FuzzInflate compare the two.
func init() {
	if cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		rounds = roundsBMI2
	}
	if cpu.X86.HasAVX2 {
		adlerSums = adlerSumsAVX2
	}
}

// roundsBMI2 is roundsGo with three-operand shifts, which need no moves, and with all
// state in registers, of which the compiler has too few.
//
//go:noescape
func roundsBMI2(d *decoder, outEnd, inEnd int) (undo uint64)

// adlerSumsAVX2 is adlerSumsGo with vectors of 32 bytes.
//
//go:noescape
func adlerSumsAVX2(p []byte) (sum, weighted uint64)
