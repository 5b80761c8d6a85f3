package walk

import (
	"testing"

	"symkit/cfi"
)

// TestPublicEnds: no name reaches beyond the end of its symbol. Where the size is not known, the name
// is marked. In a stripped file a scan takes words that follow a call.
func TestPublicEnds(t *testing.T) {
	const publics = "MODULE Linux x86_64 0 x\nPUBLIC 1000 0 first\nPUBLIC 1100 0 outer\nPUBLIC 1110 0 inner\nPUBLIC 1300 0 last\n"
	const sizes = "INFO PUBLIC_SIZES 1000 1300 10 80 10 0\n"
	for _, test := range []struct {
		name, symbols string
		pc            uint64
		want          string
	}{
		{"in the symbol", publics + sizes, 0x40100f, "first"},
		{"after it", publics + sizes, 0x401010, ""},
		{"after an inner one", publics + sizes, 0x401120, "outer"},
		{"after both", publics + sizes, 0x401180, ""},
		{"without a size", publics + sizes, 0x401301, "after last"},
		{"at its start", publics + sizes, 0x401300, "last"},
		{"no sizes", publics, 0x401010, "after first"},
		{"the sizes are of other records", publics + "INFO PUBLIC_SIZES 1000 1300 10 80 10\n", 0x401010, "after first"},
		{"the sizes are of other addresses", publics + "INFO PUBLIC_SIZES 1001 1300 80 10 0\n", 0x401100, "outer"},
		{"rules reach from the symbol to the address", publics + "STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x401010, "first"},
		{"rules end before", publics + "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x401010, "after first"},
	} {
		p := process("x86_64", regsOf(test.pc, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, 0))
		res, err := Walk(t.Context(), p, fixed(test.symbols), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Stacks[0].Frames[0].Place.Name(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}

	// The word after the end of outer follows a call in the second process alone.
	stack := words(0x8000, 8, 0x401258, 0x401008, 5)
	regs := regsOf(0x401004, map[cfi.Reg]uint64{7: 0x8000})
	p := process("x86_64", regs, stack)
	if got, want := stackOf(t, p, publics+sizes), "first@context first@scan"; got != want {
		t.Errorf("unknown code: %s, want %s", got, want)
	}
	p = process("x86_64", regs, stack, codeAt(t, 0x1250, "909090e800000000"))
	if got, want := stackOf(t, p, publics+sizes), "first@context 0x401258@scan first@scan"; got != want {
		t.Errorf("after a call: %s, want %s", got, want)
	}
}
