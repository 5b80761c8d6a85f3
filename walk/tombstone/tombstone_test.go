package tombstone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx/companion"
	"symkit/test/programtest"
	"symkit/walk"
	"symkit/walk/dumpfile"
	"symkit/walk/symbols"
)

// stacks walks a dump and returns its stacks, a function with file and line on each line.
func stacks(t *testing.T, path string, opt symbols.Options) (string, *walk.Process) {
	t.Helper()
	s, err := symbols.Open(t.Context(), nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	d, err := dumpfile.Open(t.Context(), path, dumpfile.Options{Files: s.Files()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	res, err := d.Walk(t.Context(), s, walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, stack := range res.Stacks {
		fmt.Fprintf(&out, "%d %s\n", stack.Thread.ID, stack.Thread.Name)
		for _, f := range stack.Frames {
			for _, c := range f.Place.Inlines {
				fmt.Fprintf(&out, "  %s %s:%d inlined\n", c.Func, filepath.Base(c.File), c.Line)
			}
			module := ""
			if f.Module != nil {
				module = f.Module.File()
			}
			fmt.Fprintf(&out, "  %s!%s %s:%d %s\n", module, f.Place.Func, filepath.Base(f.Place.File), f.Place.Line, f.Trust.Key())
		}
	}
	return out.String(), d.Process
}

// TestStacks: the frames of tombstones of all machines and of Android 4 to 16, with the functions of the programs. The
// oracle test of symaddr has the same places from llvm-symbolizer. Tombstones 11 to 23 have the forms of public bug reports
// on GitHub, with our modules instead of theirs:
//
//	11 flutter/flutter 150550                12 firebase/quickstart-unity 1132     13 rixment/awu-plugin 1
//	14 facebook/hermes 967                   15 flutter/flutter 87497              16 dotnet/runtime 109921
//	17 flutter/flutter 90789                 18 cocos2d/cocos2d-x 8425             19 llvm/llvm-project 81483
//	20 facebook/hermes 1434                  21 learntoflutter/flutter_embed_unity 75
//	22 the log format "long", GWP-ASan       23 firebase/firebase-unity-sdk 1055
func TestStacks(t *testing.T) {
	dir := programtest.TombstoneFiles(t)
	paths, _ := filepath.Glob("testdata/*.txt")
	for _, path := range paths {
		got, p := stacks(t, path, symbols.Options{Search: companion.Search{DebugDirs: []string{dir}}})
		got = fmt.Sprintf("%s %s %d %q %s %#x %v\n", p.OS, p.CPU, p.PID, p.Name, p.Crash.Reason, p.Crash.Address, p.Crash.HasAddress) + got
		golden := strings.TrimSuffix(path, ".txt") + ".stacks"
		want, err := os.ReadFile(golden)
		if os.Getenv("UPDATE") != "" {
			err = os.WriteFile(golden, []byte(got), 0o666)
			want = []byte(got)
		}
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\n%s", path, err, got)
		}
	}
}
