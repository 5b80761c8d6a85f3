package gosym

import (
	"fmt"
	"testing"
)

// TestTenfold: a function of Go 1.18 in testdata/go has inlined calls four deep. Ten times as many are read, as many as
// a table can name are refused.
func TestTenfold(t *testing.T) {
	for _, test := range []struct {
		depth int
		ok    bool
	}{{10 * 4, true}, {maxDepth + 1, false}} {
		fn := asmFunc{name: "main.main", size: uint64(test.depth + 1), start: 3, files: []run{{0, uint32(test.depth + 1)}},
			lines: []run{{5, uint32(test.depth + 1)}}, inl: []run{{-1, 1}}}
		for i := range test.depth {
			// Call i is at the instruction before it, which is in call i-1.
			fn.inl = append(fn.inl, run{int32(i), 1})
			fn.tree = append(fn.tree, asmCall{fmt.Sprint("lib.f", i), uint32(i), 19})
		}
		a := &asm{version: Go120, ptr: 8, quantum: 1, text: 0x401000, addr: 0x600000, files: []string{"/src/main.go"}, funcs: []asmFunc{fn}}
		data, img := a.build()
		tab, err := Open(".gopclntab", data, a.addr, img)
		if err != nil {
			t.Fatal(err)
		}
		var in Inlines
		for f, err := range tab.Funcs() {
			if err != nil {
				t.Fatal(err)
			}
			err = tab.Inlines(f, &in)
			if (err == nil) != test.ok {
				t.Errorf("%d deep: %v", test.depth, err)
			}
			if deepest := len(in.Calls); test.ok && (deepest != test.depth || in.Calls[deepest-1].Depth != uint32(test.depth-1)) {
				t.Errorf("%d deep: %d calls, the last %d deep", test.depth, deepest, in.Calls[deepest-1].Depth)
			}
		}
	}
}
