package dump

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/lookup/gsym"
	"symkit/test/testfile"
)

// TestGSYM: at the start of each line and of each inlined call, and at the byte before, a GSYM file has what the
// records of the module say.
func TestGSYM(t *testing.T) {
	for _, name := range []string{
		"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-clang14-O2-dw5-types.elf", "cxx-s390x-gcc12-O2-dw5.elf", "cxx-arm-gcc12-O2-dw5.elf",
		"lang-x86_64-gcc12-O2-dw4.elf", "asm-x86_64-gas-dw5.elf", "cxx-x86_64-gcc12-O2-dw5.o",
	} {
		m := gsymModule(t, name)
		f := openGSYM(t, m)
		if f == nil {
			continue
		}
		if string(f.UUID) != string(m.img.BuildID()) {
			t.Errorf("%s: UUID %x", name, f.UUID)
		}
		checked := 0
		for fn := range m.Funcs() {
			for at := range edges(m, fn) {
				s, frames, err := f.Lookup(nil, at+m.records.Load)
				got := fmt.Sprintf("%s %#x %v", framesText(frames), s.Addr, err)
				want := fmt.Sprintf("%s %#x <nil>", wantFrames(m, fn, at), fn.Addr+m.records.Load)
				if got != want {
					t.Fatalf("%s: %#x: %s\nwant %s", name, at, got, want)
				}
				checked++
			}
		}
		for p := range m.Publics() {
			_, frames, err := f.Lookup(nil, p.Addr+m.records.Load)
			if got := framesText(frames); err != nil || got != " "+string(p.Name)+" :0" {
				t.Errorf("%s: %#x: %s, %v, want %s", name, p.Addr, got, err, p.Name)
			}
		}
		if checked < 10 {
			t.Errorf("%s: %d addresses", name, checked)
		}
	}
}

// gsymModule dumps a fixture as dump_syms --format=gsym does.
func gsymModule(t *testing.T, name string) *Module {
	t.Helper()
	data, err := testfile.Read(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	file, err := elfx.NewFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	m, err := Dump(t.Context(), &elfx.Image{Main: file}, Options{Inlines: true, Linkage: true, NoCFI: true, ID: "0"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openGSYM(t *testing.T, m *Module) *gsym.File {
	t.Helper()
	var out bytes.Buffer
	err := m.WriteGSYM(&out)
	if err != nil {
		t.Error(err)
		return nil
	}
	f, err := gsym.Open(out.Bytes())
	if err != nil {
		t.Error(err)
		return nil
	}
	return f
}

// edges returns the addresses of fn at which lines and calls begin, and those before, as keys.
func edges(m *Module, fn Func) map[uint64]bool {
	at := map[uint64]bool{fn.Addr: true, fn.Addr + fn.Size - 1: true}
	add := func(addr uint64) {
		for _, a := range []uint64{addr - 1, addr} {
			if a-fn.Addr < fn.Size {
				at[a] = true
			}
		}
	}
	for l := range fn.Lines() {
		add(l.Addr)
		add(l.Addr + uint64(l.Size))
	}
	for c := range fn.Calls() {
		for _, r := range c.Ranges {
			add(r.Lo)
			add(r.Hi)
		}
	}
	return at
}

// wantFrames returns the frames at an address of fn as framesText does.
func wantFrames(m *Module, fn Func, addr uint64) string {
	files := m.Files()
	place := ":0"
	for l := range fn.Lines() {
		switch {
		case l.Addr <= addr && addr-l.Addr < uint64(l.Size):
			place = fmt.Sprintf("%s:%d", files[l.File], l.Line)
		case l.Addr <= addr || place == ":0":
			place = files[l.File] + ":0" // the code has no line
		}
	}
	text, within, depth := "", fn.Name, 0
	for c := range fn.Calls() {
		if place == ":0" {
			place = files[c.File] + ":0" // no row at all
		}
		for _, r := range c.Ranges {
			if c.Depth == depth && addr >= r.Lo && addr < r.Hi {
				text = fmt.Sprintf(" %s %s:%d%s", within, files[c.File], c.Line, text)
				within, depth = c.Name, depth+1
				break
			}
		}
	}
	return " " + within + " " + place + text
}

func framesText(frames []gsym.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, " %s %s:%d", f.Name, f.AppendPath(nil), f.Line)
	}
	return b.String()
}

// TestGSYMNames: names are linkage names where the debug information or a symbol has one, and others have their scope.
func TestGSYMNames(t *testing.T) {
	m := gsymModule(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	got := map[string]bool{}
	for fn := range m.Funcs() {
		got[fn.Name] = true
		for c := range fn.Calls() {
			got[c.Name] = true
		}
	}
	for p := range m.Publics() {
		got[string(p.Name)] = true
	}
	for _, name := range []string{"run", "_ZN4shop4Item5countEv", "_ZdlPvm", "shop::(anonymous namespace)::book"} {
		if !got[name] {
			t.Errorf("no %s in %q", name, slices.Sorted(maps.Keys(got)))
		}
	}
}
