//go:build oracle

// Checks of large and of freshly dumped files. The tests named Oracle need the
// small corpus (scripts/corpus.sh), those named Corpus all of it. dump_syms is
// built and run as a program: this package does not import it.

package check

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symkit/elfx"
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

// image opens a program and its debug file, which may be empty.
func image(t *testing.T, main, debug string) *elfx.Image {
	t.Helper()
	var files [2]*elfx.File
	for i, path := range []string{main, debug} {
		if path == "" {
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

// dumped is what dump_syms writes.
func dumped(t *testing.T, args ...string) []byte {
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
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(dumper, args...)
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
// findings.
func silent(t *testing.T, main, debug string) {
	t.Helper()
	img := image(t, main, debug)
	args := []string{main}
	if debug != "" {
		args = append(args, debug)
	}
	for _, flags := range [][]string{nil, {"--inlines"}} {
		sym := dumped(t, append(flags, args...)...)
		start := time.Now()
		rep, err := Replay(context.Background(), img, sym, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %v: %d MB of symbols in %v\n%s", filepath.Base(main), flags, len(sym)>>20, time.Since(start).Round(time.Millisecond), text(t, rep))
		if rep.Total() > 0 {
			t.Errorf("%s %v: %d findings", main, flags, rep.Total())
		}
	}
}

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
		if ext := filepath.Ext(name); ext != ".elf" && ext != ".so" && ext != ".debug" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(copied, readTest(t, strings.TrimSuffix(path, ".xz")), 0o644); err != nil {
				t.Fatal(err)
			}
			silent(t, copied, "")
		})
	}
}

func TestOracleOwnCorpus(t *testing.T) {
	silent(t, corpusFile(t, "python3.11-dbg/usr/bin/python3.11d"), "")
	main, debug := libc(t)
	silent(t, main, debug)
	silent(t, corpusFile(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*[0-9]"), "")
}

// The defects of Breakpad's libc that were measured: 805 functions, 23.3 % of
// the code bytes; the PLT, __restore_rt, two ends of the stack.
func TestOracleBreakpadLibc(t *testing.T) {
	expected := os.Getenv("SYMKIT_EXPECTED") // what Breakpad and Mozilla wrote
	if expected == "" {
		expected = "../../shared/expected"
	}
	main, debug := libc(t)
	rep := mustReplay(t, image(t, main, debug), readTest(t, filepath.Join(expected, "libc.so.6.breakpad.sym")), Options{})
	out := text(t, rep)
	if k := rep.Check(CheckFuncs); k.Missing != 805 || k.Wrong != 0 || !strings.Contains(out, "23.3 % of all functions'") {
		t.Errorf("%+v", k)
	}
	if n := rep.Check(CheckCFI).Findings; n != 4 || rep.Total() != rep.Check(CheckFuncs).Findings+4+1 {
		t.Errorf("%d findings about CFI\n%s", n, out)
	}
	python := image(t, corpusFile(t, "python3.11-dbg/usr/bin/python3.11d"), "")
	rep = mustReplay(t, python, readTest(t, filepath.Join(expected, "python3.11d.breakpad.sym")), Options{})
	if rep.Total() != 2 || rep.Check(CheckCFI).Findings != 2 {
		t.Error(text(t, rep))
	}
	rep = mustReplay(t, python, readTest(t, filepath.Join(expected, "python3.11d.mozilla-inlines.sym")), Options{Limit: 200})
	if out := text(t, rep); rep.Check(CheckInlines).Findings+rep.Check(CheckLines).Findings > 0 || rep.Check(CheckCFI).Findings < 80 ||
		!strings.Contains(out, "the table has no rule for $rbx: it is unchanged") {
		t.Error(out)
	}
}

func TestOracleMutations(t *testing.T) {
	checkMutations(t, "cxx-x86_64-gcc12-O2-dw5.elf", 20_000)
	checkMutations(t, "lang-s390x-gcc12-O2-dw5.elf", 10_000)
}

func TestCorpusOwn(t *testing.T) {
	silent(t, corpusFile(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*"), "")
	silent(t, corpusFile(t, "ceph-osd/usr/bin/ceph-osd"),
		corpusFile(t, "ceph-osd-dbg/usr/lib/debug/.build-id/fb/66b3cec5f264a2f863d96fa875eb4ae39bb0bf.debug"))
	silent(t, corpusFile(t, "openjdk-17-dbg/usr/lib/debug/.build-id/bf/8543f9a4f589566ee3cc433d3e0321b011858d.debug"), "")
}
