package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/emit"
	"symkit/test/programtest"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/symbols/sources"
)

// breakpadLike gives symbols with the defects that Breakpad's dump_syms leaves
// in them: no signal frames, the trampoline's rules without .cfa, and a
// return address for _start.
type breakpadLike struct{ files *sources.Files }

func (b breakpadLike) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	f := b.files.Local(m)
	if f == nil {
		return &walk.Symbols{}
	}
	mod, err := dump.Dump(ctx, &elfx.Image{Main: f}, dump.Options{})
	if err != nil {
		return &walk.Symbols{}
	}
	var text bytes.Buffer
	if err := mod.Write(&text); err != nil {
		return &walk.Symbols{}
	}
	out := regexp.MustCompile(`INFO SIGNAL_FRAME .*\n`).ReplaceAllString(text.String(), "")
	out = regexp.MustCompile(`(STACK CFI INIT \w+ \w+) .*\$rsp 160.*\n`).ReplaceAllString(out, "$1 .ra: $$rip\n")
	out = strings.ReplaceAll(out, ".ra: 1", ".ra: .cfa -8 + ^")
	return &walk.Symbols{Index: emit.NewIndex([]byte(out)), From: "test"}
}

// TestBreakpadSymbols: with Breakpad's rules the walk still goes through the
// signal handler, and invents nothing after _start.
func TestBreakpadSymbols(t *testing.T) {
	core := programtest.Fixture(t, "crash-x86_64-gcc12-O2-dw5.core")
	files := &sources.Files{Exe: filepath.Join(repository, "testdata", "elf", "crash-x86_64-gcc12-O2-dw5.elf")}
	defer files.Close()
	c, err := corefile.New("core", core, corefile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	res, err := walk.Walk(context.Background(), c.Process, breakpadLike{files}, walk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range res.Stacks[0].Frames {
		names = append(names, f.Place.Func)
	}
	const want = "handler restore crash descend descend descend parse run _start"
	if got := strings.Join(names, " "); got != want || !res.Stacks[0].Complete {
		t.Errorf("%s, complete %v\nwant %s", got, res.Stacks[0].Complete, want)
	}
}
