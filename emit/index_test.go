package emit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// show renders a Symbol: its calls, innermost first, then its place.
func show(s Symbol, ok bool) string {
	if !ok {
		return "none"
	}
	var b strings.Builder
	for _, c := range s.Calls {
		fmt.Fprintf(&b, "%s %s:%d, ", c.Func, c.File, c.Line)
	}
	kind := "FUNC"
	if s.Public {
		kind = "PUBLIC"
	}
	fmt.Fprintf(&b, "%s %x", kind, s.Addr)
	return b.String()
}

func showRules(x *Index, addr uint64) string {
	_, rules, ok := x.CFI(addr, nil)
	if !ok {
		return "none"
	}
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "%s=%s; ", r.Reg, r.Expr)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestIndexSymbol(t *testing.T) {
	const text = `MODULE Linux x86_64 ABC0 mod
INFO CODE_ID ABCDEF01
INFO SIGNAL_FRAME 900 a
FILE 0 a.c
FILE 1 b.h
INLINE_ORIGIN 0 poke
INLINE_ORIGIN 1 step(int)
FUNC 100 40 0 main
INLINE 0 7 0 0 110 10 130 4
INLINE 1 8 1 1 118 4
100 10 5 0
110 20 6 1
FUNC 130 8 0 late
130 8 9 0
FUNC 130 20 0 later, and larger
PUBLIC 80 0 before
PUBLIC 130 0 hidden
PUBLIC 200 0 after
PUBLIC m 200 0 other
`
	x := NewIndex([]byte(text))
	for _, test := range []struct {
		addr uint64
		want string
	}{
		{0x7f, "none"},
		{0x80, "before :0, PUBLIC 80"},
		{0xff, "before :0, PUBLIC 80"},
		{0x100, "main a.c:5, FUNC 100"},
		{0x110, "poke b.h:6, main a.c:7, FUNC 100"},
		{0x118, "step(int) b.h:6, poke b.h:8, main a.c:7, FUNC 100"},
		{0x11c, "poke b.h:6, main a.c:7, FUNC 100"},
		{0x120, "main b.h:6, FUNC 100"},
		// FUNC records that overlap: the one that begins last holds, of those
		// that begin together the first.
		{0x130, "late a.c:9, FUNC 130"},
		{0x138, "later, and larger :0, FUNC 130"},
		{0x150, "none"}, // the gap after a function is not the PUBLIC's before it
		{0x200, "after :0, PUBLIC 200"},
		{0xffffffffffffffff, "after :0, PUBLIC 200"},
	} {
		if got := show(x.Symbol(test.addr)); got != test.want {
			t.Errorf("Symbol(%#x) = %s, want %s", test.addr, got, test.want)
		}
	}
	if x.Bad() != 0 {
		t.Errorf("%d bad lines", x.Bad())
	}
	m, ok := x.Module()
	if want := (Module{"Linux", "x86_64", "ABC0", "mod"}); !ok || m != want || x.CodeID() != "ABCDEF01" {
		t.Errorf("Module = %v %v, code id %s", m, ok, x.CodeID())
	}
	if x.SignalFrame(0x8ff) || !x.SignalFrame(0x900) || !x.SignalFrame(0x909) || x.SignalFrame(0x90a) {
		t.Error("SIGNAL_FRAME 900 a")
	}
}

// TestIndexTolerant holds what other writers and damage make of a file.
// TestIndexStripped: code between the PUBLIC records of a stripped program has
// unwind rules of its own, and no name.
func TestIndexStripped(t *testing.T) {
	x := NewIndex([]byte(`PUBLIC 100 0 _start
PUBLIC 400 0 slot
PUBLIC 410 0 other slot
PUBLIC 800 0 clone
STACK CFI INIT 100 30 .cfa: $rsp 8 + .ra: 1
STACK CFI INIT 130 50 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 3ff 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 800 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 830 20 .cfa: $rsp 8 + .ra: 1
STACK CFI INIT 8c0 20 .cfa: $rsp 8 + .ra: 1
STACK CFI INIT 8e0 20 .cfa: $rsp 8 + .ra: 4096
`))
	for addr, want := range map[uint64]string{
		0x100: "_start", 0x12f: "_start",
		0x130: "", 0x17f: "", 0x180: "", // the last one is in no record: still not _start
		0x3ff: "", 0x400: "slot", 0x410: "other slot", 0x43e: "other slot",
		0x81f: "clone", 0x828: "clone", 0x830: "clone", 0x84f: "clone",
		0x8c0: "", // a part of no function so far away
		0x8e0: "", // it has a caller
	} {
		got := ""
		if s, ok := x.Symbol(addr); ok {
			got = string(s.Calls[0].Func)
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}

func TestIndexTolerant(t *testing.T) {
	for _, test := range []struct {
		name, text string
		addr       uint64
		want       string
		bad        int
	}{
		{"CRLF and no last newline", "FILE 3 a.c\r\nFUNC 10 8 0 f\r\n10 8 5 3\r", 0x12, "f a.c:5, FUNC 10", 0},
		{"padded fields, upper-case hex", "FUNC  m   AB  10\t0   f  g \n AB   8   5   0  \n", 0xab, "f  g :5, FUNC ab", 0},
		{"unknown file number", "FUNC 10 8 0 f\n10 8 5 -1\n", 0x12, "f :5, FUNC 10", 0},
		{"bad line costs itself", "FUNC 10 8 0 f\n10 g 5 0\n10 8 6 0\n", 0x12, "f :6, FUNC 10", 1},
		{"unknown line in a function", "FUNC 10 8 0 f\nWHAT 1\n10 8 6 0\n", 0x12, "f :6, FUNC 10", 1},
		{"line that is too short", "FUNC 10 8 0 f\n10 8\n", 0x12, "f :0, FUNC 10", 1},
		{"bad FUNC", "FUNC 10 x 0 f\nFUNC 20 8 0 g\n20 8 1 0\n", 0x22, "g :1, FUNC 20", 1},
		{"FUNC of size 0", "FUNC 20 0 0 f\nPUBLIC 18 0 p\n", 0x20, "p :0, PUBLIC 18", 0},
		{"no name", "FUNC 10 8 0\n", 0x10, "<name omitted> :0, FUNC 10", 0},
		{"blank lines", "\n\r\nFUNC 10 8 0 f\n\n10 8 5 0\n", 0x10, "f :5, FUNC 10", 0},
		{"lines out of order", "FUNC 10 8 0 f\n14 4 2 0\n10 4 1 0\n", 0x11, "f :1, FUNC 10", 0},
		{"lines that overlap", "FUNC 10 8 0 f\n10 8 1 0\n12 2 2 0\n12 4 3 0\n", 0x12, "f :2, FUNC 10", 0},
		{"a line longer than any reader's buffer", "FUNC 10 8 0 " + strings.Repeat("x", 200<<10) + "\nFUNC 20 8 0 g\n", 0x20, "g :0, FUNC 20", 0},
		{"size above 32 bits", "FUNC 10 100000000 0 f\n", 0xfffffff0, "f :0, FUNC 10", 0},
		{"size above 64 bits", "FUNC 10 10000000000000000 0 f\n", 0x10, "none", 1},
		{"old inlines", "FILE 0 f.c\nFILE 1 o.h\nFILE 2 l.h\nINLINE_ORIGIN 0 1 outer\nINLINE_ORIGIN 1 2 inner\nFUNC 10 8 0 f\nINLINE 0 7 0 10 8\nINLINE 1 9 1 12 2\n10 8 5 2\n",
			0x12, "inner l.h:5, outer o.h:9, f :7, FUNC 10", 0},
		{"new inlines without a file", "FILE 0 f.c\nINLINE_ORIGIN 0 in\nFUNC 10 8 0 f\nINLINE 0 7 -1 0 10 8\n10 8 5 0\n", 0x12, "in f.c:5, f :7, FUNC 10", 0},
		{"missing origin", "FUNC 10 8 0 f\nINLINE 0 7 0 9 10 8\n10 8 5 0\n", 0x12, "<name omitted> :5, f :7, FUNC 10", 0},
		{"missing depth", "INLINE_ORIGIN 0 in\nFUNC 10 8 0 f\nINLINE 1 7 0 0 10 8\n10 8 5 0\n", 0x12, "f :5, FUNC 10", 0},
		{"INLINE without ranges", "FUNC 10 8 0 f\nINLINE 0 7 0 0\n10 8 5 0\n", 0x12, "f :5, FUNC 10", 1},
		{"INLINE before any FUNC", "INLINE 0 7 0 0 10 8\n10 8 5 0\nFUNC 10 8 0 f\n", 0x12, "f :0, FUNC 10", 0},
		{"empty", "", 0, "none", 0},
		{"not a symbol file", "\x7fELF\x02\x01\nxyz", 0, "none", 2},
		{"short STACK", "STACK\nSTACK WIN\nSTACK CFI\nSTACK CFI INIT\n", 0, "none", 4},
		{"short MODULE and INFO", "MODULE Linux\nINFO\nINFO SIGNAL_FRAME x\n", 0, "none", 2},
	} {
		x := NewIndex([]byte(test.text))
		if got := show(x.Symbol(test.addr)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		x.Symbol(test.addr) // counts nothing again
		if x.Bad() != test.bad {
			t.Errorf("%s: %d bad lines, want %d", test.name, x.Bad(), test.bad)
		}
	}
}

func TestIndexCFI(t *testing.T) {
	const text = `STACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 104 .cfa: $rsp 16 + $rbx: .cfa -16 + ^
STACK CFI 104 .cfa: $rsp 24 +

STACK  CFI  10a   $rbx:   $rbx	.cfa: $rsp 8 +
STACK CFI 10c $rbx .cfa:
STACK CFI x .cfa: 1
STACK CFI 110 .ra: .undef
STACK CFI INIT 200 10 $eip: 1 .cfa: 2
STACK CFI 204 .cfa: 3
PUBLIC 0 0 x
STACK CFI 206 .cfa: 4
`
	x := NewIndex([]byte(text))
	for addr, want := range map[uint64]string{
		0xff:  "none",
		0x100: ".cfa=$rsp 8 +; .ra=.cfa -8 + ^",
		0x104: ".cfa=$rsp 24 +; .ra=.cfa -8 + ^; $rbx=.cfa -16 + ^",
		0x10a: ".cfa=$rsp 8 +; .ra=.cfa -8 + ^; $rbx=$rbx",
		0x10c: ".cfa=$rsp 8 +; .ra=.cfa -8 + ^; $rbx=$rbx",
		0x11f: ".cfa=$rsp 8 +; .ra=.undef; $rbx=$rbx",
		0x120: "none",
		0x200: "$eip=1; .cfa=2",
		0x20f: "$eip=1; .cfa=3",
	} {
		if got := showRules(x, addr); got != want {
			t.Errorf("CFI(%#x): %s, want %s", addr, got, want)
		}
	}
	if x.Bad() != 2 {
		t.Errorf("%d bad lines, want 2", x.Bad())
	}
	rules := make([]Rule, 0, 16)
	if n := testing.AllocsPerRun(100, func() { x.CFI(0x11f, rules) }); n != 0 {
		t.Errorf("CFI allocates %v times", n)
	}
}

func TestIndexWin(t *testing.T) {
	const text = `STACK WIN 4 100 40 1 2 4 8 c 0 1 $eip $esp ^ =
STACK WIN 0 100 40 1 2 4 8 c 0 0 1
STACK WIN 0 200 40 1 2 4 8 c 0 0 1
STACK WIN 0 220 10 1 2 4 8 c 0 0 0
STACK WIN 4 300 40 1 2 4 8 c 0 1
`
	x := NewIndex([]byte(text))
	for addr, want := range map[uint64]string{
		0x100: "4 100 $eip $esp ^ = false",
		0x200: "0 200  true",
		0x220: "0 220  false",
		0x230: "0 200  true",
		0x300: "0 0  false",
	} {
		w, ok := x.Win(addr)
		if got := fmt.Sprintf("%d %x %s %v", w.Type, w.Addr, w.Program, w.AllocatesBP); got != want || ok != (w.Addr != 0) {
			t.Errorf("Win(%#x): %s, want %s", addr, got, want)
		}
		if ok && w.SavedRegsSize != 8 {
			t.Errorf("Win(%#x): %+v", addr, w)
		}
	}
	if x.Bad() != 1 {
		t.Errorf("%d bad lines, want 1", x.Bad())
	}
}

// TestIndexChunks compares indexes made with chunk borders at other places.
func TestIndexChunks(t *testing.T) {
	var text []byte
	for i := range uint64(50) {
		text = Func{Addr: i * 16, Size: 16, Name: fmt.Appendf(nil, "f%d", i)}.Append(text)
		text = Line{Addr: i * 16, Size: 16, Line: uint32(i), File: 0}.Append(text)
		text = StackCFIInit{Addr: i * 16, Size: 16, Rules: []byte(".cfa: 1 .ra: 2")}.Append(text)
	}
	for cut := range len(text) {
		var s [2]scan
		s[0].run(text, 0, cut)
		s[1].run(text, cut, len(text))
		n := 0
		for _, s := range s {
			n += len(s.tables[inFuncs]) + len(s.tables[inInits]) + 1000*len(s.bad)
		}
		if n != 100 {
			t.Fatalf("cut at %d: %d records", cut, n)
		}
	}
}

// TestIndexAgainstReader looks addresses up in a large file twice: with the
// Index, and by reading every record. Set SYMKIT_SYM to a symbol
// file, or use the one of this package's testdata.
func TestIndexAgainstReader(t *testing.T) {
	path := os.Getenv("SYMKIT_SYM")
	if path == "" {
		path = filepath.Join("testdata", "g5.breakpad.sym")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x := newIndex(data, 2, math.MaxInt64)
	var funcs []Func
	lines := map[uint64]Line{} // by the address it begins at
	for rec, err := range NewReader(data).Records() {
		if err != nil {
			t.Fatal(err)
		}
		switch rec := rec.(type) {
		case *Func:
			funcs = append(funcs, *rec)
		case *Line:
			lines[rec.Addr] = *rec
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range min(len(funcs), 2000) {
		f := funcs[random.IntN(len(funcs))]
		if f.Size == 0 {
			continue
		}
		s, ok := x.Symbol(f.Addr)
		if !ok || s.Addr != f.Addr || s.Size != f.Size || !bytes.Equal(s.Calls[len(s.Calls)-1].Func, f.Name) {
			t.Fatalf("Symbol(%#x) = %s, want %s", f.Addr, show(s, ok), f.Name)
		}
		addr := f.Addr + random.Uint64N(uint64(f.Size))
		s, ok = x.Symbol(addr)
		if l := lines[s.LineAddr]; ok && s.Addr == f.Addr && s.LineAddr != 0 && (addr-l.Addr >= uint64(l.Size) || l.Line != s.Calls[0].Line) {
			t.Fatalf("Symbol(%#x) = %s, want line %+v", addr, show(s, ok), l)
		}
	}
	if x.Bad() > 0 {
		t.Errorf("%d bad lines", x.Bad())
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("FILE 0 a\nINLINE_ORIGIN 0 o\nFUNC 10 20 0 f\nINLINE 0 1 0 0 10 8\n10 10 1 0\nPUBLIC 40 0 p\nSTACK CFI INIT 10 20 .cfa: 1 .ra: 2\nSTACK CFI 14 $rbx: 3\nSTACK WIN 4 10 20 0 0 0 0 0 0 1 x\nINFO SIGNAL_FRAME 10 4\n"), uint64(0x14))
	f.Add([]byte("FUNC m 10 20 0 f\r\nINLINE 0 1 0 10 8\r\n10 10 1 -1"), uint64(0x12))
	f.Add([]byte("STACK CFI INIT 0 ffffffff .cfa: : a\nSTACK CFI 0 a: b c: d"), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		x := newIndex(data, 2, math.MaxInt64)
		if s, ok := x.Symbol(addr); ok {
			if s.Addr > addr || !s.Public && addr-s.Addr >= uint64(s.Size) || len(s.Calls) == 0 || s.LineAddr > addr || s.CallAddr > addr || s.CallAddr > 0 && len(s.Calls) < 2 {
				t.Fatalf("Symbol(%#x) = %+v", addr, s)
			}
			for _, c := range s.Calls {
				if len(c.Func) == 0 || bytes.IndexByte(c.Func, '\n') >= 0 {
					t.Fatalf("name %q", c.Func)
				}
			}
		}
		if r, rules, ok := x.CFI(addr, nil); ok {
			if addr-r.Addr >= uint64(r.Size) {
				t.Fatalf("CFI(%#x) in %+v", addr, r)
			}
			for _, r := range rules {
				if len(r.Reg) == 0 || len(r.Expr) == 0 || bytes.IndexByte(r.Reg, ' ') >= 0 {
					t.Fatalf("rule %q: %q", r.Reg, r.Expr)
				}
			}
		}
		if w, ok := x.Win(addr); ok && addr-w.Addr >= uint64(w.CodeSize) {
			t.Fatalf("Win(%#x) = %+v", addr, w)
		}
		x.SignalFrame(addr)
		if x.Bad() > bytes.Count(data, []byte("\n"))+1 {
			t.Fatalf("%d bad lines", x.Bad())
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	data := benchData()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		newIndex(data, 1, math.MaxInt64)
	}
}

func BenchmarkIndexSymbol(b *testing.B) {
	x := NewIndex(benchData())
	for b.Loop() {
		x.Symbol(0x5003)
	}
}

// benchData is shaped like libjvm's symbols with inlines, as far as the sizes
// of lines and of functions go.
func benchData() []byte {
	if path := os.Getenv("SYMKIT_SYM"); path != "" {
		if data, err := os.ReadFile(path); err == nil {
			return data
		}
	}
	var text []byte
	for i := range uint32(20000) {
		text = Func{Addr: uint64(i) << 8, Size: 200, Name: []byte("ns::Class<int>::method(std::string const&)")}.Append(text)
		text = (&Inline{CallLine: i, Ranges: []Range{{uint64(i) << 8, 8}, {uint64(i)<<8 + 16, 8}}}).Append(text)
		for j := range uint32(25) {
			text = Line{Addr: uint64(i)<<8 + uint64(j)*8, Size: 8, Line: i%1000 + j, File: i % 100}.Append(text)
		}
	}
	for i := range uint64(20000) {
		text = StackCFIInit{Addr: i << 8, Size: 200, Rules: []byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^")}.Append(text)
		for j := range uint64(6) {
			text = StackCFI{Addr: i<<8 + j, Rules: []byte(".cfa: $rsp 16 + $rbx: .cfa -16 + ^")}.Append(text)
		}
	}
	return text
}

// TestIndexHeapSize: 16 bytes for a record that is looked up by address or
// number, none for lines.
func TestIndexHeapSize(t *testing.T) {
	x := NewIndex([]byte("FILE 0 a\nFUNC 1 1 0 f\n1 1 1 0\n1 1 1 0\nPUBLIC 5 0 p\nSTACK CFI INIT 1 1 .cfa: 1 .ra: 1\n"))
	if got := x.HeapSize(); got < 4*entrySize || got > 6*entrySize {
		t.Errorf("%d bytes", got)
	}
}

// TestIndexBlock: a lookup in a FUNC with millions of empty lines reads a bounded part of them.
func TestIndexBlock(t *testing.T) {
	const text = "FUNC 1000 100 0 f\n1000 10 7 0\n"
	data := append([]byte(text), bytes.Repeat([]byte{'\n'}, 2*maxBlock/lineBytes)...)
	var read atomic.Int64
	s, ok := NewIndex(data).Count(&read).Symbol(0x1000)
	if !ok || s.Calls[0].Line != 7 || read.Load() > maxBlock+1000 {
		t.Errorf("%v, %d bytes read: %+v", ok, read.Load(), s)
	}
}
