package gsym

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sample is a file with three functions: main, into which add is inlined in two ranges, and that into add, outer; a
// symbol without lines, and one without a size.
func sample(t testing.TB, bigEndian bool) []byte {
	t.Helper()
	w := NewWriter([]byte{1, 2, 3, 4}, bigEndian)
	w.Func(sampleFunc(w))
	w.Func(&Func{Addr: 0x1040, Size: 8, Name: w.String("symbol")})
	w.Func(&Func{Addr: 0x1050, Name: w.String("open")})
	return written(t, w)
}

// sampleWide is sample as a file of version 2.
func sampleWide(t testing.TB, bigEndian bool) []byte {
	t.Helper()
	w := NewWriter([]byte{1, 2, 3, 4}, bigEndian)
	w.most = 0
	w.Func(sampleFunc(w))
	w.Func(&Func{Addr: 0x1040, Size: 8, Name: w.String("symbol")})
	return written(t, w)
}

// sampleFunc returns a function with lines and inlined calls.
func sampleFunc(w *Writer) *Func {
	a, b := w.File("/src/a.c"), w.File("lib/b.h")
	return &Func{Addr: 0x1000, Size: 0x40, Name: w.String("main"),
		Lines: []Line{{0x1004, a, 10}, {0x1008, a, 9}, {0x1008, b, 3}, {0x100a, b, 3}, {0x1010, a, 500}, {0x1030, a, 501}, {0x1038, w.File("/c.c"), 1}},
		Calls: []Call{
			{Depth: 0, Name: w.String("add"), File: a, Line: 11, Ranges: []Range{{0x1008, 0x1010}, {0x1020, 0x1028}}},
			{Depth: 1, Name: w.String("inner"), File: b, Line: 4, Ranges: []Range{{0x100c, 0x1010}, {0x1022, 0x1024}}},
			{Depth: 2, Name: w.String("deepest"), File: b, Line: 5, Ranges: []Range{{0x1022, 0x1023}}},
			{Depth: 0, Name: w.String("last"), File: a, Line: 12, Ranges: []Range{{0x1030, 0x1034}}},
		}}
}

func written(t testing.TB, w *Writer) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := w.WriteTo(&out)
	if err != nil {
		t.Fatal(err)
	}
	if int(n) != out.Len() {
		t.Fatalf("%d bytes, and WriteTo returned %d", out.Len(), n)
	}
	return out.Bytes()
}

// textAt returns the frames at an address on one line: function+start,size and the frames.
func textAt(f *File, addr uint64) string {
	s, frames, err := f.Lookup(nil, addr)
	if err != nil {
		return err.Error()
	}
	if len(frames) == 0 {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s+%#x/%#x:", s.Name, addr-s.Addr, s.Size)
	for _, frame := range frames {
		fmt.Fprintf(&b, " %s %s:%d", frame.Name, frame.AppendPath(nil), frame.Line)
	}
	return b.String()
}

var sampleLookups = []struct {
	addr uint64
	want string
}{
	{0xfff, "none"},
	{0x1000, "main+0x0/0x40: main /src/a.c:0"},
	{0x1004, "main+0x4/0x40: main /src/a.c:10"},
	{0x1008, "main+0x8/0x40: add lib/b.h:3 main /src/a.c:11"},
	{0x100f, "main+0xf/0x40: inner lib/b.h:3 add lib/b.h:4 main /src/a.c:11"},
	{0x1010, "main+0x10/0x40: main /src/a.c:500"},
	{0x1021, "main+0x21/0x40: add /src/a.c:500 main /src/a.c:11"},
	{0x1022, "main+0x22/0x40: deepest /src/a.c:500 inner lib/b.h:5 add lib/b.h:4 main /src/a.c:11"},
	{0x1023, "main+0x23/0x40: inner /src/a.c:500 add lib/b.h:4 main /src/a.c:11"},
	{0x1033, "main+0x33/0x40: last /src/a.c:501 main /src/a.c:12"},
	{0x103f, "main+0x3f/0x40: main /c.c:1"},
	{0x1040, "symbol+0x0/0x8: symbol :0"},
	{0x1048, "none"},
	{0x1050, "open+0x0/0x0: open :0"},
	{0x9999, "open+0x8949/0x0: open :0"},
}

// TestLookup: what is written is found, in both byte orders.
func TestLookup(t *testing.T) {
	for _, big := range []bool{false, true} {
		f, err := Open(sample(t, big))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.UUID, []byte{1, 2, 3, 4}) {
			t.Errorf("UUID %x", f.UUID)
		}
		for _, l := range sampleLookups {
			if got := textAt(f, l.addr); got != l.want {
				t.Errorf("big-endian %v: %#x: %s\nwant %s", big, l.addr, got, l.want)
			}
		}
		var names []string
		for s, err := range f.Symbols() {
			names = append(names, fmt.Sprintf("%#x/%#x %s %v", s.Addr, s.Size, s.Name, err))
		}
		want := []string{"0x1000/0x40 main <nil>", "0x1040/0x8 symbol <nil>", "0x1050/0x0 open <nil>"}
		if !slices.Equal(names, want) {
			t.Errorf("functions %q, want %q", names, want)
		}
	}
}

// TestBytes: the bytes of a small file, each part as the format has it.
func TestBytes(t *testing.T) {
	w := NewWriter([]byte{0xab, 0xcd}, true)
	w.Func(&Func{Addr: 0x400, Size: 0x10, Name: w.String("f"),
		Lines: []Line{{0x400, w.File("d/n"), 7}, {0x402, 1, 9}, {0x408, 1, 100}},
		Calls: []Call{{Name: w.String("g"), File: 1, Line: 8, Ranges: []Range{{0x402, 0x404}}}}})
	got := fmt.Sprintf("% x", written(t, w))
	want := strings.Join([]string{
		"47 53 59 4d 00 01 01 02",                         // magic, version, width of offsets, size of the UUID
		"00 00 00 00 00 00 04 00 00 00 00 01",             // base address, functions
		"00 00 00 4c 00 00 00 09",                         // string table: offset, size
		"ab cd 00 00 00 00 00 00 00 00 00 00 00 00 00 00", // UUID
		"00 00 00 00",
		"00 00 00 00 00 00 00 58",             // offset of the function, padding, place of its info
		"00 00 00 02 00 00 00 00 00 00 00 00", // files: none
		"00 00 00 03 00 00 00 05",             // d, n
		"00 66 00 64 00 6e 00 67 00 00 00 00", // "", f, d, n, g
		"00 00 00 10 00 00 00 01",             // info: size, name
		"00 00 00 01 00 00 00 0b",             // line table
		"00 02 07 04 0c 03 db 00 02 06 00",    // differences 0 to 2, line 7; rows
		"00 00 00 02 00 00 00 15",             // calls
		"01 00 10 01 00 00 00 01 00 00",       // root: f
		"01 02 02 00 00 00 00 07 01 08",       // g, called in line 8 of file 1
		"00 00 00 00 00 00 00 00 00",          // end of the calls, end of the info
	}, " ")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWidths: offsets from the first address have as many bytes as the last one needs.
func TestWidths(t *testing.T) {
	for width, last := range map[int]uint64{1: 0xff, 2: 0xffff, 4: 0xffffffff, 8: 1 << 40} {
		for _, big := range []bool{false, true} {
			w := NewWriter(nil, big)
			w.Func(&Func{Addr: 1 << 33, Size: 1, Name: w.String("first")})
			w.Func(&Func{Addr: 1<<33 + last, Size: 1, Name: w.String("last")})
			f, err := Open(written(t, w))
			if err != nil {
				t.Fatal(err)
			}
			if got := textAt(f, 1<<33+last); f.width != width || got != "last+0x0/0x1: last :0" {
				t.Errorf("width %d, want %d: %s", f.width, width, got)
			}
		}
	}
}

// TestPaths: a path is what it was, if it has no two slashes at its start.
func TestPaths(t *testing.T) {
	w := NewWriter(nil, false)
	paths := []string{"a", "/a", "a/b", "/a/b", "/a//b", "a/", "C:\\x\\y"}
	for i, path := range paths {
		w.Func(&Func{Addr: uint64(i), Size: 1, Name: w.String("f"), Lines: []Line{{uint64(i), w.File(path), 1}}})
	}
	f, err := Open(written(t, w))
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		_, frames, err := f.Lookup(nil, uint64(i))
		if err != nil || string(frames[0].AppendPath(nil)) != path {
			t.Errorf("%q: %v, %v", path, frames, err)
		}
	}
}

// TestRejected: a mistake of the caller is an error of WriteTo, and names the function.
func TestRejected(t *testing.T) {
	call := func(depth uint32, lo, hi uint64) Call { return Call{Depth: depth, Name: 1, Ranges: []Range{{lo, hi}}} }
	good := Func{Addr: 0x10, Size: 0x10, Name: 1}
	with := func(change func(f *Func)) Func {
		f := good
		change(&f)
		return f
	}
	for name, test := range map[string]struct {
		funcs []Func
		want  error
	}{
		"no name":                {[]Func{{Addr: 0x10, Size: 1}}, errName},
		"same address":           {[]Func{{Addr: 0x10, Name: 1}, {Addr: 0x10, Name: 1}}, errOrder},
		"overlap":                {[]Func{{Addr: 0x10, Size: 2, Name: 1}, {Addr: 0x11, Name: 1}}, errOrder},
		"end of the addresses":   {[]Func{{Addr: ^uint64(0), Size: 2, Name: 1}}, errOrder},
		"size":                   {[]Func{{Addr: 0x10, Size: 1 << 32, Name: 1}}, errSize},
		"line below":             {[]Func{with(func(f *Func) { f.Lines = []Line{{0xf, 1, 1}} })}, errLines},
		"line above":             {[]Func{with(func(f *Func) { f.Lines = []Line{{0x20, 1, 1}} })}, errLines},
		"lines":                  {[]Func{with(func(f *Func) { f.Lines = []Line{{0x12, 1, 1}, {0x11, 1, 1}} })}, errLines},
		"call outside":           {[]Func{with(func(f *Func) { f.Calls = []Call{call(0, 0x1f, 0x21)} })}, errCalls},
		"call below":             {[]Func{with(func(f *Func) { f.Calls = []Call{call(0, 0xf, 0x11)} })}, errCalls},
		"empty call":             {[]Func{with(func(f *Func) { f.Calls = []Call{call(0, 0x11, 0x11)} })}, errCalls},
		"call without code":      {[]Func{with(func(f *Func) { f.Calls = []Call{{Name: 1}} })}, errCalls},
		"depth":                  {[]Func{with(func(f *Func) { f.Calls = []Call{call(1, 0x11, 0x12)} })}, errCalls},
		"call outside of a call": {[]Func{with(func(f *Func) { f.Calls = []Call{call(0, 0x11, 0x13), call(1, 0x12, 0x14)} })}, errCalls},
		"ranges of a call overlap": {[]Func{with(func(f *Func) {
			f.Calls = []Call{{Name: 1, Ranges: []Range{{0x11, 0x13}, {0x12, 0x14}}}}
		})}, errCalls},
	} {
		w := NewWriter(nil, false)
		w.String("f")
		for i := range test.funcs {
			w.Func(&test.funcs[i])
		}
		_, err := w.WriteTo(new(bytes.Buffer))
		if !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), "function at ") {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// TestWide: a file that needs more than 32 bits for some offset is of version 2, whatever part is too large, and says what
// the file of version 1 says. The test makes the limit smaller.
func TestWide(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, fill := range map[string]func(*Writer){
		"strings": func(w *Writer) { w.String(long) },
		"functions": func(w *Writer) {
			for i := range 50 {
				w.Func(&Func{Addr: uint64(0x2000 + i), Size: 1, Name: 1})
			}
		},
		"all": func(w *Writer) {
			w.String(long[:200])
			for i := range 20 {
				w.Func(&Func{Addr: uint64(0x2000 + i), Size: 1, Name: 1})
			}
		},
		"the last string": func(w *Writer) {
			for i := range 4000 {
				w.Func(&Func{Addr: uint64(0x2000 + i), Size: 1, Name: w.String(fmt.Sprint("f", i))})
			}
		},
	} {
		id := []byte("an id of more than twenty bytes")
		var files [2]*File
		for i, most := range []uint64{1 << 30, 900} {
			w := NewWriter(id, i == 1)
			w.most = most
			w.Func(sampleFunc(w))
			fill(w)
			data := written(t, w)
			f, err := Open(data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			files[i] = f
		}
		if files[0].ref != 4 || files[1].ref != 8 {
			t.Errorf("%s: offsets of %d and %d bytes", name, files[0].ref, files[1].ref)
		}
		if string(files[0].UUID) != string(id[:maxUUID]) || string(files[1].UUID) != string(id) {
			t.Errorf("%s: ids %q, %q", name, files[0].UUID, files[1].UUID)
		}
		for addr := range uint64(0x3000) {
			want, got := textAt(files[0], addr), textAt(files[1], addr)
			if got != want {
				t.Fatalf("%s: %#x: %s, want %s", name, addr, got, want)
			}
		}
	}
}

// TestChunks: infos in several chunks are found.
func TestChunks(t *testing.T) {
	w := NewWriter(nil, false)
	lines := make([]Line, 5000)
	for i := range lines {
		lines[i] = Line{0, uint32(i%2 + 1), uint32(i % 3000)}
	}
	const functions = 200
	for n := range uint64(functions) {
		for i := range lines {
			lines[i].Addr = n<<16 + uint64(i)
		}
		w.Func(&Func{Addr: n << 16, Size: 6000, Name: w.String(fmt.Sprint("f", n)), Lines: lines})
	}
	w.File("a")
	w.File("b")
	f, err := Open(written(t, w))
	if err != nil {
		t.Fatal(err)
	}
	if len(w.chunks) < 3 {
		t.Errorf("%d chunks", len(w.chunks))
	}
	for n := range uint64(functions) {
		want := fmt.Sprintf("f%d+0xfa1/0x1770: f%d b:1001", n, n)
		if got := textAt(f, n<<16+4001); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNoAllocation: a lookup allocates nothing.
func TestNoAllocation(t *testing.T) {
	f, err := Open(sample(t, false))
	if err != nil {
		t.Fatal(err)
	}
	frames, path := make([]Frame, 0, 8), make([]byte, 0, 100)
	n := testing.AllocsPerRun(100, func() {
		for _, l := range sampleLookups {
			_, found, err := f.Lookup(frames[:0], l.addr)
			if err != nil {
				t.Fatal(err)
			}
			for i := range found {
				path = found[i].AppendPath(path[:0])
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
