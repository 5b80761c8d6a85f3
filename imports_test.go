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
	"internal/wire":         {},
	"internal/atomicfile":   {},
	"internal/command":      {"internal/limits", "internal/wire"},
	"internal/testfile":     {},
	"internal/mutant":       {},
	"internal/limits":       {},
	"internal/soak":         {"internal/mutant", "internal/testfile"},
	"internal/inflate":      {"internal/wire"},
	"internal/mem":          {},
	"internal/demangle":     {},
	"internal/fetch":        {},
	"internal/filename":     {},
	"elfx":                  {"elfx/internal/reloc", "internal/wire", "internal/inflate", "internal/limits", "internal/mem"},
	"elfx/archive":          {"elfx", "internal/limits", "internal/mem", "internal/wire"},
	"elfx/companion":        {"elfx"},
	"elfx/internal/reloc":   {"internal/wire"},
	"elfx/internal/elftest": {"internal/wire"},
	"cfi":                   {"internal/wire"},
	"sframe":                {"internal/wire", "cfi", "internal/limits"},
	"emit":                  {"internal/wire"},
	"elfx/debuginfod":       {"elfx", "internal/fetch", "internal/limits", "internal/wire"},
	"dump/dwarfx":           {"elfx", "internal/wire", "internal/limits"},
	"dump/gosym":            {"internal/wire"},
	"dump/store":            {"internal/atomicfile", "internal/filename"},
	"dump/batch":            {"elfx", "elfx/archive", "elfx/companion", "internal/wire"},
	"dump":                  {"dump/dwarfx", "dump/gosym", "elfx", "elfx/companion", "cfi", "sframe", "emit", "internal/demangle", "internal/wire", "internal/limits"},
	"check":                 {"elfx", "elfx/companion", "cfi", "sframe", "emit", "internal/demangle", "internal/wire", "internal/limits", "internal/mem"},
	"walk":                  {"cfi", "sframe", "emit", "elfx", "elfx/companion", "internal/filename", "internal/wire", "internal/limits", "internal/mem"},
	"walk/corefile":         {"walk", "elfx", "cfi", "internal/wire", "internal/limits", "internal/mem"},
	"walk/symserver":        {"walk", "elfx", "elfx/companion", "internal/atomicfile", "internal/fetch", "internal/limits"},
	"walk/minidump":         {"walk", "cfi", "elfx", "internal/wire"},
	"scripts/floor":         {"elfx", "internal/mem"},
	"scripts/gofixture":     {},
	"cmd/dump_syms":         {"dump", "dump/batch", "dump/store", "check", "elfx", "elfx/archive", "elfx/companion", "elfx/debuginfod", "internal/atomicfile", "internal/command", "internal/limits", "internal/wire"},
	"cmd/symcheck":          {"check", "elfx", "elfx/companion", "emit", "internal/command", "internal/limits", "internal/wire", "internal/mem"},
	"cmd/stackwalk":         {"walk", "walk/corefile", "walk/minidump", "walk/symserver", "dump", "elfx", "elfx/companion", "elfx/debuginfod", "emit", "internal/atomicfile", "internal/command", "internal/limits", "internal/wire", "internal/mem"},
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
