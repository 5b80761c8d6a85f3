//go:build oracle

package oracle_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/internal/testfile"
)

// input is a module to dump: a file and, where it is separate, the file with
// its debug information.
type input struct {
	name        string
	main, debug string // paths; debug may be empty
}

// files are the paths of the module's files.
func (in *input) files() []string {
	if in.debug == "" {
		return []string{in.main}
	}
	return []string{in.main, in.debug}
}

// dwarfFile is the path of the file with the debug information.
func (in *input) dwarfFile() string {
	if in.debug != "" {
		return in.debug
	}
	return in.main
}

// corpusDir is the directory that scripts/corpus.sh fills.
func corpusDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SYMKIT_CORPUS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "symkit", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("no corpus: %v; run scripts/corpus.sh, or set SYMKIT_CORPUS to a directory it filled", err)
	}
	return dir
}

// fromCorpus returns the files that pattern matches, paired with their debug
// files from the package debugPackage, if one is given.
func fromCorpus(t *testing.T, pattern, debugPackage string) (inputs []input) {
	t.Helper()
	corpus := corpusDir(t)
	paths, err := filepath.Glob(filepath.Join(corpus, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s in the corpus %s (%v); run scripts/corpus.sh", pattern, corpus, err)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			t.Fatal(err)
		}
		if seen[path] {
			continue // another name of the same file
		}
		seen[path] = true
		f, err := elfx.Open(path)
		if errors.Is(err, elfx.ErrNotELF) {
			continue // scripts lie beside programs
		}
		if err != nil {
			t.Fatal(err)
		}
		in := input{name: filepath.Base(path), main: path}
		if debugPackage != "" {
			debug, probes := f.FindDebug([]string{filepath.Join(corpus, debugPackage, "usr/lib/debug")})
			if debug == nil {
				t.Fatalf("%s: no debug file: %v", path, probes)
			}
			in.debug = debug.Path()
			debug.Close()
		}
		f.Close()
		inputs = append(inputs, in)
	}
	return inputs
}

// notDumpable are fixtures that are no module, or none that these tests have
// an oracle for.
func notDumpable(name string) string {
	switch filepath.Ext(name) {
	case ".dwo", ".dwp", ".alt":
		return "a companion of another fixture"
	case ".core":
		return "a core file"
	case ".o":
		return "relocatable: debug/dwarf has all its sections at address 0"
	}
	if strings.HasSuffix(name, "-nosections.so") {
		return "no section headers, so no DWARF"
	}
	return ""
}

// fixtures returns the modules of testdata/elf.
func fixtures(t *testing.T) (inputs []input) {
	t.Helper()
	entries, err := os.ReadDir("../../testdata/elf")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	for _, e := range entries {
		name, packed := strings.CutSuffix(e.Name(), ".xz")
		if name == "MANIFEST" {
			continue
		}
		if why := notDumpable(name); why != "" {
			t.Logf("not compared: %s: %s", name, why)
			continue
		}
		path := filepath.Join("../../testdata/elf", e.Name())
		if packed {
			path = unpack(t, path, filepath.Join(tmp, name))
		}
		in := input{name: name, main: path}
		if strings.HasSuffix(name, "-stripped.elf") {
			in.debug = strings.TrimSuffix(path, ".elf") + ".debug"
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		t.Fatal("no fixtures in testdata/elf")
	}
	return inputs
}

// defects returns the programs that show where Breakpad and Mozilla fail.
func defects(t *testing.T) (inputs []input) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(expectedDir(t), "defects", "*.elf.xz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no programs in %s/defects: %v", expectedDir(t), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".xz")
		inputs = append(inputs, input{name: name, main: unpack(t, path, filepath.Join(t.TempDir(), name))})
	}
	return inputs
}

// readXZ returns the content of an .xz file.
func readXZ(t *testing.T, path string) []byte {
	t.Helper()
	data, err := testfile.Read(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

func unpack(t *testing.T, from, to string) string {
	t.Helper()
	if err := os.WriteFile(to, readXZ(t, from), 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// dumpText dumps a module the way cmd/dump_syms does.
func dumpText(t *testing.T, in *input, opt dump.Options) []byte {
	t.Helper()
	img := openImage(t, in)
	defer img.Close()
	others := img.FindCompanions(elfx.Places{})
	defer others.Close()
	opt.Companions = others
	text, _ := dumpImage(t, img, opt)
	return text
}

// dumpImage dumps an image in which nothing is damaged.
func dumpImage(t *testing.T, img *elfx.Image, opt dump.Options) ([]byte, *dump.Stats) {
	t.Helper()
	m, err := dump.Dump(t.Context(), img, opt)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Stats.Losses {
		t.Errorf("%s: damage in a sound file: %v", img.Main.Path(), err)
	}
	return out.Bytes(), &m.Stats
}

// openImage opens the files of a module.
func openImage(t *testing.T, in *input) *elfx.Image {
	t.Helper()
	main, err := elfx.Open(in.main)
	if err != nil {
		t.Fatal(err)
	}
	if in.debug == "" {
		return &elfx.Image{Main: main}
	}
	debug, err := elfx.Open(in.debug)
	if err != nil {
		t.Fatal(err)
	}
	img, err := elfx.Join(main, debug)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// layout is what the oracles have to know of a file's address space. It is
// read with debug/elf.
type layout struct {
	machine elf.Machine
	load    uint64 // what addresses in a symbol file are relative to
	code    []span // the executable sections
}

// span is the addresses [lo, hi).
type span struct{ lo, hi uint64 }

func readLayout(t *testing.T, path string) layout {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer f.Close()
	l := layout{machine: f.Machine}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			l.load = p.Vaddr
			break
		}
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
			l.code = append(l.code, span{s.Addr, s.Addr + s.Size})
		}
	}
	return l
}

// live tells whether addr is in an executable section. What is not is code
// that the linker discarded.
func (l *layout) live(addr uint64) bool {
	for _, s := range l.code {
		if addr >= s.lo && addr < s.hi {
			return true
		}
	}
	return false
}
