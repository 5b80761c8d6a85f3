package emit

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	var want []byte
	for n := 0; len(want) < 3*bufSize; n++ {
		for _, rec := range every() {
			w.Record(rec)
			want = rec.Append(want)
		}
		chunk := bytes.Repeat([]byte("INFO CHUNK\n"), n%2*bufSize/20+1)
		w.Chunk(chunk)
		want = append(want, chunk...)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%d bytes written, not the %d expected", out.Len(), len(want))
	}
}

// "INLINE records": Breakpad's reader keeps 254 ranges of one record.
func TestInlineSplit(t *testing.T) {
	for n, lines := range map[int]int{0: 0, 1: 1, maxRanges: 1, maxRanges + 1: 2, 5*maxRanges + 7: 6} {
		in := Inline{Depth: 1, CallLine: 2}
		for i := range n {
			in.Ranges = append(in.Ranges, Range{uint64(i) * 16, 9})
		}
		text := in.Append(nil)
		if got := bytes.Count(text, []byte("\n")); got != lines {
			t.Errorf("%d ranges make %d records, want %d", n, got, lines)
		}
		var ranges []Range
		for _, rec := range readAll(t, append([]byte(head+"FUNC 0 1 0 f\n"), text...))[4:] {
			ranges = append(ranges, rec.(*Inline).Ranges...)
		}
		for i, r := range ranges {
			if r != in.Ranges[i] {
				t.Fatalf("range %d of %d is %v", i, n, r)
			}
		}
		if len(ranges) != n {
			t.Errorf("%d ranges of %d read back", len(ranges), n)
		}
	}
}

// What no consumer could hold is not written.
func TestOutOfRange(t *testing.T) {
	for want, rec := range map[string]Record{
		"10 1 0 0\n":                    &Line{0x10, 1, maxNumber + 1, 1<<32 - 1},
		"fffffffffffffffe 1 1 0\n":      &Line{1<<64 - 2, 99, 1, 0},
		"FUNC ffffffffffffffff 0 0 f\n": &Func{Addr: 1<<64 - 1, Size: 1, Name: []byte("f")},
		"STACK CFI INIT ffffffffffffffff 0 " + rulesBroken + "\n": &StackCFIInit{1<<64 - 1, 1, nil},
		"MODULE a\\x20b unknown c\\xc3\\xbc <name omitted>\n":     &Module{OS: "a b", ID: "cü"},
		"INFO " + strings.Repeat("\\x0a", maxWord/4) + "\n":       &Info{Key: strings.Repeat("\n", maxWord)},
	} {
		if got := string(rec.Append(nil)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// "MODULE records": without these fields a symbol store cannot hold the file.
func TestWriterModule(t *testing.T) {
	for _, m := range []Module{
		{"", "x86", "0", "a"}, {"Linux", "", "0", "a"}, {"Linux", "x86", "", "a"},
		{"Linux", "x86", "0g", "a"}, {"Linux", "x86", strings.Repeat("0", maxWord+1), "a"},
		{"Linux", "x86", "0x\u0130", "a"},
	} {
		var out bytes.Buffer
		w := NewWriter(&out)
		w.Record(&m)
		w.Record(&File{0, []byte("a")})
		if err := w.Flush(); !errors.Is(err, errModule) || out.Len() > 0 {
			t.Errorf("%.60v: %v, %d bytes written", m, err, out.Len())
		}
	}
}

// failing accepts space bytes, then fails; with short it writes too little without an error.
type failing struct {
	space int
	short bool
	calls int
}

var errFull = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	f.calls++
	n := min(len(p), f.space)
	f.space -= n
	if n < len(p) && !f.short {
		return n, errFull
	}
	return n, nil
}

func TestWriterError(t *testing.T) {
	for _, test := range []struct {
		out  failing
		want error
	}{{failing{space: bufSize}, errFull}, {failing{space: bufSize, short: true}, io.ErrShortWrite}} {
		w := NewWriter(&test.out)
		for range 1000 {
			w.Chunk(bytes.Repeat([]byte("INFO A\n"), 1000))
		}
		calls := test.out.calls
		if err := w.Flush(); !errors.Is(err, test.want) {
			t.Errorf("got %v, want %v", err, test.want)
		}
		if calls > 2 || test.out.calls > 2 {
			t.Errorf("%d calls of Write after a failure", test.out.calls)
		}
	}
}

// A record larger than the buffer is written, and its memory given back.
func TestWriterHugeRecord(t *testing.T) {
	w := NewWriter(io.Discard)
	w.Record(&Inline{Ranges: make([]Range, 1<<20)})
	if err := w.Flush(); err != nil || cap(w.buf) > 4*bufSize {
		t.Errorf("%v, %d bytes kept", err, cap(w.buf))
	}
}

// mix is what a C++ binary's symbol file is made of: one FUNC to some 20
// lines, two INLINE records and eight STACK CFI records.
func mix() []Record {
	recs := []Record{&Func{0x412340, 0x180, 0, []byte("std::vector<int, std::allocator<int> >::_M_realloc_insert(int const&)"), false}}
	for i := range uint32(2) {
		recs = append(recs, &Inline{i, 100 + i, 0, 0, []Range{{0x412350, 0x20}, {0x412380, 8}}})
	}
	for i := range uint32(20) {
		recs = append(recs, &Line{0x412340 + uint64(i)*16, 16, 400 + i, 0})
	}
	recs = append(recs, &StackCFIInit{0x412340, 0x180, []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")})
	for i := range uint64(7) {
		recs = append(recs, &StackCFI{0x412341 + i*3, []byte(".cfa: $rsp 16 + $rbp: .cfa -16 + ^")})
	}
	return recs
}

func TestAllocs(t *testing.T) {
	recs := append(every(), mix()...)
	w := NewWriter(io.Discard)
	if n := testing.AllocsPerRun(100, func() {
		for _, rec := range recs {
			w.Record(rec)
		}
	}); n != 0 {
		t.Errorf("%v allocations to write %d records", n, len(recs))
	}
	// Everything but MODULE and INFO, whose few fields are strings.
	text := append([]byte(head), bytes.Repeat(appendAll(mix()), 100)...)
	r := NewReader(text)
	if n := testing.AllocsPerRun(100, func() {
		for _, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
		}
	}); n > 10 {
		t.Errorf("%v allocations to read %d bytes", n, len(text))
	}
}

func BenchmarkWriter(b *testing.B) {
	recs := mix()
	b.SetBytes(int64(len(appendAll(recs))))
	w := NewWriter(io.Discard)
	for b.Loop() {
		for _, rec := range recs {
			w.Record(rec)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReader(b *testing.B) {
	text := append([]byte(head), bytes.Repeat(appendAll(mix()), 500)...)
	b.SetBytes(int64(len(text)))
	r := NewReader(text)
	for b.Loop() {
		for _, err := range r.Records() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
