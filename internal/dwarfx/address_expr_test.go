package dwarfx

import (
	"fmt"
	"slices"
	"testing"

	"symkit/located"
)

// TestLowPC: the forms of DW_AT_low_pc that clang's -minimize-addr-in-v5 writes: an
// expression (DWARF 5 §2.5), and an index with an offset.
func TestLowPC(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        uint64 // 0: an error
	}{
		{"address", "addr=0x1100", 0x1100},
		{"index", "addrx=1", 0x2000},
		{"index and offset", "LLVM_addrx_offset=0x100000010", 0x2010},
		{"index outside of the section and offset", "LLVM_addrx_offset=0x900000010", 0},
		{"DW_OP_addr", "exprloc=0x032143000000000000", 0x4321},
		{"DW_OP_addrx", "exprloc=0xa101", 0x2000},
		{"DW_OP_GNU_addr_index", "exprloc=0xfb00", 0x1000},
		{"const4u, plus", "exprloc=0xa1010c3412000022", 0x3234},
		{"plus_uconst", "exprloc=0xa100238102", 0x1101},
		{"const1s, plus", "exprloc=0xa1010eff0000000000000022", 0x20ff},
		{"negative const2s, plus", "exprloc=0xa1010bfeff22", 0x1ffe},
		{"consts, constu", "exprloc=0x108040117f22", 0x1fff},
		{"lit, minus", "exprloc=0xa101311c", 0x1fff},
		{"empty", "exprloc=0x", 0},
		{"two values", "exprloc=0xa101a101", 0},
		{"nothing to add", "exprloc=0xa10122", 0},
		{"nothing to add a number to", "exprloc=0x2301", 0},
		{"cut", "exprloc=0xa1010c3412", 0},
		{"five values", "exprloc=0x303030303022222222", 0},
		{"a register", "exprloc=0x50", 0},
		{"index outside of the section", "exprloc=0xa107", 0},
		{"a number", "data8=0x1000", 0},
	} {
		for _, name := range []string{"Subprogram Highpc:data4=0x10", "Subprogram Highpc:udata=0x10 Name:string=f"} {
			a := le5.asm()
			a.addrs = []uint64{0x1000, 0x2000}
			d := a.units("unit\n CompileUnit\n  " + name + " Lowpc:" + test.value + "\n  Subprogram Lowpc:addr=0x9000 Highpc:data4=1\n").open(t)
			var s Scan
			err := d.ScanUnit(d.Units[0], true, &s)
			want := []Range{{Lo: test.want, Hi: test.want + 0x10}, {Lo: 0x9000, Hi: 0x9001}}
			if test.want == 0 {
				want = want[1:]
				checkErr(t, err, ErrPC, ".debug_info", int(errOffset(err)))
			} else if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			if !slices.Equal(s.Ranges, want) {
				t.Errorf("%s: %#x, want %#x", test.name, s.Ranges, want)
			}
		}
	}
}

// errOffset returns the offset of a located error.
func errOffset(err error) int {
	e, ok := err.(*located.Error)
	if !ok {
		panic(fmt.Sprintf("not located: %v", err))
	}
	return e.Offset
}

// TestHighPC: a high_pc that is neither an address nor a number loses its function.
func TestHighPC(t *testing.T) {
	d := le5.asm().units("unit\n CompileUnit\n  Subprogram Lowpc:addr=0x1000 Highpc:exprloc=0x50\n  Subprogram Lowpc:addr=0x9000 Highpc:data4=1\n").open(t)
	var s Scan
	err := d.ScanUnit(d.Units[0], true, &s)
	if len(s.Funcs) != 1 {
		t.Errorf("%d functions", len(s.Funcs))
	}
	checkErr(t, err, ErrPC, ".debug_info", errOffset(err))
}
