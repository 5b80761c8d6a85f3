//go:build oracle

package oracle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/test/testfile"
)

// CorpusDir returns the directory that scripts/corpus.sh fills.
func CorpusDir(t *testing.T) string {
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

// FromCorpus returns the files that pattern matches, paired with their debug
// files from the package debugPackage, if one is given.
func FromCorpus(t *testing.T, pattern, debugPackage string) (inputs []Input) {
	t.Helper()
	corpus := CorpusDir(t)
	paths, err := filepath.Glob(filepath.Join(corpus, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s in the corpus %s (%v); run scripts/corpus.sh", pattern, corpus, err)
	}

	// A library can be there under several names, and scripts lie beside programs.
	seen := map[string]bool{}
	for _, path := range paths {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
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
		in := Input{Name: filepath.Base(path), Main: path}

		// The debug file is found by its build id.
		if debugPackage != "" {
			places := companion.Search{DebugDirs: []string{filepath.Join(corpus, debugPackage, "usr/lib/debug")}}
			debug, probes := places.FindDebug(t.Context(), f)
			if debug == nil {
				t.Fatalf("%s: no debug file: %v", path, probes)
			}
			in.Debug = debug.Path()
			debug.Close()
		}
		f.Close()
		inputs = append(inputs, in)
	}
	return inputs
}

// notDumpable returns why a fixture is not compared, or the empty string. A fixture is not
// compared if it is no module, or if no other program reads it.
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

// Fixtures returns the modules of testdata/elf.
func Fixtures(t *testing.T) (inputs []Input) {
	t.Helper()
	entries, err := os.ReadDir("../../../testdata/elf")
	if err != nil {
		t.Fatal(err)
	}

	// Compressed fixtures are unpacked, others are read in place.
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
		path := filepath.Join("../../../testdata/elf", e.Name())
		if packed {
			path = Unpack(t, path, filepath.Join(tmp, name))
		}

		// A stripped fixture lies beside its debug file.
		in := Input{Name: name, Main: path}
		if strings.HasSuffix(name, "-stripped.elf") {
			in.Debug = strings.TrimSuffix(path, ".elf") + ".debug"
		}
		inputs = append(inputs, in)
	}

	// A comparison of nothing must not pass.
	if len(inputs) == 0 {
		t.Fatal("no fixtures in testdata/elf")
	}
	return inputs
}

// Defects returns the programs that show where Breakpad's and Mozilla's dump_syms fail.
func Defects(t *testing.T) (inputs []Input) {
	t.Helper()
	const pattern = "../../../check/testdata/defects/*.elf.xz"
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no programs %s: %v", pattern, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".xz")
		inputs = append(inputs, Input{Name: name, Main: Unpack(t, path, filepath.Join(t.TempDir(), name))})
	}
	return inputs
}

// ReadXZ returns the unpacked content of an .xz file.
func ReadXZ(t *testing.T, path string) []byte {
	t.Helper()
	data, err := testfile.Read(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// Unpack unpacks the .xz file from into the file to, and returns to.
func Unpack(t *testing.T, from, to string) string {
	t.Helper()
	if err := os.WriteFile(to, ReadXZ(t, from), 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}
