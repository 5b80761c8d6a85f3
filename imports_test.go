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
	"internal/wire":                  {},
	"internal/atomicfile":            {},
	"internal/command":               {"internal/limits", "internal/wire"},
	"internal/testfile":              {},
	"internal/mutant":                {},
	"internal/limits":                {},
	"internal/soak":                  {"internal/mutant", "internal/testfile"},
	"internal/inflate":               {"internal/wire"},
	"internal/demangle":              {},
	"internal/fetch":                 {},
	"internal/filename":              {},
	"elfx":                           {"internal/mem", "internal/wire", "internal/inflate", "internal/limits"},
	"cfi":                            {"internal/wire"},
	"sframe":                         {"internal/wire", "cfi", "internal/limits"},
	"emit":                           {"internal/wire"},
	"elfx/debuginfod":                {"elfx", "internal/fetch", "internal/limits", "internal/wire"},
	"dump/dwarfx":                    {"internal/wire", "internal/limits"},
	"dump/gosym":                     {"internal/wire"},
	"dump/store":                     {"internal/atomicfile", "internal/filename"},
	"dump/batch":                     {"elfx", "internal/wire"},
	"internal/mem":                   {},
	"internal/par":                   {"internal/mem"},
	"dump/pathmap":                   {},
	"dump/internal/losses":           {"internal/wire"},
	"dump/internal/symbols":          {"dump/dwarfx", "dump/internal/losses", "elfx", "internal/wire"},
	"dump/internal/frames":           {"dump/dwarfx", "dump/internal/losses", "elfx", "cfi", "sframe", "internal/wire"},
	"dump/internal/naming":           {"dump/dwarfx", "emit", "internal/demangle", "internal/limits", "internal/par"},
	"dump/internal/load":             {"dump/dwarfx", "dump/internal/losses", "dump/internal/naming", "elfx", "internal/mem", "internal/par"},
	"dump/internal/funcs":            {"dump/internal/load", "dump/internal/naming", "dump/internal/symbols", "internal/par"},
	"dump/internal/files":            {"dump/dwarfx", "dump/internal/losses", "dump/pathmap", "emit", "internal/limits"},
	"dump/internal/lines":            {"dump/dwarfx", "dump/internal/files", "dump/internal/funcs", "dump/internal/load", "emit", "internal/limits", "internal/mem"},
	"dump/internal/inlines":          {"dump/dwarfx", "dump/internal/files", "dump/internal/funcs", "dump/internal/load", "internal/limits", "internal/mem"},
	"dump/internal/unwind":           {"dump/internal/frames", "elfx", "cfi", "sframe", "emit", "internal/wire"},
	"dump/internal/record":           {"dump/dwarfx", "dump/internal/files", "dump/internal/inlines", "dump/internal/naming", "dump/internal/unwind", "emit"},
	"dump/internal/gofuncs":          {"dump/dwarfx", "dump/gosym", "dump/internal/files", "dump/internal/inlines", "dump/internal/load", "dump/internal/losses", "dump/internal/naming", "dump/internal/record", "elfx", "emit", "internal/wire"},
	"dump/internal/publics":          {"dump/internal/losses", "dump/internal/record", "dump/internal/symbols", "elfx", "emit", "internal/demangle", "internal/limits", "internal/wire"},
	"dump/internal/write":            {"dump/dwarfx", "dump/internal/record", "emit", "internal/mem"},
	"dump":                           {"dump/dwarfx", "dump/pathmap", "dump/internal/files", "dump/internal/frames", "dump/internal/funcs", "dump/internal/gofuncs", "dump/internal/inlines", "dump/internal/lines", "dump/internal/load", "dump/internal/losses", "dump/internal/naming", "dump/internal/publics", "dump/internal/record", "dump/internal/symbols", "dump/internal/unwind", "dump/internal/write", "elfx", "cfi", "emit", "internal/demangle", "internal/limits", "internal/mem", "internal/par", "internal/wire"},
	"check/report":                   {"internal/wire"},
	"check/internal/pcs":             {},
	"check/internal/collect":         {"check/report"},
	"check/internal/symfile":         {"check/internal/pcs", "check/report", "emit", "internal/limits"},
	"check/internal/eval":            {"cfi", "internal/wire"},
	"check/internal/naming":          {"emit", "internal/demangle"},
	"check/internal/linter":          {"check/internal/collect", "check/internal/eval", "check/internal/pcs", "check/internal/symfile", "check/report", "cfi", "emit", "internal/wire"},
	"check/internal/truth":           {"check/internal/naming", "check/internal/pcs", "elfx", "internal/limits", "internal/wire"},
	"check/internal/truth/dwarfinfo": {"check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/internal/truth", "elfx", "internal/limits", "internal/wire"},
	"check/internal/truth/gotable":   {"check/internal/pcs", "check/internal/truth", "elfx", "internal/wire"},
	"check/lint":                     {"check/internal/collect", "check/internal/linter", "check/internal/symfile", "check/report", "internal/mem"},
	"check/diff":                     {"check/internal/collect", "check/internal/eval", "check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/report", "cfi", "emit", "internal/limits", "internal/mem"},
	"check":                          {"check/internal/collect", "check/internal/linter", "check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/internal/truth", "check/internal/truth/dwarfinfo", "check/internal/truth/gotable", "check/internal/unwind", "check/report", "elfx", "cfi", "emit", "internal/limits", "internal/mem", "internal/par", "internal/wire"},
	"check/internal/unwind":          {"check/internal/collect", "check/internal/eval", "check/internal/pcs", "check/internal/symfile", "check/report", "cfi", "elfx", "emit", "internal/limits", "internal/par", "internal/wire", "sframe"},
	"walk":                           {"cfi", "sframe", "emit", "elfx", "internal/filename", "internal/wire", "internal/limits", "internal/mem"},
	"walk/corefile":                  {"walk", "elfx", "cfi", "internal/wire", "internal/limits", "internal/mem"},
	"walk/symserver":                 {"walk", "elfx", "internal/atomicfile", "internal/fetch", "internal/limits"},
	"walk/minidump":                  {"walk", "cfi", "elfx", "internal/wire"},

	// Comparisons with other programs; only their tests run with -tags oracle.
	"internal/oracle":            {"dump", "elfx", "internal/testfile"},
	"internal/oracle/symfile":    {"emit", "internal/oracle"},
	"internal/oracle/dwarftruth": {"emit", "internal/oracle", "internal/oracle/symfile"},
	"internal/oracle/readelf":    {"cfi", "internal/oracle", "internal/oracle/symfile"},
	"internal/oracle/toolchain":  {"dump", "elfx", "internal/oracle"},
	"internal/oracle/binutils":   {},
	"internal/oracle/gimli":      {},
	"internal/oracle/peers":      {},
	"internal/oracle/records":    {},
	"internal/oracle/symbolizer": {},

	"scripts/floor":     {"elfx", "internal/mem"},
	"scripts/gofixture": {},
	"cmd/dump_syms":     {"dump", "dump/pathmap", "dump/batch", "dump/store", "check", "check/report", "elfx", "elfx/debuginfod", "internal/atomicfile", "internal/command", "internal/limits", "internal/wire"},
	"cmd/symcheck":      {"check", "check/diff", "check/lint", "check/report", "elfx", "internal/command", "internal/limits", "internal/wire", "internal/mem"},
	"cmd/stackwalk":     {"walk", "walk/corefile", "walk/minidump", "walk/symserver", "dump", "elfx", "elfx/debuginfod", "emit", "internal/atomicfile", "internal/command", "internal/limits", "internal/wire", "internal/mem"},
}

// TestImports holds the direction of the imports.
func TestImports(t *testing.T) {
	// With its profile a program has packages of its own.
	out, err := exec.Command("go", "list", "-pgo=off", "-tags", "oracle", "-json=ImportPath,Imports", "./...").Output()
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
