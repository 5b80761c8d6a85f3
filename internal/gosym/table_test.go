package gosym

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"symkit/located"
)

// TestProgram compares a program of the Go release at hand with debug/gosym
// and with its DWARF.
func TestProgram(t *testing.T) {
	f := openFile(t, build(t, "go", nil))
	tab := f.table(t)
	if !tab.module.found || !tab.HasInlines() || tab.Version() != Go120 {
		t.Fatalf("module %v, inlines %v, version %v", tab.module.found, tab.HasInlines(), tab.Version())
	}
	compareGosym(t, f, tab)
	if differ := compareTwin(t, f, tab); differ > 0 {
		t.Errorf("%d stacks differ from DWARF", differ)
	}
}

// TestFind finds the table of a program without section headers.
func TestFind(t *testing.T) {
	f := openFile(t, build(t, "go", nil, "-ldflags=-s -w"))
	for _, p := range f.Progs {
		if p.Vaddr > f.addr || f.addr >= p.Vaddr+p.Filesz {
			continue
		}
		data := f.image.Read(p.Vaddr, p.Filesz)
		off := Find(data, p.Vaddr)
		if uint64(off) != f.addr-p.Vaddr {
			t.Fatalf("found at %#x, want %#x", off, f.addr-p.Vaddr)
		}
		tab, err := Open("segment", data[off:], f.addr, f.image)
		if err != nil {
			t.Fatal(err)
		}
		compareGosym(t, f, tab)
	}
	if off := Find([]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0}, 0); off != -1 {
		t.Errorf("found at %#x, want nothing", off)
	}
}

// sample is two functions: main calls a, which calls b; both were inlined. The
// second function has padding.
func sample(version Version, big bool, ptr int, quantum byte) *asm {
	q := uint32(quantum)
	return &asm{
		version: version, big: big, ptr: ptr, quantum: quantum,
		text: 0x401000, addr: 0x600000,
		files: []string{"/src/main.go", "/src/lib.go"},
		funcs: []asmFunc{{
			name: "main.main", size: 16 * uint64(q), start: 3,
			files: []run{{0, 4 * q}, {1, 8 * q}, {0, 4 * q}},
			lines: []run{{5, 2 * q}, {6, 2 * q}, {20, 2 * q}, {31, 2 * q}, {20, 2 * q}, {31, 2 * q}, {7, 4 * q}},
			inl:   []run{{-1, 3 * q}, {0, 3 * q}, {1, 2 * q}, {0, 2 * q}, {1, 2 * q}, {-1, 4 * q}},
			tree:  []asmCall{{"lib.a", 2 * q, 19}, {"lib.b", 4 * q, 30}},
		}, {
			name: "main.(*T).Set", size: 8 * uint64(q), start: 40,
			files: []run{{0, 6 * q}},
			lines: []run{{41, 6 * q}},
		}},
	}
}

// dump is the text of all functions, rows and calls; offsets in code are in
// units of the quantum.
func dump(t *testing.T, tab *Table, text uint64) string {
	t.Helper()
	var b strings.Builder
	var in Inlines
	unit := func(pc uint64) uint64 { return (pc - text) / uint64(tab.quantum) }
	for f, err := range tab.Funcs() {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "func %d-%d %s line %d\n", unit(f.Entry), unit(f.End), tab.Name(f.Name), f.StartLine)
		for row, err := range tab.Lines(f) {
			if err != nil {
				fmt.Fprintf(&b, "error %v\n", err)
				continue
			}
			fmt.Fprintf(&b, "  %d-%d %s:%d\n", unit(row.Start), unit(row.End), tab.File(row.File), row.Line)
		}
		if err := tab.Inlines(f, &in); err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
		}
		for _, c := range in.Calls {
			fmt.Fprintf(&b, "  call %s line %d at %s:%d depth %d parent %d", tab.Name(c.Name), c.StartLine, tab.File(c.File), c.Line, c.Depth, c.Parent)
			for _, r := range in.Ranges[c.First:c.Last] {
				fmt.Fprintf(&b, " %d-%d", unit(r.Lo), unit(r.Hi))
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

const sampleText = `func 0-16 main.main line 3
  0-2 /src/main.go:5
  2-4 /src/main.go:6
  4-6 /src/lib.go:20
  6-8 /src/lib.go:31
  8-10 /src/lib.go:20
  10-12 /src/lib.go:31
  12-16 /src/main.go:7
  call lib.a line 19 at /src/main.go:6 depth 0 parent -1 3-12
  call lib.b line 30 at /src/lib.go:20 depth 1 parent 0 6-8 10-12
func 16-22 main.(*T).Set line 40
  16-22 /src/main.go:41
`

// TestLayouts reads the same content in every layout.
func TestLayouts(t *testing.T) {
	for _, version := range []Version{Go12, Go116, Go118, Go120} {
		for _, big := range []bool{false, true} {
			for _, ptr := range []int{4, 8} {
				for _, quantum := range []byte{1, 2, 4} {
					t.Run(fmt.Sprintf("%v big=%v ptr=%d quantum=%d", version, big, ptr, quantum), func(t *testing.T) {
						a := sample(version, big, ptr, quantum)
						testLayout(t, a)
						a.epclntab = version == Go120
						testLayout(t, a)
					})
				}
			}
		}
	}
}

func testLayout(t *testing.T, a *asm) {
	t.Helper()
	data, im := a.build()
	pad := make([]byte, 24)
	if off := Find(append(pad, data...), a.addr-24); off != 24 {
		t.Errorf("found at %d, want 24", off)
	}
	tab, err := Open(".gopclntab", data, a.addr, im)
	if err != nil {
		t.Fatal(err)
	}
	want := sampleText
	if a.version < Go120 {
		for _, line := range []string{" line 3\n", " line 40\n"} {
			want = strings.Replace(want, line, " line 0\n", 1)
		}
		want = strings.NewReplacer("line 19 at", "line 0 at", "line 30 at", "line 0 at").Replace(want)
	}
	if a.version < Go116 {
		lines := strings.SplitAfter(want, "\n")
		want = ""
		for _, l := range lines {
			if !strings.Contains(l, "  call ") {
				want += l
			}
		}
	}
	if tab.Version() != a.version || tab.nfunc != 2 || tab.HasInlines() != (a.version >= Go116) {
		t.Errorf("version %v, %d functions, inlines %v", tab.Version(), tab.nfunc, tab.HasInlines())
	}
	if got := dump(t, tab, a.text); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFutureModule reads module data with words that no known release has: what
// is wanted is found by what it must satisfy.
func TestFutureModule(t *testing.T) {
	for _, test := range []struct {
		name        string
		front, more []uint64
	}{
		{"go1.27", nil, []uint64{0x100, 0x200, 0x300}},
		{"addresses", nil, []uint64{0x401000, dataAddr, dataAddr + 0x1008, 0x600000, treeAddr - 16, treeAddr + 16}},
		{"slices", []uint64{dataAddr, 2, 2}, []uint64{dataAddr, 2, 2, 0, 0, 0, dataAddr, 4, 4}},
		{"many", []uint64{1, 2, 3, 4, 5, 6, 7}, make([]uint64, 20)},
	} {
		for _, sects := range [][]textSect{nil, {{0, 64, 0x401000}, {64, 96, 0x401040}}} {
			a := sample(Go120, false, 8, 4)
			a.epclntab, a.moreFront, a.more, a.sects = true, test.front, test.more, sects
			testLayout(t, a)
			data, im := a.build()
			tab, err := Open(".gopclntab", data, a.addr, im)
			if err != nil {
				t.Fatal(err)
			}
			if tab.module.gofunc != treeAddr || len(tab.module.sects) != len(sects) {
				t.Errorf("%s: trees at %#x, %d text sections", test.name, tab.module.gofunc, len(tab.module.sects))
			}
		}
	}
}

// TestNoGoFunc: without a word that makes the trees valid there are no inlined
// calls, rather than an error for each function.
func TestNoGoFunc(t *testing.T) {
	data, im := sample(Go120, false, 8, 1).build()
	treeAt(im, 0)[3] = 1 // padding
	tab, err := Open(".gopclntab", data, 0x600000, im)
	if err != nil {
		t.Fatal(err)
	}
	if err := walk(tab); err != nil || !tab.module.found || tab.HasInlines() {
		t.Errorf("%v, module %v, inlines %v", err, tab.module.found, tab.HasInlines())
	}
}

// TestEmptySteps: ranges without code, as the assembler of s390x writes, change
// the value only. Without an end of them the lines are lost, not the function.
func TestEmptySteps(t *testing.T) {
	for _, test := range []struct {
		empty int
		want  string
	}{
		{1, "func 16-22 main.(*T).Set line 40\n  16-18 /src/main.go:41\n  18-22 /src/main.go:42\n"},
		{maxEmpty, "func 16-22 main.(*T).Set line 40\n  16-18 /src/main.go:41\n  18-22 /src/main.go:42\n"},
		{maxEmpty + 1, "func 16-24 main.(*T).Set line 40\n  16-18 /src/main.go:41\nerror"},
	} {
		a := sample(Go120, true, 8, 2)
		f := &a.funcs[1]
		f.lines = []run{{41, 4}}
		for i := range test.empty {
			f.lines = append(f.lines, run{int32(50 + i), 0})
		}
		f.lines = append(f.lines, run{42, 8})
		data, im := a.build()
		tab, err := Open(".gopclntab", data, a.addr, im)
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(t, tab, a.text); !strings.Contains(got, test.want) {
			t.Errorf("%d empty ranges: got\n%swant\n%s", test.empty, got, test.want)
		}
		if err := walk(tab); test.empty > maxEmpty && !errors.Is(err, ErrStep) {
			t.Errorf("%d empty ranges: %v", test.empty, err)
		}
	}
}

// TestTextSections places functions of a second text section elsewhere.
func TestTextSections(t *testing.T) {
	a := sample(Go120, false, 8, 4)
	a.sects = []textSect{{0, 64, a.text}, {64, 96, a.text + 0x1000}}
	data, im := a.build()
	tab, err := Open(".gopclntab", data, a.addr, im)
	if err != nil {
		t.Fatal(err)
	}
	var at []uint64
	for f, err := range tab.Funcs() {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, f.Entry)
	}
	if len(at) != 2 || at[0] != a.text || at[1] != a.text+0x1000 {
		t.Errorf("functions at %#x", at)
	}
}

// TestNoModule reads functions and lines of a file without module data.
func TestNoModule(t *testing.T) {
	a := sample(Go120, false, 8, 1)
	a.noModule = true
	data, im := a.build()
	tab, err := Open(".gopclntab", data, a.addr, im)
	if err != nil {
		t.Fatal(err)
	}
	got := dump(t, tab, a.text)
	if tab.module.found || tab.HasInlines() || strings.Contains(got, "call") || !strings.Contains(got, "16-22 /src/main.go:41") {
		t.Errorf("module %v, inlines %v:\n%s", tab.module.found, tab.HasInlines(), got)
	}
}

// TestDamage breaks one thing at a time: the error and its offset.
func TestDamage(t *testing.T) {
	const nfunc, names, pcs, funcs = 8, 32, 56, 64 // fields of the header
	field := func(d []byte, at int) int { return int(d[at]) | int(d[at+1])<<8 }
	record := func(d []byte, i int) int { // offset of a record
		start := field(d, funcs)
		return start + field(d, start+8*i+4)
	}
	tests := []struct {
		name   string
		damage func(d []byte, im Image) ([]byte, int) // and the offset wanted
		want   error
	}{
		{"magic", func(d []byte, _ Image) ([]byte, int) { d[1] = 0; return d, 0 }, ErrMagic},
		{"no magic", func(d []byte, _ Image) ([]byte, int) { return d[:3], 0 }, located.ErrTruncated},
		{"header ends", func(d []byte, _ Image) ([]byte, int) { return d[:7], 7 }, located.ErrTruncated},
		{"header ends in the offsets", func(d []byte, _ Image) ([]byte, int) { return d[:36], 32 }, located.ErrTruncated},
		{"padding", func(d []byte, _ Image) ([]byte, int) { d[4] = 1; return d, 4 }, ErrHeader},
		{"quantum", func(d []byte, _ Image) ([]byte, int) { d[6] = 3; return d, 6 }, ErrHeader},
		{"pointer size", func(d []byte, _ Image) ([]byte, int) { d[7] = 2; return d, 7 }, ErrHeader},
		{"function count", func(d []byte, _ Image) ([]byte, int) { d[nfunc+7] = 1; return d, nfunc }, ErrCount},
		{"no functions", func(d []byte, _ Image) ([]byte, int) { d[nfunc] = 0; return d, nfunc }, ErrCount},
		{"names", func(d []byte, _ Image) ([]byte, int) { d[names+4] = 1; return d, names }, located.ErrOffset},
		{"order", func(d []byte, _ Image) ([]byte, int) {
			at := field(d, funcs) + 8
			d[at+1] = 0x7f // the second function begins after the end of the last
			return d, at
		}, ErrOrder},
		{"address", func(d []byte, _ Image) ([]byte, int) {
			at := field(d, funcs)
			d[at+8+3], d[at+16+3] = 1, 1
			return d, at + 8
		}, ErrAddress},
		{"record outside", func(d []byte, _ Image) ([]byte, int) {
			d[field(d, funcs)+4+3] = 0x7f
			return d, field(d, funcs)
		}, ErrRecord},
		{"record cut", func(d []byte, _ Image) ([]byte, int) {
			at := field(d, funcs)
			off := len(d) - 4 - at
			d[at+4], d[at+5] = byte(off), byte(off>>8)
			return d, len(d)
		}, located.ErrTruncated},
		{"name of a function", func(d []byte, _ Image) ([]byte, int) {
			at := record(d, 0)
			d[at+4+3] = 1
			return d, at
		}, ErrName},
		{"long number", func(d []byte, _ Image) ([]byte, int) {
			at := field(d, pcs) + field(d, record(d, 0)+24)
			copy(d[at:], []byte{0xff, 0xff, 0xff, 0xff, 0x1f})
			return d, at
		}, ErrVarint},
		{"file table cut", func(d []byte, _ Image) ([]byte, int) {
			at := record(d, 0) + 20
			d[at+2] = 1
			return d, len(d)
		}, located.ErrOffset},
		{"tree outside", func(d []byte, _ Image) ([]byte, int) {
			at := record(d, 0)
			d[at+44+3*4+3*4+3] = 1
			return d, at
		}, ErrInline},
		{"name of a call", func(d []byte, im Image) ([]byte, int) {
			treeAt(im, 0)[4+3] = 1
			return d, record(d, 0)
		}, ErrName},
		{"call outside of the function", func(d []byte, im Image) ([]byte, int) {
			treeAt(im, 0)[8] = 200
			return d, record(d, 0)
		}, ErrInline},
		{"circle", func(d []byte, im Image) ([]byte, int) {
			treeAt(im, 0)[8] = 7 // a was called in b
			return d, record(d, 0)
		}, ErrInline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := sample(Go120, false, 8, 1)
			for range 2 { // whose trees tell where trees are
				a.funcs = append(a.funcs, a.funcs[0])
			}
			data, im := a.build()
			data, offset := tt.damage(data, im)
			var first error
			tab, err := Open(".gopclntab", data, 0x600000, im)
			if first = err; err == nil {
				first = walk(tab)
			}
			e, ok := errors.AsType[*located.Error](first)
			if !ok || !errors.Is(e, tt.want) || e.Section != ".gopclntab" || e.Offset != offset {
				t.Errorf("got %v, want %v at %#x", first, tt.want, offset)
			}
		})
	}
}

// walk reads everything and returns the first error.
func walk(tab *Table) (first error) {
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	var in Inlines
	for f, err := range tab.Funcs() {
		if note(err); err != nil {
			continue
		}
		for _, err := range tab.Lines(f) {
			note(err)
		}
		note(tab.Inlines(f, &in))
	}
	return first
}

// treeAt is entry i of the inline tree of the first function of a sample.
func treeAt(im Image, i int) []byte { return im.Read(dataAddr+0x1000+16*uint64(i), 16) }

// TestCallNowhere: calls that all stand where one of them is, since the linker has no
// other place for them, are of the function itself, at a place that is not known.
func TestCallNowhere(t *testing.T) {
	const parentPC = 8 // offset in an entry of the tree
	data, im := sample(Go120, false, 8, 1).build()
	for call := range 2 {
		treeAt(im, call)[parentPC] = 7 // in the second
	}
	tab, err := Open(".gopclntab", data, 0x600000, im)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range tab.Funcs() {
		if err != nil {
			t.Fatal(err)
		}
		var in Inlines
		if err := tab.Inlines(f, &in); err != nil || len(in.Calls) < 2 {
			t.Fatalf("%v, %+v", err, in.Calls)
		}
		for i := range in.Calls[:2] {
			if c := &in.Calls[i]; c.Parent != -1 || c.Depth != 0 || c.File != Unknown || c.Line != 0 || c.First == c.Last {
				t.Errorf("call %d: %+v", i, c)
			}
		}
		break
	}
}
