package dwarfx

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchmarkData opens Debian's python3.11d of the corpus in SYMKIT_CORPUS, or
// without one the Go fixture.
func benchmarkData(b *testing.B) *Data {
	corpus := os.Getenv("SYMKIT_CORPUS")
	if corpus == "" {
		return openReal(b, "../../testdata/elf/go-x86_64-gc.elf.xz")
	}
	path := filepath.Join(corpus, "python3.11-dbg/usr/bin/python3.11d")
	f, err := elf.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	s, code, ok := elfSections(b, f)
	if !ok {
		b.Fatalf("%s has no DWARF", path)
	}
	d, errs := Open(s, code)
	for _, err := range errs {
		b.Fatal(err)
	}
	return d
}

func benchmarkScan(b *testing.B, inlines bool) {
	d := benchmarkData(b)
	var s Scan
	b.SetBytes(int64(d.size))
	b.ReportAllocs()
	for b.Loop() {
		for i := range d.Units {
			if err := d.ScanUnit(d.Units[i], inlines, &s); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkScan scans all units, once their abbreviations are compiled.
func BenchmarkScan(b *testing.B) { benchmarkScan(b, false) }

// BenchmarkScanInlines scans them with inlined calls.
func BenchmarkScanInlines(b *testing.B) { benchmarkScan(b, true) }

// BenchmarkOpen reads the units' headers and roots.
func BenchmarkOpen(b *testing.B) {
	d := benchmarkData(b)
	b.SetBytes(int64(d.size))
	b.ReportAllocs()
	s := d.Sections
	for _, u := range d.Units {
		s.Info = append(s.Info, u.bytes...)
	}
	for b.Loop() {
		if _, errs := Open(s, d.code); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

// BenchmarkAbbrevs compiles the abbreviations of all units.
func BenchmarkAbbrevs(b *testing.B) {
	d := benchmarkData(b)
	b.SetBytes(int64(len(d.Abbrev)))
	b.ReportAllocs()
	for b.Loop() {
		fresh := New(d.Sections, int(d.size), d.code)
		for i := range d.Units {
			if _, err := fresh.abbrevs(d.Units[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkLines reads all line tables.
func BenchmarkLines(b *testing.B) {
	d := benchmarkData(b)
	var table LineTable
	b.SetBytes(int64(len(d.Line)))
	b.ReportAllocs()
	for b.Loop() {
		for i := range d.Units {
			if err := d.ReadLines(d.Units[i], &table); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestAllocs: scanning a unit into a Scan, and reading lines into a LineTable,
// that have been used before allocates nothing per DIE, call, range or row:
// only the stack of open parents grows anew for each unit.
func TestAllocs(t *testing.T) {
	const perScan = 8 // the stack doubles: 2^7 parents at least
	for _, path := range []string{"testdata/tomb.elf.xz", "../../testdata/elf/cxx-x86_64-gcc12-O2-dw5.elf", "../../testdata/elf/cxx-x86_64-clang14-O2-dw5.elf", "../../testdata/elf/cxx-x86_64-gcc12-O2-dw4.elf"} {
		d := openReal(t, path)
		for _, inlines := range []bool{false, true} {
			var s Scan
			scan := func() {
				for i := range d.Units {
					if err := d.ScanUnit(d.Units[i], inlines, &s); err != nil {
						t.Fatal(err)
					}
				}
			}
			if n := testing.AllocsPerRun(10, scan); n > float64(perScan*len(d.Units)) {
				t.Errorf("%s: scan with inlined calls %v: %v allocations in %d units", path, inlines, n, len(d.Units))
			}
		}
		var table LineTable
		lines := func() {
			for i := range d.Units {
				if err := d.ReadLines(d.Units[i], &table); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := testing.AllocsPerRun(10, lines); n > 0 {
			t.Errorf("%s: lines: %v allocations in %d units", path, n, len(d.Units))
		}
	}
}

// TestAllocsRejected: not even many functions without ranges, or rows in
// discarded code, allocate.
func TestAllocsRejected(t *testing.T) {
	a := le5.asm()
	var text strings.Builder
	text.WriteString("unit\n CompileUnit\n")
	for range 1000 {
		text.WriteString("  Subprogram Lowpc:addr=0 Highpc:data1=1\n   Variable Name:string=v\n")
	}
	d := a.units(text.String()).open(t)
	var s Scan
	scan := func() {
		if err := d.ScanUnit(d.Units[0], true, &s); err != nil || len(s.Funcs) > 0 {
			t.Fatalf("%+v, %v", s.Funcs, err)
		}
	}
	if n := testing.AllocsPerRun(10, scan); n > 2 {
		t.Errorf("%v allocations", n)
	}
}
