// Package symkit holds no code: this test is about all packages.
package symkit

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for each package, the packages of this module that it may
// import (DESIGN.md, "The house"). What is not listed here must not exist.
var allowed = map[string][]string{
	"internal/wire":       {},
	"internal/atomicfile": {},
	"internal/command":    {"internal/limits", "internal/wire"},
	"internal/testfile":   {},
	"internal/mutant":     {},
	"internal/limits":     {},
	"internal/mem":        {},
	"internal/par":        {"internal/mem"},
	"internal/soak":       {"internal/mutant", "internal/testfile"},
	"internal/inflate":    {"internal/wire"},
	"internal/demangle":   {},
	"internal/fetch":      {},
	"internal/filename":   {},
	"elfx":                {"internal/wire", "internal/inflate", "internal/limits"},
	"cfi":                 {"internal/wire"},
	"sframe":              {"internal/wire", "cfi", "internal/limits"},
	"emit":                {"internal/wire"},
	"elfx/debuginfod":     {"elfx", "internal/fetch", "internal/limits", "internal/wire"},
	"dump/dwarfx":         {"internal/wire", "internal/limits"},
	"dump/gosym":          {"internal/wire"},
	"dump/store":          {"internal/atomicfile", "internal/filename"},
	"dump/batch":          {"elfx", "internal/wire"},
	"dump":                {"dump/dwarfx", "dump/gosym", "elfx", "cfi", "sframe", "emit", "internal/demangle", "internal/wire", "internal/limits"},
	"check":               {"elfx", "cfi", "sframe", "emit", "internal/demangle", "internal/wire", "internal/limits"},
	"walk":                {"cfi", "sframe", "emit", "elfx", "walk/internal/x86", "internal/wire", "internal/limits", "internal/par"},
	"walk/internal/x86":   {"cfi"},
	"walk/report":         {"walk", "walk/internal/x86", "cfi", "internal/wire"},
	"walk/symbols":        {"walk", "elfx", "emit", "internal/filename", "internal/limits", "internal/wire"},
	// Of all of walk, only elfsyms dumps.
	"walk/symbols/elfsyms": {"walk", "walk/symbols", "dump", "elfx", "elfx/debuginfod", "emit"},
	"walk/corefile":        {"walk", "walk/symbols", "elfx", "cfi", "internal/wire", "internal/limits"},
	"walk/symserver":       {"walk", "walk/symbols", "elfx", "internal/atomicfile", "internal/fetch", "internal/limits"},
	"walk/minidump":        {"walk", "cfi", "elfx", "internal/wire"},
	"scripts/floor":        {"elfx"},
	"scripts/gofixture":    {},
	"cmd/dump_syms":        {"dump", "dump/batch", "dump/store", "check", "elfx", "elfx/debuginfod", "internal/atomicfile", "internal/command", "internal/limits", "internal/wire"},
	"cmd/symcheck":         {"check", "elfx", "emit", "internal/command", "internal/limits", "internal/wire"},
	"cmd/stackwalk":        {"walk", "walk/corefile", "walk/minidump", "walk/report", "walk/symbols", "walk/symbols/elfsyms", "walk/symserver", "elfx", "elfx/debuginfod", "internal/atomicfile", "internal/command", "internal/limits", "internal/par"},
}

// TestImports holds the direction of the imports.
func TestImports(t *testing.T) {
	// With its profile a program has packages of its own.
	out, err := exec.Command("go", "list", "-pgo=off", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(pkg.ImportPath, "symkit/")
		if name == "symkit" {
			continue
		}
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the plan of the house", name)
		}
		for _, imp := range pkg.Imports {
			if own, ok := strings.CutPrefix(imp, "symkit/"); ok && !slices.Contains(may, own) {
				t.Errorf("%s must not import %s", name, own)
			}
		}
	}
}
