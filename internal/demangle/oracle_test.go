//go:build oracle

package demangle

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symkit/internal/demangle/lex"
)

// symbols returns the names of functions in files that nm reads and keep wants.
func symbols(t *testing.T, keep func(name string) bool, nm ...string) []string {
	t.Helper()
	out, err := exec.Command("nm", nm...).Output()
	if err != nil {
		t.Fatalf("nm %v: %v", nm, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 && strings.Contains("tTwW", f[1]) {
			if name, _, _ := strings.Cut(f[2], "@"); keep(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// filt runs c++filt over names, without the details that __cxa_demangle leaves
// out too: std::ostream stays so, and Rust's hashes are dropped.
func filt(t *testing.T, style string, names []string) []string {
	t.Helper()
	cmd := exec.Command("c++filt", "-i", "-s", style)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		t.Fatalf("c++filt: %d lines for %d names", len(lines), len(names))
	}
	return lines
}

// compare reports names that c++filt writes differently. Names that only c++filt leaves
// mangled are counted, not reported; may is how many others may differ.
func compare(t *testing.T, lang uint16, style string, names []string, may int) {
	t.Helper()
	if len(names) < 100 {
		t.Fatalf("only %d names", len(names))
	}
	for i, name := range names {
		names[i] = string(lex.Base([]byte(name)))
	}
	names = slices.Compact(names)
	wants := filt(t, style, names)
	more, differ := 0, 0
	begin := time.Now()
	for i, name := range names {
		got, _ := ForLanguage(lang, []byte(name))
		want := wants[i]
		switch {
		case got == want:
		case want == name, want == "<"+name+">": // so c++filt marks what it cannot read as Ada
			more++
		default:
			if differ++; differ <= 20 {
				t.Logf("%s\n got  %s\n want %s", name, got, want)
			}
		}
	}
	if differ > may {
		t.Errorf("%d names differ, %d may", differ, may)
	}
	t.Logf("%d names in %v: %d differ, %d that c++filt leaves", len(names), time.Since(begin), differ, more)
}

func has(prefix string) func(string) bool {
	return func(name string) bool { return strings.HasPrefix(name, prefix) }
}

// library finds a file of a GCC library.
func library(t *testing.T, compiler, name string) string {
	t.Helper()
	out, err := exec.Command(compiler, "-print-file-name="+name).Output()
	path := string(bytes.TrimSpace(out))
	if err != nil || !filepath.IsAbs(path) {
		t.Fatalf("%s: %s not found: %v", compiler, name, err)
	}
	return path
}

func TestOracleCxx(t *testing.T) {
	names := symbols(t, has("_Z"), "-D", library(t, "g++", "libstdc++.so"))
	compare(t, 0, "gnu-v3", names, 0)
}

// TestCorpusCxx takes the largest program of the corpus. There libiberty
// writes destructors of lambdas and of types without a name as those of another
// class, some ends of template arguments without the blank, and the parameters
// of functions in templates differently: 20 names of binutils 2.40.
func TestCorpusCxx(t *testing.T) {
	corpus := os.Getenv("SYMKIT_CORPUS")
	files, err := filepath.Glob(filepath.Join(corpus, "ceph-osd-dbg/usr/lib/debug/.build-id/*/*.debug"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no ceph-osd-dbg in SYMKIT_CORPUS: %v", err)
	}
	names := symbols(t, has("_Z"), files...)
	compare(t, 0, "gnu-v3", names, len(names)/1000)
}

// corpusNames yields the C++ names in the string tables of the corpus, each
// once.
func corpusNames(t *testing.T) iter.Seq[[]byte] {
	corpus := os.Getenv("SYMKIT_CORPUS")
	if corpus == "" {
		t.Fatal("SYMKIT_CORPUS is not set")
	}
	return cxxNames(t, corpus)
}

// cxxNames is corpusNames for a file or directory.
func cxxNames(t *testing.T, root string) iter.Seq[[]byte] {
	seen := map[string]bool{}
	return func(yield func([]byte) bool) {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			f, err := elf.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			for _, table := range []string{".strtab", ".dynstr", ".debug_str"} {
				s := f.Section(table)
				if s == nil || s.Type == elf.SHT_NOBITS {
					continue
				}
				data, err := s.Data()
				if err != nil {
					return err
				}
				for name := range bytes.SplitSeq(data, []byte{0}) {
					name, _, _ = bytes.Cut(name, []byte("@"))
					if !bytes.HasPrefix(name, []byte("_Z")) || seen[string(name)] {
						continue
					}
					seen[string(name)] = true
					if !yield(name) {
						return fs.SkipAll
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestOracleRust(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.rs")
	const program = `
use std::collections::HashMap;
trait Shape { fn area(&self) -> f64; }
impl Shape for (f64, f64) { fn area(&self) -> f64 { self.0 * self.1 } }
fn show<T: std::fmt::Debug, const N: usize>(x: [T; N]) { println!("{:?}", x); }
fn main() {
    let mut m: HashMap<String, Vec<Option<&'static str>>> = HashMap::new();
    m.entry("a".into()).or_default().push(Some("b"));
    show([1u8, 2]);
    let b: Box<dyn Fn(&str) -> usize> = Box::new(|s| s.len());
    println!("{} {:?} {}", b("x"), m, (1.0, 2.0).area());
}`
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for mangling, prefix := range map[string]string{"legacy": "_ZN", "v0": "_R"} {
		t.Run(mangling, func(t *testing.T) {
			out := filepath.Join(dir, mangling)
			// Stable rustc wants leave for the mangling that is not its default.
			cmd := exec.Command("rustc", "-g", "-Zunstable-options", "-Csymbol-mangling-version="+mangling, "-o", out, source)
			cmd.Env = append(os.Environ(), "RUSTC_BOOTSTRAP=1")
			if msg, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("rustc: %v\n%s", err, msg)
			}
			compare(t, 0, "rust", symbols(t, has(prefix), out), 0)
		})
	}
}

// TestOracleRustLibrary takes rustc's own library.
func TestOracleRustLibrary(t *testing.T) {
	sysroot, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err != nil {
		t.Fatal(err)
	}
	libs, err := filepath.Glob(filepath.Join(string(bytes.TrimSpace(sysroot)), "lib/rustlib/*/lib/libstd-*.so"))
	if err != nil || len(libs) == 0 {
		t.Fatalf("Rust's library not found: %v", err)
	}
	for _, lib := range libs {
		names := symbols(t, func(name string) bool { return has("_R")(name) || has("_ZN")(name) }, "-D", lib)
		compare(t, 0, "rust", names, 0)
	}
}

func TestOracleD(t *testing.T) {
	for _, lib := range []string{"libgphobos.a", "libgdruntime.a"} {
		t.Run(lib, func(t *testing.T) {
			compare(t, 0, "dlang", symbols(t, has("_D"), library(t, "gdc", lib)), 0)
		})
	}
	libs, err := filepath.Glob("/usr/lib/*/libphobos2-ldc*.so")
	if err != nil || len(libs) == 0 {
		t.Fatalf("ldc's library not found: %v", err)
	}
	for _, lib := range libs {
		t.Run(filepath.Base(lib), func(t *testing.T) {
			compare(t, 0, "dlang", symbols(t, has("_D"), "-D", lib), 0)
		})
	}
}

func TestOracleAda(t *testing.T) {
	libs, err := filepath.Glob("/usr/lib/*/libgnat-*.so")
	if err != nil || len(libs) == 0 {
		t.Fatalf("GNAT's library not found: %v", err)
	}
	names := symbols(t, has(""), "-D", libs[0])
	compare(t, langAda95, "gnat", names, 0)
}
