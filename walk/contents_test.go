package walk

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"symkit/cfi"
)

// TestContents: the memory of a frame up to its caller's, and what in it points
// to functions; registers of every frame that has a caller.
func TestContents(t *testing.T) {
	stack := words(0x8000, 8, 0x401104, 0x6f6c6c6568, 0x8030, 0x8030, 0x401202, 0, 0, 0x401302)
	p := process("x86_64", regsOf(0x401008, map[cfi.Reg]uint64{7: 0x8000, 6: 0x8018}), stack)
	p.Crash.Reason = "SIGSEGV"
	res, err := Walk(context.Background(), p, fixed(symbolsText+"FILE 0 a.c\n"), Options{Registers: true, Contents: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := res.WriteText(&out, TextOptions{Contents: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"     stack:\n      0000000000008000  04 11 40 00 00 00 00 00 68 65 6c 6c 6f 00 00 00  ..@.....hello...\n",
		"      0000000000008020  02 12 40 00 00 00 00 00                          ..@.....\n",
		"      *(0x0000000000008000) = 0x0000000000401104 app!middle + 0x4\n",
		"       rip 0x0000000000401202   rbp 0x0000000000008030   rsp 0x0000000000008028\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	brief := bytes.Buffer{}
	if err := res.WriteText(&brief, TextOptions{Brief: true}); err != nil || strings.Contains(brief.String(), "rip") || strings.Contains(brief.String(), "stack:") {
		t.Errorf("%v: %s", err, &brief)
	}
}

// prefetching notes what is got in advance.
type prefetching struct {
	fixed
	mu   sync.Mutex
	seen []string
}

func (p *prefetching) Prefetch(_ context.Context, m *Module) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, m.Name)
	return true
}

// TestPrefetch: the modules of the program counter and of words of the stack,
// each once; a chain asks until one has the symbols.
func TestPrefetch(t *testing.T) {
	p := process("x86_64", regsOf(0x401008, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, 0x501104, 0x601104, 0x501104))
	for i, name := range []string{"b", "c", "d"} {
		base := 0x500000 + uint64(i)<<20
		p.Modules = append(p.Modules, &Module{Name: name, Base: base, End: base + 0x10000})
	}
	first, second := &prefetching{}, &prefetching{}
	if _, err := Walk(t.Context(), p, Chain(&Store{}, first, second), Options{Prefetch: true}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(first.seen)
	if got := fmt.Sprint(first.seen, second.seen); got != "[app b c] []" {
		t.Error(got)
	}
}

// TestSymbolPaths: where symbols of modules are looked for, and where not.
func TestSymbolPaths(t *testing.T) {
	for _, c := range []struct {
		m    Module
		want string
	}{
		{Module{Path: `C:\a\x.dll`, Name: "y.PDB", DebugID: "A1", CodeID: "4f"}, "[y.PDB/A1/y.sym x.dll/A1/x.dll.sym x.dll/4F/x.sym]"},
		{Module{Path: "/lib/l.so.1", Name: "l.so", DebugID: "A1", BuildID: []byte{0xab}}, "[l.so/A1/l.so.sym l.so.1/A1/l.so.1.sym l.so.1/AB/l.so.1.sym]"},
		{Module{Path: "/x", Name: ".pdb", DebugID: "A1"}, "[.pdb/A1/.pdb.sym x/A1/x.sym]"},
		{Module{Path: "/x/..", Name: "../..", DebugID: "A1", CodeID: "AA"}, "[]"},
		{Module{Path: "/x", Name: "x", DebugID: "../A1", CodeID: "x"}, "[]"},
		{Module{Path: "/x", Name: "x", DebugID: "A 1"}, "[]"},
		{Module{Path: "[vdso]", Name: "a\x00b"}, "[]"},
	} {
		if got := fmt.Sprint(c.m.SymbolPaths()); got != c.want {
			t.Errorf("%q: %s, want %s", c.m.Name, got, c.want)
		}
	}
}
