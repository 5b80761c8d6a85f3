package lookup_test

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/lookup"
	"symkit/test/elftest"
)

const fixtures = "../testdata/elf/"

func Example() {
	f, err := lookup.Open(context.Background(), fixtures+"cxx-x86_64-gcc12-O2-dw5.elf", lookup.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	frames, err := f.Frames(nil, 0x4012de)
	if err != nil {
		log.Fatal(err)
	}
	for _, frame := range frames {
		fmt.Printf("%s at %s:%d:%d\n", frame.Name, frame.File, frame.Line, frame.Column)
	}
	// Output:
	// pop at /symkit/src/cxx.h:36:19
	// run at /symkit/src/cxx.cc:117:25
}

// open opens a fixture until t ends.
func open(t testing.TB, name string, opt lookup.Options) *lookup.File {
	t.Helper()
	f, err := lookup.Open(t.Context(), fixtures+name, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// answer is the text of the frames at an address.
func answer(t testing.TB, f *lookup.File, addr uint64) string {
	t.Helper()
	frames, err := f.Frames(nil, addr)
	if err != nil {
		t.Error(err)
	}
	var lines []string
	for _, frame := range frames {
		name := frame.Linkage
		if name == "" {
			name = frame.Name
		}
		lines = append(lines, fmt.Sprintf("%s %s:%d:%d %d", name, filepath.Base(frame.File), frame.Line, frame.Column, frame.StartLine))
	}
	return strings.Join(lines, "\n")
}

// TestFrames: frames are those of DWARF, wherever it is: answers are llvm-symbolizer's for the plain program.
func TestFrames(t *testing.T) {
	const never = "_ZN4shop5totalEii cxx.cc:44:6 43\n_ZN4shop5quoteEi cxx.cc:51:14 50\n_ZN4shop12never_calledEi cxx.cc:100:14 99"
	for _, tt := range []struct {
		file string
		addr uint64
		want string
	}{
		{"cxx-x86_64-gcc12-O2-dw5.elf", 0x40120b, never},
		{"cxx-x86_64-gcc12-O2-dw5-split.elf", 0x40120b, never},
		{"cxx-x86_64-gcc12-O2-dw4-split.elf", 0x40120b, never},
		{"cxx-x86_64-gcc12-O2-dw5-dwz.elf", 0x40120b, never},
		{"cxx-x86_64-gcc12-O2-dw5-zstd.elf", 0x40120b, never},
		{"cxx-x86_64-gcc12-O2-dw5-mini.elf", 0x40120b, "_ZN4shop12never_calledEi .:0:0 0"},
		{"lang-x86_64-gcc12-O2-dw2.elf", 0x40110b, "middle lang.c:14:38 15\noutermost .:0:0 16\ninlined .:0:0 18"},
		{"cxx-x86_64-gcc12-O2-dw5.elf", 0x10, ""},
		// DWARF has no linkage name.
		{"cxx-x86_64-gcc12-O2-dw5.elf", 0x4010b0, "_ZZN4shop6nested2v27lambdasEiENKUliE_clEi cxx.cc:90:53 0"},
		{"cxx-x86_64-gcc12-O2-dw5.elf", 0x401060, "_ZN4shop12_GLOBAL__N_14bookEi cxx.cc:16:10 15"},
	} {
		f := open(t, tt.file, lookup.Options{})
		got := answer(t, f, tt.addr)
		if got != tt.want {
			t.Errorf("%s at %#x:\n%s\nwant:\n%s", tt.file, tt.addr, got, tt.want)
		}
		for _, err := range f.Losses() {
			if tt.file != "cxx-x86_64-gcc12-O2-dw5-mini.elf" || !errors.Is(err, lookup.ErrNoDebug) {
				t.Errorf("%s: %v", tt.file, err)
			}
		}
	}
}

// TestSweep: answers of a Sweep are those to each address alone, whatever was expected.
func TestSweep(t *testing.T) {
	for _, name := range []string{"cxx-x86_64-gcc12-O2-dw5.elf", "lang-x86_64-gcc12-O2-dw2.elf", "cxx-x86_64-gcc12-O2-dw5-split.elf", "asm-x86_64-gas-dw3.elf"} {
		f, other := open(t, name, lookup.Options{}), open(t, "hello-x86_64-gcc12-O2-dw5.elf", lookup.Options{})
		var sweep lookup.Sweep
		check := func(f *lookup.File, addr uint64) {
			t.Helper()
			got, err := sweep.Frames(f, nil, addr)
			want, wantErr := f.Frames(nil, addr)
			if !slices.Equal(got, want) || err != nil || wantErr != nil {
				t.Fatalf("%s: %#x: %+v, %v, want %+v, %v", name, addr, got, err, want, wantErr)
			}
		}
		var addrs []uint64
		for addr := uint64(0x400ff0); addr < 0x401800; addr += 1 + addr%3 {
			addrs = append(addrs, addr)
		}
		for range 2 { // units are decoded, or not
			sweep.Expect(f, addrs)
			for i, addr := range addrs {
				check(f, addr)
				switch i % 50 {
				case 10:
					check(other, addr)
				case 20:
					check(f, addr)
				case 30:
					check(f, addr+1)
				case 40:
					check(f, addr-40)
				}
			}
		}
		for _, list := range [][]uint64{{0x401200, 0x401100, 0x401300}, {^uint64(0), 0}, nil} { // which do not ascend
			sweep.Expect(f, list)
			for _, addr := range append(list, 0x401250) {
				check(f, addr)
			}
		}
	}
}

// TestPartialRoot: in DWARF 2 the root of a unit may have the range of some functions alone.
func TestPartialRoot(t *testing.T) {
	const name = "lang-x86_64-gcc12-O2-dw2.elf"
	data, err := os.ReadFile(fixtures + name)
	if err != nil {
		t.Fatal(err)
	}
	enc := binary.LittleEndian.AppendUint64
	const lo, hi = 0x401020, 0x401526
	whole, part := enc(enc(nil, lo), hi), enc(enc(nil, lo), lo+4)
	if bytes.Count(data, whole) != 1 {
		t.Fatal("the root has another range")
	}
	want, got := open(t, name, lookup.Options{}), openBytes(t, bytes.Replace(data, whole, part, 1))
	for addr := uint64(lo); addr < hi; addr++ {
		text := answer(t, want, addr)
		if in := answer(t, got, addr); in != text && !strings.HasPrefix(text, " ") { // code of no function
			t.Fatalf("%#x: %s, want %s", addr, in, text)
		}
	}
}

// TestLoad: decoded at once, one by one, or again and again because of a bound on memory, units give the same answers.
func TestLoad(t *testing.T) {
	const name = "cxx-x86_64-gcc12-O2-dw5.elf"
	all, few := open(t, name, lookup.Options{}), open(t, name, lookup.Options{Memory: 200 << 10})
	one := open(t, name, lookup.Options{})
	err := all.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for addr := uint64(0x401000); addr < 0x401700; addr++ {
		want := answer(t, one, addr)
		if got := answer(t, all, addr); got != want {
			t.Fatalf("at %#x after Load:\n%s\nwant:\n%s", addr, got, want)
		}
		if got := answer(t, few, addr); got != want {
			t.Fatalf("at %#x with little memory:\n%s\nwant:\n%s", addr, got, want)
		}
	}
}

// TestReadable: a linkage name that is not one of a language is a label of the assembler.
func TestReadable(t *testing.T) {
	for want, f := range map[string]lookup.Frame{"tolower": {Name: "tolower", Linkage: "__GI_tolower"}, "f()": {Name: "f", Linkage: "_Z1fv"},
		"a::B::c(a::B)": {Name: "c", Linkage: "a::B::c(a::B)"}, "fmt.Writer.write": {Name: "write", Linkage: "fmt.Writer.write"},
		"_Zforged": {Linkage: "_Zforged"}, "start": {Linkage: "start"}, "main": {Name: "main"}} {
		if got := f.Readable(); got != want {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
	}
}

// TestSlots: the slots of a procedure linkage table have the names of the functions that they call, the code before them
// that of the section.
func TestSlots(t *testing.T) {
	f := open(t, "cxx-x86_64-gcc12-O2-dw5.so", lookup.Options{})
	for addr, want := range map[uint64]string{0x1000: ".plt", 0x1010: "shop::nested::v2::lambdas(int)@plt", 0x105f: "shop::local_class(int)@plt", 0x1060: "_Unwind_Resume@plt"} {
		frames, err := f.Frames(nil, addr)
		if err != nil || len(frames) != 1 || !frames[0].Stub || frames[0].Readable() != want || frames[0].Start != addr&^15 {
			t.Errorf("%#x: %+v, %v, want %s", addr, frames, err, want)
		}
		_, ok := f.SymbolAt(addr)
		if ok {
			t.Errorf("%#x: there is a symbol", addr)
		}
	}
}

// TestVariables: the variables of a function, or of the inlined call that an address is in. A symbol file has none.
func TestVariables(t *testing.T) {
	f := open(t, "cxx-x86_64-gcc12-O0-dw5.elf", lookup.Options{})
	run := f.Symbols(nil, "run", -1)[0]
	list, err := f.Variables(nil, run.Addr)
	if err != nil || len(list) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	v := list[0]
	if v.Function != "run" || v.Name == "" || !strings.HasSuffix(v.File, "cxx.cc") || v.Line == 0 || !v.OnFrame || v.Offset >= 0 || !v.HasSize || v.HasTag {
		t.Errorf("%+v", v)
	}
	for _, name := range []string{"cxx-x86_64-clang14-O2-dw5-split.elf", "cxx-x86_64-gcc12-O2-dw4-split.elf", "cxx-x86_64-gcc12-O2-dw5-dwz.elf"} {
		f := open(t, name, lookup.Options{})
		for _, sym := range f.Symbols(nil, "run", -1) {
			list, err := f.Variables(nil, sym.Addr)
			if err != nil || len(list) == 0 {
				t.Errorf("%s: %+v, %v", name, list, err)
			}
		}
	}
}

// TestSymbols: symbols are found by address and by name, functions and variables.
func TestSymbols(t *testing.T) {
	f := open(t, "cxx-x86_64-gcc12-O2-dw5.elf", lookup.Options{})
	syms := f.Symbols(nil, "run", -1)
	if len(syms) != 1 || syms[0].Data || syms[0].Size == 0 {
		t.Fatalf("run: %+v", syms)
	}
	got, ok := f.SymbolAt(syms[0].Addr + 1)
	if !ok || got != syms[0] {
		t.Errorf("at run+1: %+v, %v", got, ok)
	}
	all := f.Symbols(nil, "", -1)
	if !slices.Contains(all, syms[0]) || !slices.IsSortedFunc(all, func(a, b lookup.Symbol) int { return cmp.Compare(a.Addr, b.Addr) }) {
		t.Errorf("all: %+v", all)
	}
	if got := f.Symbols(nil, "nothing", -1); len(got) > 0 {
		t.Errorf("nothing: %+v", got)
	}
}

// TestNamed: symbols are found by the texts of their mangled names, copies by their suffixes.
func TestNamed(t *testing.T) {
	f := open(t, "cxx-x86_64-gcc12-O2-dw5.elf", lookup.Options{})
	for text, want := range map[string][]uint64{
		"shop::(anonymous namespace)::book(int)":         {0x401060, 0x401430},
		"shop::Heavy::~Heavy()":                          {0x401390, 0x401390, 0x4013a0},
		"shop::Stack<int, 4>::push(int) [clone .isra.0]": {0x401090, 0x401440},
		"shop::Stack<int, 4>::push(int)":                 nil,
		"run":                                            nil, // which is no mangled name
	} {
		for _, n := range []int{1, 2, 10} {
			var got []uint64
			for _, s := range f.Named(nil, text, n) {
				got = append(got, s.Addr)
			}
			slices.Sort(got)
			if len(got) != min(n, len(want)) || n == 10 && !slices.Equal(got, want) {
				t.Errorf("%s: the first %d are %#x, all %#x", text, n, got, want)
			}
		}
	}
}

// TestSymbolsWithoutPlace: compilers' labels and symbols of sections that are not loaded name no code; an object among
// code does, as GHC marks code with data before it.
func TestSymbolsWithoutPlace(t *testing.T) {
	s := elftest.Plain(elf.ELFCLASS64, false)
	text := s.Layout().Addr[".text"]
	const local, weak = 0x00, 0x20 // bindings of symbols without a type
	names := "\x00main\x00.L0 \x00t.c.b570341a\x00part\x00con_info\x00"
	s.Sections = append(s.Sections,
		elftest.Sec{Name: ".symtab", Kind: elf.SHT_SYMTAB, Link: ".strtab", Entsize: 24, Data: s.Enc().Sym(0, 0, 0, 0, 0, 0).
			Sym(1, text, 40, 0x12, 0, 1).       // main
			Sym(6, text+4, 0, local, 0, 1).     // .L0, in objects of RISC-V and LoongArch
			Sym(11, text+8, 0, weak, 2, 4).     // gcc -flto has it in .debug_info
			Sym(24, text+12, 0, local, 0, 1).   // a label
			Sym(29, text+16, 8, 0x11, 0, 1).B}, // an object
		elftest.Sec{Name: ".strtab", Kind: elf.SHT_STRTAB, Data: []byte(names)})
	f := openBytes(t, s.Build())
	for addr, want := range map[uint64]string{0: "main", 6: "main", 10: "main", 14: "part", 18: "con_info"} {
		got, ok := f.SymbolAt(text + addr)
		if !ok || got.Name != want || got.Data {
			t.Errorf("%#x: %+v, %v, want %q", addr, got, ok, want)
		}
	}
}

// TestTruncated: a file that is truncated while it is mapped costs answers, and is an error; it does not end the process.
func TestTruncated(t *testing.T) {
	data, err := os.ReadFile(fixtures + "cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	f := openBytes(t, data)
	err = os.Truncate(f.Path(), 4096)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Frames(nil, 0x40120b)
	if !errors.Is(err, elfx.ErrChanged) {
		t.Errorf("frames: %v", err)
	}
	_, ok := f.SymbolAt(0x40120b)
	if ok || len(f.Symbols(nil, "run", -1)) > 0 {
		t.Error("symbols of bytes that are gone")
	}
	if len(f.Losses()) == 0 {
		t.Error("no loss")
	}
}

// TestNoAllocation: a lookup in a decoded unit allocates nothing.
func TestNoAllocation(t *testing.T) {
	f := open(t, "cxx-x86_64-gcc12-O2-dw5.elf", lookup.Options{})
	var frames []lookup.Frame
	n := testing.AllocsPerRun(100, func() {
		frames, _ = f.Frames(frames[:0], 0x4010b0)
		frames, _ = f.Frames(frames[:0], 0x40120b)
	})
	if n != 0 || len(frames) != 3 {
		t.Errorf("%v allocations, %d frames", n, len(frames))
	}
}

// TestOther: a file of another kind, and one that is missing, are errors.
func TestOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	err := os.WriteFile(path, []byte("text"), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lookup.Open(t.Context(), path, lookup.Options{})
	if !errors.Is(err, lookup.ErrOther) {
		t.Errorf("text: %v", err)
	}
	_, err = lookup.Open(t.Context(), path+"x", lookup.Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

// TestSymbolFile: a symbol file has functions, calls and lines.
func TestSymbolFile(t *testing.T) {
	text := "MODULE Linux x86_64 000000000000000000000000000000000 app\nFILE 0 a.c\nINLINE_ORIGIN 0 inner\n" +
		"FUNC 1000 20 0 outer\nINLINE 0 7 0 0 1004 4\n1000 4 5 0\n1004 4 9 0\n1008 18 6 0\nPUBLIC 2000 0 other\n"
	f := openBytes(t, []byte(text))
	frames, err := f.Frames(nil, 0x1004)
	want := []lookup.Frame{{Name: "inner", File: "a.c", Line: 9, Inlined: true}, {Name: "outer", File: "a.c", Line: 7, Start: 0x1000, Size: 0x20}}
	if err != nil || !slices.Equal(frames, want) {
		t.Errorf("%+v, %v, want %+v", frames, err, want)
	}
}

func BenchmarkWarm(b *testing.B) {
	path := os.Getenv("SYMKIT_BENCH_FILE")
	if path == "" {
		path = fixtures + "cxx-x86_64-gcc12-O2-dw5.elf"
	}
	f, err := lookup.Open(b.Context(), path, lookup.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	syms := f.Symbols(nil, "main", -1)
	if len(syms) == 0 {
		syms = f.Symbols(nil, "run", -1)
	}
	var frames []lookup.Frame
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		frames, _ = f.Frames(frames[:0], syms[0].Addr+uint64(i%64))
	}
}
