package emit

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// every has one record of each shape, in an order that the Reader accepts.
func every() []Record {
	code := Info{KeyCodeID, "5C771A"}
	sig := SignalFrame(0x3c04f, 0xa)
	return []Record{
		&Module{"Linux", "x86_64", "4C1A775C92125729AF14EED671BEBE010", "my app"},
		&code,
		&Info{KeyGenerator, "symkit 1.0"},
		&Info{"FLAG", ""},
		&sig,
		&File{0, []byte("/src/a b.c")},
		&File{7, []byte("C:\\src\\b.c")},
		&File{maxNumber, []byte("/src/ü.rs")},
		&InlineOrigin{0, []byte("operator<(A const&, A const&)")},
		&InlineOrigin{3, []byte("3d::rotate()")},
		&Func{0x1000, 0x40, 0, []byte("main"), false},
		&Inline{0, 12, 0, 3, []Range{{0x1004, 8}, {0x1020, 4}}},
		&Inline{1, 0, 7, 0, []Range{{0x1004, 4}}},
		&Line{0x1000, 0x10, 1, 0},
		&Line{0x1010, 0x30, maxNumber, 7},
		&Func{0x1040, 1<<32 - 1, 0x10, []byte("ns::f(int, char) const"), true},
		&Line{0x1040, 1, 0, maxNumber},
		&Public{0, 0, []byte("_start"), false},
		&Public{0xffffffffffffffff, 4, []byte("m"), true},
		&StackWin{4, 0x2170, 0x14, 1, 0, 8, 4, 0x20, 0, []byte("$eip 4 + ^ ="), false},
		&StackWin{0, 0x2190, 0x14, 1, 2, 8, 4, 0x20, 5, nil, true},
		&StackWin{Addr: 0x21b0},
		&StackCFIInit{0x1000, 0x40, []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")},
		&StackCFI{0x1001, []byte(".cfa: $rsp 16 + $rbp: .cfa -16 + ^")},
		&StackCFI{0x103f, []byte("$rbp: $rbp")},
		&StackCFIInit{0xfffffffffffffff0, 0xf, []byte(".cfa: x .ra: .undef")},
	}
}

func appendAll(recs []Record) (text []byte) {
	for _, rec := range recs {
		text = rec.Append(text)
	}
	return text
}

// clone copies a record out of the Reader's scratch.
func clone(rec Record) Record {
	switch rec := rec.(type) {
	case *Module:
		return new(*rec)
	case *Info:
		return new(*rec)
	case *File:
		return new(*rec)
	case *InlineOrigin:
		return new(*rec)
	case *Func:
		return new(*rec)
	case *Line:
		return new(*rec)
	case *Inline:
		c := *rec
		c.Ranges = append([]Range(nil), c.Ranges...)
		return &c
	case *Public:
		return new(*rec)
	case *StackCFIInit:
		return new(*rec)
	case *StackCFI:
		return new(*rec)
	case *StackWin:
		return new(*rec)
	}
	panic("unknown record")
}

func readAll(t testing.TB, text []byte) (recs []Record) {
	t.Helper()
	for rec, err := range NewReader(text).Records() {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, clone(rec))
	}
	return recs
}

func TestGolden(t *testing.T) {
	got := appendAll(every())
	golden := filepath.Join("testdata", "all.sym")
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(every(), readAll(t, want)); d != "" {
		t.Errorf("read back: %s", d)
	}
}

// What other dumpers write is read without a complaint and, being right, is
// written again byte for byte.
func TestPeers(t *testing.T) {
	for _, name := range []string{"g5.breakpad.sym", "tomb.mozilla-inlines.sym"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := appendAll(readAll(t, text)); !bytes.Equal(got, text) {
			t.Errorf("%s: %s", name, cmp.Diff(string(text), string(got)))
		}
	}
}

func TestSignalFrame(t *testing.T) {
	for text, want := range map[string]Range{
		"3c04f a":                   {0x3c04f, 0xa},
		"ffffffffffffffff 0":        {1<<64 - 1, 0},
		"":                          {},
		"3c04f":                     {},
		"3c04f a b":                 {},
		"3c04f  a":                  {},
		"3C04F a":                   {},
		"ffffffffffffffff 1":        {},
		"10000000000000000 1":       {},
		"1 100000000":               {},
		"\x00":                      {},
		"18446744073709551616 0x10": {},
	} {
		got, ok := (&Info{KeySignalFrame, text}).SignalFrame()
		if ok != (want != Range{}) || ok && got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, ok, want)
		}
	}
	if _, ok := (&Info{KeyCodeID, "1 2"}).SignalFrame(); ok {
		t.Error("a CODE_ID record is taken for a SIGNAL_FRAME")
	}
	if i := SignalFrame(0x3c04f, 10); i.Text != "3c04f a" {
		t.Errorf("written as %q", i.Text)
	}
}

func TestSplit(t *testing.T) {
	const big = 1<<32 - 1
	for _, test := range []struct {
		addr, size uint64
		want       []Range
	}{
		{0x1000, 0, nil},
		{0x1000, 0x20, []Range{{0x1000, 0x20}}},
		{0, big, []Range{{0, big}}},
		{0, 1 << 32, []Range{{0, big}, {big, 1}}},
		{0x10, 2*big + 5, []Range{{0x10, big}, {0x10 + big, big}, {0x10 + 2*big, 5}}},
		{1<<64 - 3, 100, []Range{{1<<64 - 3, 2}}},
		{1<<64 - 1, 100, nil},
	} {
		var got []Range
		for r := range Split(test.addr, test.size) {
			got = append(got, r)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("Split(%#x, %#x): %s", test.addr, test.size, d)
		}
	}
	n := 0
	for range Split(0, 1<<64-1) {
		n++
	}
	if n != maxSplit {
		t.Errorf("%d ranges of the whole address space", n)
	}
}

// TestPublicSizes: the record of the sizes of PUBLIC records, and texts that are none.
func TestPublicSizes(t *testing.T) {
	p := PublicSizes{0x1000, 0x1300, []uint32{0x10, 0, 0xfff}}
	info := p.Info()
	if info.Key != KeyPublicSizes || info.Text != "1000 1300 10 0 fff" {
		t.Errorf("%+v", info)
	}
	got, ok := info.PublicSizes()
	if !ok || got.First != p.First || got.Last != p.Last || !slices.Equal(got.Sizes, p.Sizes) {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "1", "1 2", "1 2 ", "1 2 x", "2 1 3", "1 2 100000000", "1  2 3"} {
		if _, ok := (&Info{KeyPublicSizes, text}).PublicSizes(); ok {
			t.Errorf("%q", text)
		}
	}
	if _, ok := (&Info{KeySignalFrame, "1 2 3"}).PublicSizes(); ok {
		t.Error("another record")
	}
}
