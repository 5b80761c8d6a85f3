package lookup

import (
	"slices"
	"testing"
)

// TestLinkage: the linkage name of a function without one in DWARF is that of its symbol. Functions of the same code are
// aliases, of which the parts for exceptions differ.
func TestLinkage(t *testing.T) {
	var all []entry
	text := ""
	for _, s := range []struct {
		addr, size uint64
		name       string
		data       bool
	}{
		{0x1000, 0x20, "_Z1av", false}, {0x1000, 0x20, "_Z1bv", false}, {0x500, 0x10, "_Z1av.cold", false}, {0x510, 0x10, "_Z1cv.part.0.cold", false},
		{0x2000, 0x20, "_Z1cv.part.0", false}, {0x3000, 0x20, "main", false}, {0x4000, 8, "_Z1dv", true}, {0x3010, 4, "_Z1ev", false},
	} {
		from := uint32(len(text))
		text += s.name
		all = append(all, entry{addr: s.addr, size: s.size, end: 0x5000, name: textSpan{from, uint32(len(text))}, data: s.data})
	}
	for _, test := range []struct {
		start, addr uint64
		want        string
	}{
		{0x1000, 0x1008, "_Z1bv"}, {0x1000, 0x508, "_Z1av"}, {0x2000, 0x518, "_Z1cv"}, {0x2000, 0x2000, "_Z1cv"}, {0x1000, 0x600, "_Z1bv"},
		{0x1000, 0x3010, "_Z1bv"}, {0x3000, 0x3000, ""}, {0x4000, 0x4000, ""}, {0x4800, 0x4800, ""}, {0x1004, 0x1008, ""}, {0x10, 0x10, ""},
	} {
		got := newTable(all, text).linkage(test.start, test.addr)
		if got != test.want {
			t.Errorf("%#x from %#x: %q, want %q", test.addr, test.start, got, test.want)
		}
	}
}

// TestVersions: symbols are found by their names without versions.
func TestVersions(t *testing.T) {
	text, all := "", []entry(nil)
	for i, name := range []string{"open@@V_2", "open@V_1", "open64@@V_2", "ope", "_Z4openv@V_1"} {
		from := uint32(len(text))
		text += name
		all = append(all, entry{addr: uint64(i), name: textSpan{from, uint32(len(text))}})
	}
	table := newTable(all, text)
	for name, want := range map[string][]uint64{"open": {0, 1}, "open64": {2}, "ope": nil, "open@V_1": nil, "": nil} {
		for _, n := range []int{1, 5} {
			var got []uint64
			for _, s := range table.readable(nil, name, n) {
				got = append(got, s.Addr)
			}
			if !slices.Equal(got, want[:min(n, len(want))]) {
				t.Errorf("%s: the first %d are %v, all %v", name, n, got, want)
			}
		}
	}
}
