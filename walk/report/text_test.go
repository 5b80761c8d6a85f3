package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/walk"
)

// TestContents: the memory of a frame up to its caller's, and what in it points
// to functions; registers of every frame that has a caller.
func TestContents(t *testing.T) {
	stack := []uint64{0x401104, 0x6f6c6c6568, 0x8030, 0x8030, 0x401202, 0, 0, 0x401302}
	p := process(regsOf(0x401008, map[cfi.Reg]uint64{7: 0x8000, 6: 0x8018}), stack...)
	p.Crash.Reason = "SIGSEGV"
	res, err := walk.Walk(context.Background(), p, fixed(symbolsText+"FILE 0 a.c\n"), walk.Options{Registers: true, Contents: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Text(&out, res, TextOptions{Contents: true}); err != nil {
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
	if err := Text(&brief, res, TextOptions{Brief: true}); err != nil || strings.Contains(brief.String(), "rip") || strings.Contains(brief.String(), "stack:") {
		t.Errorf("%v: %s", err, &brief)
	}
}

// TestGeneratedNames: functions of generated code, also one named as a function
// of the C library that ends stacks.
func TestGeneratedNames(t *testing.T) {
	g := &walk.Generated{}
	if err := g.Add([]byte("700000 18 first\n700018 10 clone\n")); err != nil {
		t.Fatal(err)
	}
	p := process(regsOf(0x700004, map[cfi.Reg]uint64{7: 0x8000, 6: 0x8000}),
		0x8010, 0x700020, 0, 0x401150, 0, 0)
	p.Mappings = []walk.Mapping{{Begin: 0x400000, End: 0x410000, Execute: true}, {Begin: 0x700000, End: 0x710000, Execute: true}}
	res, err := walk.Walk(t.Context(), p, fixed(symbolsText), walk.Options{Generated: g})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := Text(&text, res, TextOptions{Brief: true}); err != nil {
		t.Fatal(err)
	}
	if want := "  0  first + 0x4\n  1  clone + 0x7\n  2  app!middle + 0x4f\n"; !strings.Contains(text.String(), want) {
		t.Errorf("%s, want\n%s", text.String(), want)
	}
}
