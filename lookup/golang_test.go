package lookup_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/lookup"
	"symkit/test/testfile"
)

// TestGoTable compares stripped programs of Go's releases with symbol files that were made of the DWARF of the same
// programs: functions, inlined calls and lines, at every address of package main, and the addresses of functions by name.
func TestGoTable(t *testing.T) {
	goldens, err := filepath.Glob("../testdata/go/*.sym")
	if err != nil || len(goldens) < 12 {
		t.Fatalf("%v, %d files", err, len(goldens))
	}
	for _, golden := range goldens {
		t.Run(filepath.Base(golden), func(t *testing.T) {
			data, err := testfile.Read(strings.TrimSuffix(golden, ".sym") + ".elf")
			if err != nil {
				t.Fatal(err)
			}
			records, err := testfile.Read(golden)
			if err != nil {
				t.Fatal(err)
			}
			compareGo(t, openBytes(t, data), openPath(t, golden), string(records))
		})
	}
}

// compareGo compares what is known at the addresses of the FUNC records of package main.
func compareGo(t *testing.T, got, want *lookup.File, records string) {
	const load = 0x400000
	compared := 0
	for line := range strings.Lines(records) {
		var addr, size uint64
		var name string
		n, _ := fmt.Sscanf(line, "FUNC %x %x 0 main.%s", &addr, &size, &name)
		if n < 3 {
			continue
		}
		syms := got.Symbols(nil, "main."+name, -1)
		if !slices.ContainsFunc(syms, func(s lookup.Symbol) bool { return s.Addr == load+addr }) {
			t.Errorf("main.%s: %+v, want %#x", name, syms, load+addr)
		}
		for end := addr + size; addr < end; addr++ {
			x, err := got.Frames(nil, load+addr)
			y, _ := want.Frames(nil, addr)
			if err != nil || places(x) != places(y) {
				t.Fatalf("%#x: %v\n%s\nwant:\n%s", addr, err, places(x), places(y))
			}
			compared++
		}
	}
	if compared < 100 || len(got.Losses()) > 0 {
		t.Errorf("%d addresses, losses %v", compared, got.Losses())
	}
}

// places are the functions, files and lines of frames. A symbol file has the paths without "./".
func places(frames []lookup.Frame) string {
	var lines []string
	for _, f := range frames {
		lines = append(lines, fmt.Sprintf("%s at %s:%d, inlined %v", f.Name, strings.TrimPrefix(f.File, "./"), f.Line, f.Inlined))
	}
	return strings.Join(lines, "\n")
}
