package inflate

import "sync"

// chooseLoops selects the assembly if the processor has its instructions. The functions in
// Go do the same; TestGoLoops and FuzzInflate compare the two. The processor is asked when
// the first stream is inflated: a hypervisor traps each CPUID instruction, which takes
// longer than all other preparations of this package.
var chooseLoops = sync.OnceFunc(func() {
	bmi, avx2 := extensions()
	if bmi {
		rounds = roundsBMI2
	}
	if avx2 {
		adlerSums = adlerSumsAVX2
	}
})

// Bits of CPUID and XCR0 (Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2A "CPUID", volume 1 §13.3).
const (
	leaf1OSXSAVE = 1 << 27 // ECX: XGETBV can be executed
	leaf7BMI1    = 1 << 3  // EBX
	leaf7AVX2    = 1 << 5  // EBX
	leaf7BMI2    = 1 << 8  // EBX
	xcr0Vectors  = 1<<1 | 1<<2
)

// extensions reports whether the processor has BMI1 and BMI2, and whether the processor and
// the operating system support AVX2.
func extensions() (bmi, avx2 bool) {
	last, _, _ := cpuid(0, 0)
	if last < 7 {
		return false, false
	}
	_, _, features := cpuid(1, 0)
	_, extended, _ := cpuid(7, 0)

	// The system must save the upper halves of the vector registers.
	vectors := features&leaf1OSXSAVE != 0 && xgetbv()&xcr0Vectors == xcr0Vectors
	const both = leaf7BMI1 | leaf7BMI2
	return extended&both == both, vectors && extended&leaf7AVX2 != 0
}

// cpuid executes CPUID with leaf in EAX and subleaf in ECX.
//
//go:noescape
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx uint32)

// xgetbv returns the low half of XCR0.
//
//go:noescape
func xgetbv() uint32

// roundsBMI2 is roundsGo with three-operand shifts, which need no moves, and with all
// state in registers, of which the compiler has too few.
//
//go:noescape
func roundsBMI2(d *decoder, outEnd, inEnd int) (undo uint64)

// adlerSumsAVX2 is adlerSumsGo with vectors of 32 bytes.
//
//go:noescape
func adlerSumsAVX2(p []byte) (sum, weighted uint64)
