package walk

import (
	"fmt"
	"testing"

	"symkit/cfi"
)

// TestInjected: the caller of Go's runtime.sigpanic and its like was interrupted, not called: it is
// looked up at its PC itself, here the first instruction of a line, and of a function. Where there is
// a link register, the handler pushed it.
func TestInjected(t *testing.T) {
	const lines = `MODULE Linux x86_64 0 app
FILE 0 a.go
FUNC 1000 100 0 %s
FUNC 1100 80 0 before
FUNC 1180 80 0 middle
1180 20 7 0
11a0 60 8 0
FUNC 1200 100 0 _start
STACK CFI INIT 1000 100 .cfa: %[2]s %[3]d + .ra: .cfa -%[4]d + ^
STACK CFI INIT 1180 80 .cfa: %[2]s %[5]d + .ra: %[6]s
STACK CFI 11a0 .cfa: %[2]s %[3]d + .ra: .cfa -%[4]d + ^
STACK CFI INIT 1200 100 .cfa: %[2]s .ra: 1
`
	for _, test := range []struct {
		cpu    string
		pushed int // bytes for the link register; 0: there is none
		leaf   string
	}{
		{"x86_64", 0, ".cfa -8 + ^"}, {"x86", 0, ".cfa -4 + ^"}, {"arm64", 16, "x30"}, {"arm", 4, "lr"}, {"mips64", 8, "$ra"},
		{"mips/be", 4, "$ra"}, {"ppc64", 32, "lr"}, {"riscv64", 8, "ra"}, {"s390x", 8, "r14"},
	} {
		c := machineOf(test.cpu)
		word := c.arch.WordSize
		entry := 0 // bytes of the frame at a function's first instruction
		if test.pushed == 0 {
			entry = word
		}
		for _, fn := range []string{"runtime.sigpanic", "runtime.asyncPreempt", "runtime.asyncPreempt.abi0", "runtime.debugCallV2"} {
			for _, pc := range []uint64{0x401180, 0x4011a0} {
				stack := make([]uint64, 64)
				at := 0x8000 + 2*word
				put := func(v uint64) { stack[(at-0x8000)/word] = v; at += word }
				at -= word
				put(pc) // sigpanic's return address
				if test.pushed > 0 {
					put(0x401250)
					at += test.pushed - word
				}
				if pc == 0x4011a0 {
					at += word
				}
				if pc == 0x4011a0 || test.pushed == 0 {
					put(0x401250)
				}
				name, big := bigName(test.cpu)
				mem := words(0x8000, word, stack...)
				if big {
					mem = bigEndian(mem, word)
				}
				p := process(name, regsOf(0x401050, map[cfi.Reg]uint64{c.arch.SP: 0x8000}), mem)
				p.BigEndian = big
				above := -int(c.arch.SPOffset) // of the CFA, above the caller's stack pointer
				text := fmt.Sprintf(lines, fn, c.arch.RegName(c.arch.SP), 2*word+above, word+above, entry+above, test.leaf)
				got, want := stackOf(t, p, text), fn+"@context middle@cfi _start@cfi end"
				if got != want {
					t.Errorf("%s, %#x: %s, want %s", test.cpu, pc, got, want)
					continue
				}
				res, err := Walk(t.Context(), p, fixed(text), Options{})
				if err != nil {
					t.Fatal(err)
				}
				if f := &res.Stacks[0].Frames[1]; !f.Exact || f.Place.Line != uint32(7+(pc-0x401180)/0x20) {
					t.Errorf("%s, %#x: exact: %v, line %d", test.cpu, pc, f.Exact, f.Place.Line)
				}
			}
		}
	}
}
