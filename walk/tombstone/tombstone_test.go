package tombstone_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/walk"
	"symkit/walk/dumpfile"
	"symkit/walk/symbols"
)

// programs are the fixtures that the tombstones of testdata have frames in.
var programs = []string{"aarch64-gcc12-O2", "arm-gcc12-O2", "thumb-gcc12-O2", "x86_64-clang14-O2", "i686-gcc12-O2", "riscv64-gcc12-O2"}

// buildIDs returns a directory of debug files that has the programs.
func buildIDs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range programs {
		path, err := filepath.Abs("../../testdata/elf/cxx-" + name + "-dw5.elf")
		if err != nil {
			t.Fatal(err)
		}
		f, err := elfx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		id := hex.EncodeToString(f.BuildID())
		f.Close()
		err = os.MkdirAll(filepath.Join(dir, ".build-id", id[:2]), 0o777)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, ".build-id", id[:2], id[2:]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

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

// TestStacks: the frames of tombstones of all machines and of Android 4.4 to 15, with the functions of the programs. The
// oracle test has the same places from addr2line.
func TestStacks(t *testing.T) {
	dir := buildIDs(t)
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
