//go:build oracle

// Checks of large and of freshly dumped files. The tests named Oracle need the small corpus
// (scripts/corpus.sh), those named Corpus the whole corpus. dump_syms is built and run as a
// program: this package does not import it.

package check

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/test/testfile"
)

// corpusFile finds the one file of the corpus that pattern matches.
func corpusFile(t *testing.T, pattern string) string {
	t.Helper()
	dir := os.Getenv("SYMKIT_CORPUS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "symkit", "corpus")
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s is not in the corpus %s: %v", pattern, dir, err)
	}
	return found[0]
}

// openImage opens a program and its debug file, which may be "" or a directory to search.
func openImage(t *testing.T, main, debug string) *elfx.Image {
	t.Helper()
	var files [2]*elfx.File
	for i, path := range []string{main, debug} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); i > 0 && err == nil && info.IsDir() {
			search := companion.Search{DebugDirs: []string{path}}
			files[i], _ = search.FindDebug(t.Context(), files[0])
			if files[i] != nil {
				t.Cleanup(func() { files[i].Close() })
			}
			continue
		}
		f, err := elfx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files[i] = f
	}
	img, err := elfx.Join(files[0], files[1])
	if err != nil {
		t.Fatal(err)
	}
	return img
}

var dumper string

// dumpSyms is the path of the program dump_syms, which the first call builds.
func dumpSyms(t testing.TB) string {
	t.Helper()
	if dumper == "" {
		dir, err := os.MkdirTemp("", "symkit-check")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "dump_syms"), "../cmd/dump_syms").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		dumper = filepath.Join(dir, "dump_syms")
	}
	return dumper
}

// dumped returns the output of dump_syms.
func dumped(t testing.TB, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(dumpSyms(t), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("dump_syms %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.Bytes()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dumper != "" {
		os.RemoveAll(filepath.Dir(dumper))
	}
	os.Exit(code)
}

// silent checks that our own output, with and without inlined calls, has no
// findings. flags are those of dump_syms. It returns the report with inlined
// calls.
func silent(t *testing.T, main, debug string, flags ...string) (rep *report.Report) {
	t.Helper()
	img := openImage(t, main, debug)
	others := companion.Find(t.Context(), img, companion.Search{})
	t.Cleanup(others.Close)
	args := append(flags, main)
	if debug != "" {
		args = append(args, debug)
	}
	for _, flags := range [][]string{nil, {"--inlines"}} {
		sym := dumped(t, append(flags, args...)...)
		start := time.Now()
		var err error
		rep, err = File(context.Background(), img, sym, Options{Companions: others, ID: objectID})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %v: %d kB of symbols in %v", filepath.Base(main), flags, len(sym)>>10, time.Since(start).Round(time.Millisecond))
		if rep.Total() > 0 {
			t.Errorf("%s %v:\n%s", main, flags, text(t, rep))
		}
		wantKnownGaps(t, main, rep)
	}
	return rep
}

// knownGap is a gap in what can be verified of files of the oracle tests.
type knownGap struct {
	file    string // a part of the path
	kind    string // as in report.Gap
	check   string
	percent float64 // of the check's units, at most
}

// knownGaps are all gaps beyond 1 % of a check's units, with their size: names of constrained templates,
// of packs in packs and of dependent scopes, which no second reader reads rightly (docs/names.md).
var knownGaps = []knownGap{
	{"libstdc++.so.", report.GapIncomplete, checks.Inlines, 2}, {"libnode.so.", report.GapIncomplete, checks.Publics, 2},
}

// wantKnownGaps reports gaps that are not in knownGaps: a report without findings may still have
// compared little.
func wantKnownGaps(t *testing.T, file string, rep *report.Report) {
	t.Helper()
	for i := range rep.Gaps {
		g := &rep.Gaps[i]
		percent := 100 * float64(g.Units) / float64(max(g.All, 1))
		known := slices.ContainsFunc(knownGaps, func(k knownGap) bool {
			return strings.Contains(file, k.file) && k.kind == g.Kind && k.check == g.Check && percent <= k.percent
		})
		if !known {
			t.Errorf("%s: %.1f %% of %s: %s gap: %s", file, percent, g.Check, g.Kind, g.What)
		}
	}
}

// objectID is the module id for relocatable objects, which have no id of their own.
const objectID = "ABCD"

func libc(t *testing.T) (main, debug string) {
	return corpusFile(t, "libc6/lib/x86_64-linux-gnu/libc.so.6"),
		corpusFile(t, "libc6-dbg/usr/lib/debug/.build-id/93/ac61ec5a8eb1396f9fbd350e3169a558528a40.debug")
}

func TestOracleOwnFixtures(t *testing.T) {
	files, err := filepath.Glob("../testdata/elf/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".xz")
		var flags []string
		switch filepath.Ext(name) {
		case ".o":
			flags = []string{"--id=" + objectID}
		case ".elf", ".so", ".debug":
		default:
			continue
		}
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(path, ".xz") {
				path = filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(path, readTest(t, filepath.Join("..", "testdata", "elf", name)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			silent(t, path, "", flags...)
		})
	}
}

// run runs a program in a directory.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// verified checks that the checks compared everything that they had.
func verified(t *testing.T, rep *report.Report, checks ...string) {
	t.Helper()
	for _, name := range checks {
		if k := rep.Check(name); k.State != report.Checked || k.Compared == 0 || k.Unverified > 0 {
			t.Errorf("%+v", k)
		}
	}
}

// TestOracleOwnObjects checks relocatable objects of all machines: relocations have to be applied
// alike in .debug_info, .debug_line, .debug_rnglists or .debug_ranges, .eh_frame.
func TestOracleOwnObjects(t *testing.T) {
	for _, triplet := range []string{
		"x86_64-linux-gnu", "i686-linux-gnu", "aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu", "s390x-linux-gnu",
		"powerpc64le-linux-gnu", "mips-linux-gnu",
	} {
		for _, flag := range []string{"-gdwarf-4", "-ffunction-sections"} {
			t.Run(triplet+flag, func(t *testing.T) {
				object := filepath.Join(t.TempDir(), "cxx.o")
				run(t, "../testdata/src", triplet+"-g++", "-O2", "-g", flag, "-c", "-o", object, "cxx.cc")
				rep := silent(t, object, "", "--id="+objectID)
				verified(t, rep, checks.Funcs, checks.Names, checks.Code, checks.Lines, checks.Inlines, checks.CFI)
			})
		}
	}
}

// TestOracleOwnStripped checks files without debug information: ARM's exception
// index, Go's function table.
func TestOracleOwnStripped(t *testing.T) {
	dir := t.TempDir()
	strip := func(name string, args ...string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, readTest(t, filepath.Join("..", "testdata", "elf", name)), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "objcopy", append(args, path)...)
		return path
	}
	rep := silent(t, strip("cxx-thumb-gcc12-O2-dw5.elf", "--remove-section=.debug_frame"), "")
	verified(t, rep, checks.Funcs, checks.Lines, checks.Inlines, checks.Publics, checks.CFI)
	rep = silent(t, strip("go-x86_64-gc.elf", "--strip-all"), "")
	verified(t, rep, checks.Funcs, checks.Names, checks.Lines, checks.Inlines)
}

// TestOracleOwnTypeUnit checks a function whose class is declared in a type unit, and whose linkage
// name does not contain the class.
func TestOracleOwnTypeUnit(t *testing.T) {
	const source = `
namespace ns { struct S { int n; int plain(int) __asm__("lab_plain"); int called(int) __asm__("lab_called"); }; }
__attribute__((noinline)) int ns::S::plain(int i) { return n * i; }
inline __attribute__((always_inline)) int ns::S::called(int i) { return plain(i) + n; }
int use(ns::S *s) { return s->called(3); }
`
	for _, cc := range []string{"clang++-14", "g++"} {
		for _, dwarf := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(cc+dwarf, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "a.cc"), []byte(source), 0o644); err != nil {
					t.Fatal(err)
				}
				run(t, dir, cc, "-g", dwarf, "-O2", "-fdebug-types-section", "-shared", "-fPIC", "-o", "a.so", "a.cc")
				verified(t, silent(t, filepath.Join(dir, "a.so"), ""), checks.Funcs, checks.Names, checks.Lines, checks.Inlines)
			})
		}
	}
}

// TestOracleOwnMappedLTO checks a program whose directory the compiler maps and the assembler does
// not.
func TestOracleOwnMappedLTO(t *testing.T) {
	dir := t.TempDir()
	build := filepath.Join(dir, "build")
	if err := os.Mkdir(build, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte("int f(int a) { return a * 3; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, build, "gcc", "-g", "-gdwarf-5", "-O2", "-flto", "-ffat-lto-objects", "-ffile-prefix-map="+dir+"=.", "-c", "../a.c")
	verified(t, silent(t, filepath.Join(build, "a.o"), "", "--id="+objectID), checks.Funcs, checks.Lines)
}

// TestOracleOwnGoExternal checks programs in which C's linker puts C's code before Go's in .text,
// with C's entry point at its beginning on some machines.
func TestOracleOwnGoExternal(t *testing.T) {
	for _, test := range []struct{ arch, cc string }{{"amd64", "x86_64-linux-gnu-gcc"}, {"arm64", "aarch64-linux-gnu-gcc"}} {
		for _, mode := range []string{"exe", "pie"} {
			t.Run(test.arch+"-"+mode, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "hello")
				run(t, "../testdata/src/go", "env", "GOOS=linux", "GOARCH="+test.arch, "CGO_ENABLED=1", "CC="+test.cc,
					"go", "build", "-buildvcs=false", "-pgo=off", "-buildmode="+mode, "-ldflags=-linkmode=external -s -w", "-o", path, ".")
				verified(t, silent(t, path, ""), checks.Funcs, checks.Names, checks.Lines, checks.Inlines)
			})
		}
	}
}

// TestOracleOwnLibraries checks libraries of all machines, which have only symbols and unwind
// tables: slots of procedure linkage tables, MIPS stubs, MIPS16 expressions.
func TestOracleOwnLibraries(t *testing.T) {
	files, err := filepath.Glob("/usr/*-linux-gnu*/lib/libgcc_s.so.*")
	if err != nil || len(files) < 7 {
		t.Fatalf("cross compilers' libraries: %v, %v", files, err)
	}
	for _, path := range files {
		t.Run(path, func(t *testing.T) {
			verified(t, silent(t, path, ""), checks.Module, checks.Publics, checks.CFI)
		})
	}
}

func TestOracleOwnCorpus(t *testing.T) {
	silent(t, corpusFile(t, "python3.11-dbg/usr/bin/python3.11d"), "")
	main, debug := libc(t)
	silent(t, main, debug)
	silent(t, corpusFile(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*[0-9]"), "")
}

// TestOracleBreakpadLibc checks that the measured defects of Breakpad's libc are found: 805
// functions, 23.3 % of the code bytes; the PLT, __restore_rt, two ends of the stack.
func TestOracleBreakpadLibc(t *testing.T) {
	main, debug := libc(t)
	rep := mustCheck(t, openImage(t, main, debug), testfile.Expected(t, "libc.so.6.breakpad.sym"), Options{})
	out := text(t, rep)
	if k := rep.Check(checks.Funcs); k.Missing != 805 || k.Wrong != 0 || !strings.Contains(out, "23.3 % of all functions'") {
		t.Errorf("%+v", k)
	}
	if n := rep.Check(checks.CFI).Findings; n != 4 || rep.Total() != rep.Check(checks.Funcs).Findings+4+1+8 {
		t.Errorf("%d findings about CFI\n%s", n, out)
	}
	if n := rep.Check(checks.Lines).Findings; n != 8 { // labels of assembler code without a FUNC
		t.Errorf("%d findings about lines\n%s", n, out)
	}
	python := openImage(t, corpusFile(t, "python3.11-dbg/usr/bin/python3.11d"), "")
	rep = mustCheck(t, python, testfile.Expected(t, "python3.11d.breakpad.sym"), Options{})
	if rep.Total() != 2 || rep.Check(checks.CFI).Findings != 2 {
		t.Error(text(t, rep))
	}
	rep = mustCheck(t, python, testfile.Expected(t, "python3.11d.mozilla-inlines.sym"), Options{Options: report.Options{Limit: 200}})
	if out := text(t, rep); rep.Check(checks.Inlines).Findings+rep.Check(checks.Lines).Findings > 0 || rep.Check(checks.CFI).Findings < 80 ||
		!strings.Contains(out, "the table has no rule for $rbx: it is unchanged") {
		t.Error(out)
	}
}

// mutated are the fixtures whose symbol files are mutated: of C, C++, Rust and assembly, of all
// machines, with inlined calls.
var mutated = []string{
	"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-aarch64-gcc12-O2-dw5.elf", "cxx-arm-gcc12-O2-dw4.elf", "cxx-ppc64le-gcc12-O2-dw5.elf",
	"cxx-s390x-gcc12-O2-dw5.elf", "cxx-riscv64-gcc12-O2-dw4.elf", "lang-i686-gcc12-O2-dw5.elf", "lang-mips-gcc12-O2-dw5.elf",
	"lang-x86_64-clang14-O2-dw4.elf", "asm-x86_64-gas-dw5.elf", "rust-x86_64-rustc-O-dw5.so",
}

// TestOracleMutations mutates symbol files of fixtures.
func TestOracleMutations(t *testing.T) {
	for _, name := range mutated {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "elf", name)
			checkMutations(t, openImage(t, path, ""), dumped(t, "--inlines", path), mutationsEach)
		})
	}
}

// mutationsEach is the number of mutations of one file in `make oracle`.
const mutationsEach = 1000

// TestCorpusMutations makes ten times as many mutations, and also of a kernel module; fewer of Go,
// whose files are large.
func TestCorpusMutations(t *testing.T) {
	type input struct {
		path string
		n    int
	}
	files := []input{
		{corpusFile(t, "linux-image-*-dbg/usr/lib/debug/lib/modules/*/kernel/crypto/gcm.ko"), 10 * mutationsEach},
		{filepath.Join("..", "testdata", "elf", "go-x86_64-gc.elf"), 2 * mutationsEach},
	}
	for _, name := range mutated {
		files = append(files, input{filepath.Join("..", "testdata", "elf", name), 10 * mutationsEach})
	}

	for _, file := range files {
		t.Run(filepath.Base(file.path), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(file.path))
			if err := os.WriteFile(path, readTest(t, file.path), 0o644); err != nil {
				t.Fatal(err)
			}
			checkMutations(t, openImage(t, path, ""), dumped(t, "--inlines", path), file.n)
		})
	}
}

// debugPackage has the debug files of a package of the corpus.
var debugPackage = map[string]string{
	"libc6": "libc6-dbg", "valgrind": "valgrind-dbg", "openjdk-17-jre-headless": "openjdk-17-dbg", "ceph-osd": "ceph-osd-dbg",
}

// TestCorpusOwn checks every ELF file of the corpus, with its debug file if there is one.
func TestCorpusOwn(t *testing.T) {
	root := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(corpusFile(t, "python3.11-dbg/usr/bin/python3.11d")))))
	packages, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if strings.HasPrefix(p.Name(), ".") {
			continue
		}
		t.Run(p.Name(), func(t *testing.T) {
			debugDir := ""
			if other, ok := debugPackage[p.Name()]; ok {
				debugDir = filepath.Join(root, other, companion.DefaultDebugDir)
			}
			ownPackage(t, filepath.Join(root, p.Name()), debugDir)
		})
	}
}

// ownPackage checks the ELF files below dir.
func ownPackage(t *testing.T, dir, debugDir string) {
	checked, empty := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := elfx.Open(path)
		if err != nil {
			return nil // no ELF file
		}
		f.Close()
		if !hasSymbols(t, path) {
			empty++
			return nil
		}
		checked++
		silent(t, path, debugDir)
		return nil
	})
	if err != nil || checked == 0 {
		t.Errorf("%d files: %v", checked, err)
	}
	t.Logf("%d files; %d have no symbols", checked, empty)
}

// hasSymbols returns false for a file of which dump_syms reports that it has no symbols.
func hasSymbols(t *testing.T, path string) bool {
	t.Helper()
	out, err := exec.Command(dumpSyms(t), "-o", os.DevNull, path).CombinedOutput()
	if err != nil && !strings.Contains(string(out), ": no symbols: ") {
		t.Errorf("%v: %s", err, out)
	}
	return err == nil
}
