package elfsyms

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/emit"
	"symkit/test/testfile"
	"symkit/walk"
	"symkit/walk/corefile"
	"symkit/walk/minidump"
	"symkit/walk/symbols/sources"
)

// noRules supplies the symbols of one file without unwind rules.
type noRules struct {
	id   string
	text []byte
}

func newNoRules(t *testing.T, exe string) *noRules {
	t.Helper()
	f, err := elfx.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mod, err := dump.Dump(t.Context(), &elfx.Image{Main: f}, dump.Options{Inlines: true})
	if err != nil {
		t.Fatal(err)
	}
	var text, out bytes.Buffer
	if err := mod.Write(&text); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text.Bytes()) {
		if !bytes.HasPrefix(line, []byte("STACK ")) {
			out.Write(line)
		}
	}
	return &noRules{identity.ModuleID(f.BuildID(), f.BigEndian), out.Bytes()}
}

func (s *noRules) Symbols(_ context.Context, m *walk.Module) *walk.Symbols {
	if m.DebugID != s.id {
		return &walk.Symbols{}
	}
	return &walk.Symbols{Index: emit.NewIndex(s.text), From: "text"}
}

// TestMinidumpCode: a walk of a minidump reads machine code from the file at hand, as a walk of the
// core file does. The minidump has the stacks alone.
func TestMinidumpCode(t *testing.T) {
	const exe = "../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.elf"
	data, err := testfile.Read("../../../testdata/elf/crash-x86_64-gcc12-O2-dw5.core.xz")
	if err != nil {
		t.Fatal(err)
	}
	files := &sources.Files{Exe: exe}
	defer files.Close()
	core, err := corefile.New("core", data, corefile.Options{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	x := core.Extract(nil)
	var dmp bytes.Buffer
	err = minidump.Write(&dmp, &minidump.Contents{Process: core.Process, Maps: x.Maps, AuxV: x.AuxV, Memory: x.Stacks, Stacks: x.Stacks})
	if err != nil {
		t.Fatal(err)
	}
	d, err := minidump.New(dmp.Bytes())
	if err != nil {
		t.Fatal(err)
	}

	syms := newNoRules(t, exe)
	stack := func(p *walk.Process) string {
		res, err := walk.Walk(t.Context(), p, syms, walk.Options{Threads: []int{p.Crashed}, NoScan: true})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range res.Stacks[0].Frames {
			out = append(out, fmt.Sprintf("%#x %s %s", f.PC, f.Place.Func, f.Trust.Key()))
		}
		return strings.Join(out, "\n")
	}

	want := stack(core.Process)
	p := d.Process()
	if got := stack(p); got == want {
		t.Error("the minidump has the code itself")
	}
	dumped := &sources.Files{Exe: exe}
	defer dumped.Close()
	dumped.AddCode(p)
	if got := stack(p); got != want || strings.Count(got, "code") < 3 {
		t.Errorf("got:\n%s\nwant, as in the core file:\n%s", got, want)
	}

	// What the process could write is unknown, and so is what no module has.
	main := core.Process.Main
	for _, s := range main.Segments {
		known := p.Memory.Bytes(main.Bias+s.Vaddr, 4) != nil
		if s.Type == elf.PT_LOAD && known != (s.Flags&elf.PF_W == 0) {
			t.Errorf("segment %v at %#x: known: %v", s.Flags, s.Vaddr, known)
		}
	}
	if p.Memory.Bytes(1, 1) != nil {
		t.Error("memory of no module")
	}
}
