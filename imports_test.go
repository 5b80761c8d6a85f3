// Package symkit has no code. Its tests are about all packages of the repository.
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

// allowed lists every package of this module, with the packages of the module that it
// may import (see ARCHITECTURE.md).
var allowed = map[string][]string{
	// The programs.
	"cmd/dump_syms":     {"check", "check/report", "dump", "dump/batch", "dump/pathmap", "dump/store", "elfx", "elfx/archive", "elfx/archive/pkg", "elfx/companion", "elfx/debuginfod", "internal/atomicfile", "internal/bounds", "internal/command", "internal/crash", "internal/limits", "internal/mem", "internal/quantity", "internal/remote", "internal/s3", "internal/usage", "internal/worker", "limits"},
	"cmd/stackwalk":     {"dump/batch", "elfx", "elfx/archive/pkg", "elfx/companion", "elfx/debuginfod", "internal/address", "internal/atomicfile", "internal/command", "internal/fetch", "internal/limits", "internal/mem", "internal/par", "internal/quantity", "internal/remote", "internal/s3", "internal/smallfile", "internal/usage", "internal/wire", "internal/worker", "limits", "walk", "walk/compare", "walk/corefile", "walk/microdump", "walk/minidump", "walk/minidump/rawdump", "walk/report", "walk/signature", "walk/symbols", "walk/symbols/elfsyms", "walk/symserver"},
	"cmd/symcheck":      {"check", "check/diff", "check/lint", "check/report", "elfx", "elfx/companion", "internal/bounds", "internal/command", "internal/crash", "internal/disasm", "internal/limits", "internal/mem", "internal/quantity", "internal/remote", "internal/smallfile", "limits"},
	"scripts/floor":     {"elfx", "internal/mem"},
	"scripts/gofixture": {},

	// Stacks of crashed processes.
	"walk":                  {"cfi", "elfx", "elfx/companion", "emit", "internal/crash", "internal/mem", "internal/par", "internal/quantity", "internal/wire", "limits", "walk/internal/x86"},
	"walk/compare":          {"internal/printable", "internal/quantity", "internal/smallfile"},
	"walk/corefile":         {"cfi", "elfx", "internal/mem", "internal/quantity", "internal/wire", "limits", "walk", "walk/symbols"},
	"walk/internal/x86":     {"cfi"},
	"walk/microdump":        {"internal/quantity", "located", "walk", "walk/minidump"},
	"walk/minidump":         {"cfi", "elfx", "internal/printable", "internal/quantity", "internal/wire", "located", "walk"},
	"walk/minidump/rawdump": {"internal/printable", "internal/wire", "walk/minidump"},
	"walk/report":           {"cfi", "internal/page", "internal/printable", "internal/quantity", "internal/wire", "walk", "walk/internal/x86", "walk/signature"},
	"walk/signature":        {"internal/smallfile"},
	"walk/symbols":          {"elfx", "elfx/companion", "emit", "internal/filename", "internal/gunzip", "internal/limits", "internal/mem", "internal/wire", "limits", "walk"},
	"walk/symbols/elfsyms":  {"dump", "elfx", "elfx/companion", "elfx/debuginfod", "emit", "limits", "walk", "walk/symbols"},
	"walk/symserver":        {"elfx/companion", "internal/address", "internal/atomicfile", "internal/fetch", "internal/limits", "internal/mem", "limits", "walk", "walk/symbols"},

	// Verification of symbol files. No package here may import dump.
	"check":                          {"cfi", "check/internal/collect", "check/internal/disasm", "check/internal/linter", "check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/internal/truth", "check/internal/truth/dwarfinfo", "check/internal/truth/gotable", "check/internal/unwind", "check/report", "elfx", "elfx/companion", "emit", "internal/limits", "internal/mem", "internal/par", "internal/quantity", "internal/wire", "limits"},
	"check/diff":                     {"cfi", "check/internal/collect", "check/internal/eval", "check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/report", "emit", "internal/limits", "internal/mem", "limits"},
	"check/internal/collect":         {"check/report", "internal/quantity"},
	"check/internal/eval":            {"cfi", "internal/wire"},
	"check/internal/linter":          {"cfi", "check/internal/collect", "check/internal/eval", "check/internal/pcs", "check/internal/symfile", "check/report", "emit", "internal/wire", "limits"},
	"check/internal/naming":          {"emit"},
	"check/internal/pcs":             {},
	"check/internal/symfile":         {"check/internal/pcs", "check/report", "emit", "internal/crash", "limits"},
	"check/internal/truth":           {"check/internal/naming", "check/internal/pcs", "elfx", "internal/wire", "limits"},
	"check/internal/truth/dwarfinfo": {"check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/internal/truth", "elfx", "elfx/companion", "internal/bounds", "internal/mem", "internal/wire", "limits"},
	"check/internal/truth/gotable":   {"check/internal/pcs", "check/internal/truth", "elfx", "internal/bounds", "internal/wire", "limits"},
	"check/internal/unwind":          {"cfi", "check/internal/collect", "check/internal/eval", "check/internal/pcs", "check/internal/symfile", "check/report", "elfx", "emit", "internal/bounds", "internal/par", "internal/quantity", "internal/wire", "limits", "sframe"},
	"check/lint":                     {"check/internal/collect", "check/internal/linter", "check/internal/symfile", "check/report", "internal/mem"},
	"check/report":                   {"internal/page", "internal/printable", "internal/quantity", "internal/wire", "limits"},

	// From an ELF image to the records of a symbol file; dump/internal has the stages.
	"dump":                  {"cfi", "dump/dwarfx", "dump/internal/files", "dump/internal/frames", "dump/internal/funcs", "dump/internal/gofuncs", "dump/internal/inlines", "dump/internal/lines", "dump/internal/load", "dump/internal/losses", "dump/internal/naming", "dump/internal/publics", "dump/internal/record", "dump/internal/symbols", "dump/internal/unwind", "dump/internal/write", "dump/pathmap", "elfx", "elfx/companion", "emit", "internal/bounds", "internal/demangle", "internal/limits", "internal/mem", "internal/par", "internal/wire", "limits"},
	"dump/batch":            {"elfx", "elfx/archive", "elfx/archive/pkg", "elfx/companion", "internal/address", "internal/crash", "internal/filename", "internal/mem", "internal/page", "internal/par", "internal/printable", "internal/quantity", "internal/wire", "limits", "located"},
	"dump/dwarfx":           {"elfx", "internal/bounds", "internal/limits", "internal/wire", "limits"},
	"dump/gosym":            {"internal/wire"},
	"dump/internal/files":   {"dump/dwarfx", "dump/internal/losses", "dump/pathmap", "emit", "limits"},
	"dump/internal/frames":  {"cfi", "dump/dwarfx", "dump/internal/losses", "elfx", "internal/bounds", "internal/par", "internal/wire", "limits", "sframe"},
	"dump/internal/funcs":   {"dump/dwarfx", "dump/internal/load", "dump/internal/naming", "dump/internal/symbols", "internal/par"},
	"dump/internal/gofuncs": {"dump/dwarfx", "dump/gosym", "dump/internal/files", "dump/internal/inlines", "dump/internal/load", "dump/internal/losses", "dump/internal/naming", "dump/internal/record", "elfx", "emit", "internal/bounds", "internal/wire", "limits"},
	"dump/internal/inlines": {"dump/dwarfx", "dump/internal/files", "dump/internal/funcs", "dump/internal/load", "internal/mem", "limits"},
	"dump/internal/lines":   {"dump/dwarfx", "dump/internal/files", "dump/internal/funcs", "dump/internal/load", "emit", "internal/mem", "internal/wire", "limits"},
	"dump/internal/load":    {"dump/dwarfx", "dump/internal/losses", "dump/internal/naming", "elfx", "elfx/companion", "internal/bounds", "internal/mem", "internal/par", "internal/quantity", "internal/wire", "limits"},
	"dump/internal/losses":  {"internal/wire"},
	"dump/internal/naming":  {"dump/dwarfx", "dump/internal/losses", "emit", "internal/demangle", "internal/par", "limits"},
	"dump/internal/publics": {"dump/internal/losses", "dump/internal/record", "dump/internal/symbols", "elfx", "emit", "internal/demangle", "internal/par", "internal/wire", "limits"},
	"dump/internal/record":  {"dump/dwarfx", "dump/internal/files", "dump/internal/inlines", "dump/internal/naming", "dump/internal/unwind", "emit"},
	"dump/internal/symbols": {"dump/dwarfx", "dump/internal/losses", "elfx", "internal/wire"},
	"dump/internal/unwind":  {"cfi", "dump/internal/frames", "elfx", "emit", "internal/wire", "sframe"},
	"dump/internal/write":   {"dump/dwarfx", "dump/internal/record", "emit", "internal/crash", "internal/mem"},
	"dump/pathmap":          {"internal/smallfile"},
	"dump/store":            {"internal/atomicfile", "internal/filename"},

	// Files.
	"elfx":                  {"elfx/internal/reloc", "internal/bounds", "internal/filename", "internal/inflate", "internal/mem", "internal/wire", "limits"},
	"elfx/archive":          {"elfx", "internal/bounds", "internal/filename", "internal/mem", "internal/wire", "limits"},
	"elfx/companion":        {"elfx", "limits"},
	"elfx/debuginfod":       {"elfx", "internal/address", "internal/fetch", "internal/smallfile", "limits"},
	"elfx/archive/squashfs": {"internal/wire"},
	"elfx/archive/pkg":      {"elfx", "elfx/archive/squashfs", "internal/bounds", "internal/filename", "internal/gunzip", "internal/mem", "internal/wire", "limits", "located"},
	"elfx/internal/elftest": {"internal/wire"},
	"elfx/internal/reloc":   {"internal/wire"},

	// Formats: bytes or text in, values out.
	"cfi":    {"internal/wire"},
	"emit":   {"internal/printable", "internal/wire"},
	"sframe": {"cfi", "internal/bounds", "internal/wire", "limits"},

	// Used by tests only.
	"internal/mutant":            {},
	"internal/oracle":            {"dump", "elfx", "elfx/companion", "internal/testfile"},
	"internal/oracle/binutils":   {},
	"internal/oracle/dwarftruth": {"emit", "internal/oracle", "internal/oracle/symfile"},
	"internal/oracle/gimli":      {},
	"internal/oracle/peers":      {},
	"internal/oracle/readelf":    {"cfi", "internal/oracle", "internal/oracle/symfile"},
	"internal/oracle/records":    {},
	"internal/oracle/siggen":     {},
	"internal/oracle/symbolizer": {},
	"internal/oracle/symfile":    {"emit", "internal/oracle"},
	"internal/oracle/toolchain":  {"dump", "elfx", "elfx/companion", "internal/oracle"},
	"internal/pkgtest":           {},
	"internal/programtest":       {"internal/command", "internal/testfile"},
	"internal/soak":              {"internal/mutant", "internal/testfile"},
	"internal/testfile":          {},

	// Command lines as values; manual pages and completions.
	"internal/usage":       {},
	"internal/usage/write": {"internal/command", "internal/usage"},

	// The foundation.
	"internal/atomicfile": {},
	"internal/address":    {},
	"internal/command":    {"internal/address", "internal/atomicfile", "internal/crash", "internal/printable", "internal/quantity", "internal/usage", "limits"},
	"internal/demangle":   {},
	"internal/disasm":     {},
	"internal/fetch":      {"internal/address", "internal/quantity"},
	"internal/filename":   {},
	"internal/gunzip":     {},
	"internal/inflate":    {"internal/wire"},
	"internal/mem":        {"internal/crash"},
	"internal/crash":      {},
	"internal/page":       {"internal/printable", "internal/quantity", "internal/wire"},
	"internal/par":        {"internal/mem"},
	"internal/printable":  {},
	"internal/quantity":   {},
	"internal/bounds":     {"limits"},
	"internal/wire":       {"located"},
	"internal/smallfile":  {"internal/quantity"},
	"limits":              {},
	"located":             {"internal/printable"},
	"internal/remote":     {"internal/address", "internal/fetch", "internal/gunzip", "internal/s3", "limits"},
	"internal/s3":         {"internal/address", "internal/fetch", "internal/smallfile"},
	"internal/worker":     {"internal/address", "internal/crash", "internal/printable", "internal/quantity"},
}

// TestImports: packages import only what allowed lists for them.
func TestImports(t *testing.T) {
	// With a profile, go list would list the packages of a program separately.
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
			t.Errorf("package %s is not in the list of packages in imports_test.go", name)
		}
		for _, imp := range pkg.Imports {
			if own, ok := strings.CutPrefix(imp, "symkit/"); ok && !slices.Contains(may, own) {
				t.Errorf("%s must not import %s", name, own)
			}
		}
	}
}
