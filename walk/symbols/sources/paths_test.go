package sources

import (
	"fmt"
	"testing"

	"symkit/walk"
)

// TestPaths: where symbols of modules are looked for, and where not.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		m    walk.Module
		want string
	}{
		{walk.Module{Path: `C:\a\x.dll`, Name: "y.PDB", DebugID: "A1", CodeID: "4f"}, "[y.PDB/A1/y.sym x.dll/A1/x.dll.sym x.dll/4F/x.sym]"},
		{walk.Module{Path: "/lib/l.so.1", Name: "l.so", DebugID: "A1", BuildID: []byte{0xab}}, "[l.so/A1/l.so.sym l.so.1/A1/l.so.1.sym l.so.1/AB/l.so.1.sym]"},
		{walk.Module{Path: "/x", Name: ".pdb", DebugID: "A1"}, "[.pdb/A1/.pdb.sym x/A1/x.sym]"},
		{walk.Module{Path: "/x/..", Name: "../..", DebugID: "A1", CodeID: "AA"}, "[]"},
		{walk.Module{Path: "/x", Name: "x", DebugID: "../A1", CodeID: "x"}, "[]"},
		{walk.Module{Path: "/x", Name: "x", DebugID: "A 1"}, "[]"},
		{walk.Module{Path: "[vdso]", Name: "a\x00b"}, "[]"},
	} {
		if got := fmt.Sprint(Paths(&c.m)); got != c.want {
			t.Errorf("%q: %s, want %s", c.m.Name, got, c.want)
		}
	}
}
