package architecture

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
	"cmd/dump_syms":     {"check/report", "check/storecheck", "dump", "dump/batch", "dump/pathmap", "dump/single", "dump/store", "dump/upkeep", "elfx", "elfx/archive", "elfx/archive/pkg", "elfx/companion", "elfx/debuginfod", "elfx/identity", "internal/address", "internal/atomicfile", "internal/bounds", "internal/command", "internal/crash", "internal/objects", "internal/printable", "internal/quantity", "internal/remote", "internal/smallfile", "internal/upload", "internal/usage", "internal/worker", "limits", "lookup/source"},
	"cmd/stackwalk":     {"elfx", "elfx/companion", "elfx/debuginfod", "internal/address", "internal/atomicfile", "internal/bounds", "internal/command", "internal/download", "internal/filename", "internal/limitof", "internal/mem", "internal/par", "internal/quantity", "internal/remote", "internal/smallfile", "internal/standin", "internal/usage", "internal/wire", "internal/worker", "lookup", "lookup/source", "walk", "walk/compare", "walk/corefile", "walk/dumpfile", "walk/peers", "walk/report", "walk/signature", "walk/symbols", "walk/symbols/sources", "walk/symserver"},
	"cmd/symaddr":       {"elfx", "elfx/archive", "elfx/archive/pkg", "elfx/companion", "elfx/debuginfod", "elfx/identity", "internal/atomicfile", "internal/command", "internal/filename", "internal/gunzip", "internal/printable", "internal/profile", "internal/smallfile", "internal/symbolizers", "internal/usage", "located", "lookup", "lookup/logs", "walk", "walk/symbols", "walk/symbols/sources"},
	"cmd/symcheck":      {"check", "check/diff", "check/lint", "check/report", "check/storecheck", "elfx", "elfx/archive", "elfx/archive/pkg", "elfx/companion", "elfx/debuginfod", "internal/atomicfile", "internal/bounds", "internal/command", "internal/disasm", "internal/limitof", "internal/mem", "internal/quantity", "internal/remote", "internal/smallfile", "internal/usage", "limits", "lookup", "lookup/source"},
	"cmd/symserve":      {"internal/command", "internal/usage", "lookup/source", "serve", "serve/gate"},
	"scripts/floor":     {"elfx", "internal/mem"},
	"scripts/gofixture": {},

	// The symbol server.
	"serve":                   {"elfx", "elfx/debuginfod", "emit", "internal/mem", "internal/objects", "internal/spool", "lookup", "lookup/source", "serve/gate", "serve/internal/depot", "serve/internal/intake", "serve/internal/metrics", "serve/internal/tokens", "serve/internal/uploads", "serve/symbolicate"},
	"serve/gate":              {"check", "check/lint", "check/rank", "check/report", "elfx", "elfx/companion", "emit", "internal/filename", "internal/mem", "internal/printable"},
	"serve/internal/breakpad": {},
	"serve/internal/depot":    {"internal/atomicfile", "internal/filename", "internal/objects", "internal/packing", "internal/storefiles"},
	"serve/internal/intake":   {"elfx", "elfx/companion", "elfx/debuginfod", "elfx/identity", "internal/mem", "internal/packing", "internal/printable", "internal/spool", "serve/gate", "serve/internal/depot"},
	"serve/internal/metrics":  {},
	"serve/internal/tecken":   {"internal/printable", "internal/quantity"},
	"serve/internal/tokens":   {"internal/smallfile"},
	"serve/internal/uploads":  {"internal/par", "internal/printable", "internal/quantity", "internal/spool", "serve/gate", "serve/internal/breakpad", "serve/internal/depot", "serve/internal/intake", "serve/internal/tecken", "serve/internal/tokens"},
	"serve/symbolicate":       {"elfx", "elfx/identity", "internal/disasm", "internal/mem", "internal/par", "lookup", "lookup/source"},

	// Stacks of crashed processes.
	"walk/dumpfile":            {"elfx", "elfx/archive/pkg", "internal/filename", "internal/mem", "internal/quantity", "internal/remote", "limits", "walk", "walk/corefile", "walk/microdump", "walk/minidump", "walk/symbols/sources", "walk/tombstone"},
	"walk":                     {"cfi", "elfx", "elfx/companion", "emit", "internal/crash", "internal/limitof", "internal/mem", "internal/par", "internal/quantity", "internal/wire", "limits", "walk/internal/code", "walk/internal/cpu", "walk/internal/rules"},
	"walk/compare":             {"internal/printable", "internal/quantity", "internal/smallfile"},
	"walk/tombstone":           {"cfi", "elfx/identity", "internal/quantity", "internal/wire", "located", "lookup/logs", "walk"},
	"walk/corefile":            {"cfi", "elfx", "elfx/identity", "internal/limitof", "internal/mem", "internal/quantity", "internal/wire", "limits", "walk", "walk/internal/cpu", "walk/symbols/sources"},
	"walk/internal/code":       {"cfi", "walk/internal/x86"},
	"walk/internal/cpu":        {"cfi", "internal/wire", "walk/internal/code"},
	"walk/internal/mdmp":       {"cfi", "internal/wire", "located", "walk"},
	"walk/internal/mdmp/synth": {"walk/internal/mdmp"},
	"walk/internal/rules":      {"cfi", "emit", "walk/internal/cpu"},
	"walk/internal/shown":      {"cfi", "walk", "walk/internal/x86"},
	"walk/internal/x86":        {"cfi"},
	"walk/microdump":           {"internal/quantity", "located", "walk", "walk/internal/mdmp"},
	"walk/minidump":            {"elfx", "internal/printable", "internal/quantity", "internal/wire", "walk", "walk/internal/mdmp"},
	"walk/peers":               {"internal/printable", "walk", "walk/internal/shown"},
	"walk/peers/rawdump":       {"internal/printable", "internal/wire", "walk/internal/mdmp"},
	"walk/report":              {"internal/page", "internal/printable", "internal/quantity", "lookup/source", "walk", "walk/internal/shown"},
	"walk/signature":           {"internal/smallfile", "walk", "walk/internal/shown"},
	"walk/symbols/sources":     {"elfx", "elfx/archive", "elfx/companion", "elfx/identity", "emit", "internal/filename", "internal/limitof", "internal/mem", "internal/packing", "internal/wire", "limits", "walk"},
	"walk/symbols/elfsyms":     {"dump", "elfx", "elfx/companion", "elfx/debuginfod", "elfx/identity", "emit", "limits", "walk", "walk/symbols/sources"},
	"walk/symbols":             {"elfx/companion", "elfx/debuginfod", "internal/objects", "walk", "walk/symbols/elfsyms", "walk/symbols/sources", "walk/symserver"},
	"walk/symserver":           {"elfx/companion", "internal/address", "internal/download", "internal/filecache", "internal/limitof", "internal/packing", "limits", "walk", "walk/symbols/sources"},

	// Verification of symbol files. No package here may import dump.
	"check":                          {"cfi", "check/internal/checks", "check/internal/collect", "check/internal/compare", "check/internal/linter", "check/internal/pcs", "check/internal/sframes", "check/internal/symfile", "check/internal/truth", "check/internal/truth/image", "check/internal/unwind", "check/report", "elfx", "elfx/companion", "internal/mem", "internal/par", "internal/wire"},
	"check/diff":                     {"cfi", "check/internal/checks", "check/internal/collect", "check/internal/eval", "check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/report", "emit", "internal/limitof", "internal/mem", "limits"},
	"check/internal/checks":          {},
	"check/internal/collect":         {"check/internal/checks", "check/report", "internal/quantity"},
	"check/internal/compare":         {"check/internal/checks", "check/internal/collect", "check/internal/naming", "check/internal/pcs", "check/internal/symfile", "check/internal/truth", "check/internal/truth/dwarfinfo", "check/internal/truth/gotable", "check/internal/truth/image", "check/internal/truth/plt", "check/internal/truth/symtab", "check/report", "emit", "internal/limitof", "internal/par", "internal/quantity"},
	"check/internal/eval":            {"cfi", "internal/hashindex", "internal/wire"},
	"check/internal/frames":          {"cfi", "elfx", "internal/wire"},
	"check/internal/sframes":         {"cfi", "check/internal/checks", "check/internal/collect", "check/internal/eval", "check/internal/frames", "check/internal/pcs", "check/report", "elfx", "internal/bounds", "internal/limitof", "internal/printable", "internal/quantity", "limits", "sframe"},
	"check/internal/linter":          {"cfi", "check/internal/checks", "check/internal/collect", "check/internal/eval", "check/internal/pcs", "check/internal/symfile", "check/report", "emit", "internal/wire"},
	"check/internal/naming":          {"check/internal/naming/swift", "emit", "internal/hashindex"},
	"check/internal/naming/swift":    {},
	"check/internal/pcs":             {},
	"check/internal/symfile":         {"check/internal/pcs", "check/report", "emit", "internal/crash", "internal/hashindex", "internal/limitof", "limits"},
	"check/internal/truth":           {"check/internal/checks", "check/internal/naming", "check/internal/pcs", "check/internal/truth/dwarfinfo", "check/internal/truth/gotable", "check/internal/truth/image", "check/internal/truth/symtab", "elfx", "elfx/companion", "internal/limitof", "internal/wire", "limits"},
	"check/internal/truth/dwarfinfo": {"check/internal/naming", "check/internal/pcs", "check/internal/symfile", "elfx", "elfx/companion", "internal/bounds", "internal/hashindex", "internal/limitof", "internal/mem", "internal/par", "internal/wire", "limits"},
	"check/internal/truth/image":     {"check/internal/naming", "check/internal/pcs", "elfx", "internal/limitof", "internal/wire"},
	"check/internal/truth/plt":       {"check/internal/naming", "check/internal/truth/symtab", "elfx"},
	"check/internal/truth/symtab":    {"check/internal/naming", "check/internal/pcs", "check/internal/truth/image", "elfx", "internal/limitof", "limits"},
	"check/internal/truth/gotable":   {"check/internal/pcs", "check/internal/truth/image", "elfx", "internal/bounds", "internal/limitof", "internal/wire", "limits"},
	"check/internal/unwind":          {"cfi", "check/internal/checks", "check/internal/collect", "check/internal/eval", "check/internal/frames", "check/internal/pcs", "check/internal/sframes", "check/internal/symfile", "check/report", "elfx", "emit", "internal/bounds", "internal/limitof", "internal/par"},
	"check/lint":                     {"check/internal/checks", "check/internal/collect", "check/internal/linter", "check/internal/symfile", "check/report", "emit", "internal/mem"},
	"check/rank":                     {"check/internal/pcs", "emit", "internal/mem", "internal/quantity"},
	"check/storecheck":               {"check", "check/internal/checks", "check/lint", "check/report", "elfx", "elfx/companion", "elfx/identity", "emit", "internal/crash", "internal/download", "internal/filename", "internal/limitof", "internal/mem", "internal/objects", "internal/packing", "internal/par", "internal/remote", "internal/storefiles", "limits"},
	"check/report":                   {"check/internal/checks", "internal/page", "internal/printable", "internal/quantity", "limits", "lookup/source"},

	// From an ELF image to the records of a symbol file; dump/internal has the stages.
	"dump":                  {"cfi", "dump/internal/files", "dump/internal/frames", "dump/internal/funcs", "dump/internal/gofuncs", "dump/internal/gsymout", "dump/internal/inlines", "dump/internal/lines", "dump/internal/load", "dump/internal/losses", "dump/internal/naming", "dump/internal/publics", "dump/internal/record", "dump/internal/symbols", "dump/internal/unwind", "dump/internal/write", "dump/pathmap", "elfx", "elfx/companion", "elfx/identity", "emit", "internal/bounds", "internal/debuginfo", "internal/demangle", "internal/dwarfx", "internal/filename", "internal/limitof", "internal/mem", "internal/par", "limits", "located"},
	"dump/batch":            {"check/lint", "check/report", "dump", "dump/single", "dump/store", "elfx", "elfx/archive", "elfx/archive/pkg", "elfx/companion", "elfx/identity", "emit", "internal/address", "internal/atomicfile", "internal/crash", "internal/filename", "internal/limitof", "internal/mem", "internal/packing", "internal/page", "internal/par", "internal/printable", "internal/quantity", "internal/remote", "internal/spool", "internal/wire", "limits", "located", "lookup", "lookup/source"},
	"internal/plt":          {"elfx", "internal/filename", "internal/wire"},
	"internal/debuginfo":    {"elfx", "elfx/companion", "internal/dwarfx", "internal/gosym", "internal/par", "limits"},
	"internal/gosym":        {"internal/wire", "located"},
	"internal/dwarfx":       {"elfx", "internal/bounds", "internal/limitof", "internal/wire", "limits", "located"},
	"dump/internal/files":   {"dump/internal/losses", "dump/pathmap", "emit", "internal/dwarfx", "internal/limitof", "limits"},
	"dump/internal/frames":  {"cfi", "dump/internal/losses", "elfx", "internal/bounds", "internal/dwarfx", "internal/limitof", "internal/par", "internal/wire", "limits", "located", "sframe"},
	"dump/internal/funcs":   {"dump/internal/load", "dump/internal/naming", "dump/internal/symbols", "internal/dwarfx", "internal/par"},
	"dump/internal/gofuncs": {"dump/internal/files", "dump/internal/inlines", "dump/internal/load", "dump/internal/losses", "dump/internal/naming", "dump/internal/record", "elfx", "emit", "internal/bounds", "internal/debuginfo", "internal/dwarfx", "internal/gosym", "internal/limitof", "limits", "located"},
	"dump/internal/gsymout": {"dump/internal/naming", "dump/internal/record", "emit", "internal/dwarfx", "lookup/gsym"},
	"dump/internal/inlines": {"dump/internal/files", "dump/internal/funcs", "dump/internal/load", "internal/dwarfx", "internal/limitof", "internal/mem", "limits"},
	"dump/internal/lines":   {"dump/internal/files", "dump/internal/funcs", "dump/internal/load", "emit", "internal/dwarfx", "internal/limitof", "internal/mem", "located"},
	"dump/internal/load":    {"dump/internal/losses", "dump/internal/naming", "elfx", "elfx/companion", "internal/bounds", "internal/debuginfo", "internal/dwarfx", "internal/limitof", "internal/mem", "internal/par", "internal/quantity", "limits", "located"},
	"dump/internal/losses":  {"internal/filename", "located"},
	"dump/internal/naming":  {"dump/internal/losses", "emit", "internal/demangle", "internal/dwarfx", "internal/limitof", "internal/par", "limits"},
	"dump/internal/publics": {"dump/internal/losses", "dump/internal/record", "dump/internal/symbols", "elfx", "emit", "internal/demangle", "internal/limitof", "internal/par", "internal/plt", "limits"},
	"dump/internal/record":  {"dump/internal/files", "dump/internal/inlines", "dump/internal/naming", "dump/internal/unwind", "emit", "internal/dwarfx"},
	"dump/internal/symbols": {"dump/internal/losses", "elfx", "internal/dwarfx", "internal/wire"},
	"dump/internal/unwind":  {"cfi", "dump/internal/frames", "elfx", "emit", "internal/wire", "located", "sframe"},
	"dump/internal/write":   {"dump/internal/record", "emit", "internal/crash", "internal/dwarfx", "internal/mem"},
	"dump/pathmap":          {"internal/smallfile"},
	"dump/single":           {"check", "check/report", "dump", "elfx/companion", "internal/bounds", "internal/crash", "internal/limitof", "internal/mem", "internal/quantity"},
	"dump/upkeep":           {"emit", "internal/filename", "internal/packing", "internal/par", "internal/storefiles"},
	"dump/store":            {"check/rank", "internal/atomicfile", "internal/filename", "internal/mem", "internal/objects", "internal/packing", "internal/spool", "internal/storefiles", "internal/upload"},

	// Files.
	"elfx":                           {"elfx/internal/reloc", "internal/bounds", "internal/filename", "internal/hashindex", "internal/inflate", "internal/limitof", "internal/mem", "internal/wire", "limits", "located"},
	"elfx/identity":                  {"elfx", "internal/filename", "internal/mem", "located"},
	"elfx/archive":                   {"elfx", "internal/bounds", "internal/filename", "internal/limitof", "internal/mem", "internal/wire", "limits", "located"},
	"elfx/companion":                 {"elfx", "internal/mem", "internal/quantity", "internal/wire", "limits"},
	"elfx/debuginfod":                {"elfx", "internal/address", "internal/download", "internal/filecache", "internal/limitof", "internal/smallfile", "limits"},
	"elfx/archive/internal/squashfs": {"internal/wire", "located"},
	"elfx/archive/pkg":               {"elfx", "elfx/archive/internal/squashfs", "internal/bounds", "internal/filename", "internal/gunzip", "internal/limitof", "internal/mem", "internal/spool", "internal/wire", "limits", "located"},
	"test/elftest":                   {"located"},
	"elfx/internal/reloc":            {"internal/wire"},

	// Formats: bytes or text in, values out.
	"cfi":                  {"internal/wire", "located"},
	"emit":                 {"internal/printable", "located"},
	"lookup":               {"elfx", "elfx/companion", "emit", "internal/bounds", "internal/debuginfo", "internal/demangle", "internal/dwarfx", "internal/filename", "internal/gosym", "internal/limitof", "internal/mem", "internal/par", "internal/plt", "internal/radix", "limits", "lookup/gsym"},
	"lookup/logs":          {"lookup"},
	"lookup/source":        {"elfx/companion", "internal/printable", "lookup"},
	"internal/profile":     {"internal/wire", "lookup"},
	"internal/symbolizers": {"internal/demangle", "internal/par", "internal/printable", "internal/radix", "internal/smallfile", "lookup"},
	"lookup/gsym":          {"internal/hashindex", "internal/wire"},
	"sframe":               {"cfi", "internal/bounds", "internal/limitof", "internal/wire", "limits", "located"},

	// Used by tests only.
	"test/architecture":       {},
	"test/growth":             {"test/elftest", "test/mutant", "test/testfile"},
	"test/mutant":             {},
	"test/oracle":             {"dump", "elfx", "elfx/companion", "test/testfile"},
	"test/oracle/binutils":    {},
	"test/oracle/dwarftruth":  {"emit", "test/oracle", "test/oracle/symfile"},
	"test/oracle/gimli":       {},
	"test/oracle/gsymutil":    {},
	"test/oracle/peers":       {},
	"test/oracle/readelf":     {"cfi", "test/oracle", "test/oracle/symfile"},
	"test/oracle/records":     {},
	"test/oracle/siggen":      {},
	"test/oracle/symaddr":     {},
	"test/oracle/symbolicate": {},
	"test/oracle/symbolizer":  {},
	"test/oracle/symfile":     {"emit", "test/oracle"},
	"test/oracle/toolchain":   {"dump", "elfx", "elfx/companion", "test/oracle"},
	"test/pkgtest":            {},
	"test/planted":            {},
	"test/programtest":        {"elfx", "internal/command", "test/testfile"},
	"test/soak":               {"test/mutant", "test/testfile"},
	"test/testfile":           {},
	"test/buckettest":         {},
	"test/uploadtest":         {},

	// Command lines as values; manual pages and completions.
	"internal/usage":       {},
	"internal/usage/write": {"internal/command", "internal/usage"},

	// The foundation.
	"internal/atomicfile":     {},
	"internal/address":        {},
	"internal/command":        {"elfx/companion", "elfx/debuginfod", "internal/address", "internal/atomicfile", "internal/crash", "internal/filename", "internal/printable", "internal/quantity", "internal/usage", "limits"},
	"internal/demangle":       {"internal/demangle/cxx", "internal/demangle/dlang", "internal/demangle/lex", "internal/demangle/rust", "internal/demangle/swift"},
	"internal/demangle/lex":   {},
	"internal/demangle/rust":  {"internal/demangle/lex"},
	"internal/demangle/dlang": {"internal/demangle/lex"},
	"internal/demangle/cxx":   {"internal/demangle/lex"},
	"internal/demangle/swift": {"internal/demangle/lex"},
	"internal/disasm":         {},
	"internal/filename":       {},
	"internal/gunzip":         {},
	"internal/packing":        {"internal/gunzip"},
	"internal/limitof":        {},
	"internal/inflate":        {"internal/mem", "located"},
	"internal/mem":            {"internal/crash"},
	"internal/crash":          {},
	"internal/page":           {"internal/printable", "internal/quantity"},
	"internal/par":            {"internal/mem"},
	"internal/printable":      {},
	"internal/quantity":       {},
	"internal/bounds":         {"internal/limitof", "limits"},
	"internal/hashindex":      {},
	"internal/wire":           {"located"},
	"internal/smallfile":      {"internal/quantity"},
	"internal/download":       {"internal/address", "internal/quantity"},
	"internal/filecache":      {"internal/atomicfile", "internal/quantity"},
	"limits":                  {"internal/limitof"},
	"located":                 {"internal/printable"},
	"internal/spool":          {"internal/atomicfile", "internal/mem", "internal/quantity"},
	"internal/upload":         {"internal/address", "internal/crash", "internal/download", "internal/printable", "internal/quantity", "internal/spool"},
	"internal/radix":          {},
	"internal/remote":         {"internal/address", "internal/download", "internal/filecache", "internal/filename", "internal/gunzip", "internal/limitof", "internal/objects", "limits"},
	"internal/storefiles":     {"internal/atomicfile", "internal/filename", "internal/objects"},
	"internal/objects":        {"internal/address", "internal/download", "internal/filename"},
	"internal/standin":        {"elfx", "internal/atomicfile", "internal/bounds", "internal/command", "internal/limitof", "internal/mem", "internal/smallfile", "internal/usage", "internal/wire", "walk", "walk/minidump", "walk/peers", "walk/peers/rawdump", "walk/report"},
	"internal/worker":         {"internal/address", "internal/crash", "internal/printable", "internal/quantity"},
}

// TestImports: packages import what allowed lists for them, and nothing is listed that is not imported.
func TestImports(t *testing.T) {
	t.Chdir(top)
	// With a profile, go list would list the packages of a program separately.
	cmd := exec.Command("go", "list", "-pgo=off", "-tags", "oracle", "-json=ImportPath,Imports", "./...")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}

	found := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		err := dec.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}

		name := strings.TrimPrefix(pkg.ImportPath, "symkit/")
		found[name] = true
		var imports []string
		for _, imp := range pkg.Imports {
			if own, ok := strings.CutPrefix(imp, "symkit/"); ok {
				imports = append(imports, own)
			}
		}
		may := allowed[name]
		for _, imp := range imports {
			if !slices.Contains(may, imp) {
				t.Errorf("%s must not import %s", name, imp)
			}
		}
		for _, imp := range may {
			if !slices.Contains(imports, imp) {
				t.Errorf("%s does not import %s: remove it from allowed", name, imp)
			}
		}
	}
	for name := range allowed {
		if !found[name] {
			t.Errorf("there is no package %s: remove it from allowed", name)
		}
	}
}
