//go:build oracle

package symaddr

import (
	"bufio"
	"bytes"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/test/oracle"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// module is a program or a library, and a form of it that the other program reads completely.
type module struct {
	name   string
	path   string
	theirs string // what the other programs read, path if ""
	flags  []string
	pcs    int
}

// file returns the path that the other programs read.
func (m *module) file() string {
	if m.theirs != "" {
		return m.theirs
	}
	return m.path
}

// links returns a directory with symaddr under the names of the programs whose place it takes.
func links(t *testing.T) (dir string) {
	t.Helper()
	program := programtest.Build(t, "symaddr")
	dir = filepath.Dir(program)
	for _, name := range []string{"addr2line", "llvm-symbolizer"} {
		err := os.Symlink(program, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs a program and returns what it prints.
func run(t *testing.T, dir, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, stderr.String())
	}
	return stdout.String()
}

// stream runs a program and yields the lines that it prints.
func stream(t *testing.T, stdin, name string, args ...string) iter.Seq[string] {
	return func(yield func(string) bool) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &stderr
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(stdout)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			if !yield(strings.TrimSuffix(line, "\n")) {
				_ = cmd.Process.Kill()
				_ = cmd.Wait() // says that it was killed
				return
			}
		}
		err = cmd.Wait()
		if err != nil {
			t.Errorf("%v: %v: %s", cmd, err, stderr.String())
		}
	}
}

// tell prints how many addresses have each kind of differences, and fails for those that the document does not list.
func tell(t *testing.T, pcs int, kinds map[string]int, listed []string) {
	t.Logf("%d addresses", pcs)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%8d %s", kinds[kind], kind)
		if !slices.Contains(listed, kind) {
			t.Errorf("not in %s: %s", document, kind)
		}
	}
}

// count returns n, or the number in SYMKIT_PCS, which is how many addresses of each module of TestCorpusLLVM and
// TestCorpusGNU are compared, with more modules.
func count(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv("SYMKIT_PCS")
	if text == "" {
		return n
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// addresses returns addresses in the code of a file, each byte as likely as any other, in no order.
func addresses(t *testing.T, path string, n int) (pcs []uint64) {
	t.Helper()
	code, total := oracle.ReadLayout(t, path).Code, uint64(0)
	for _, s := range code {
		total += s.Hi - s.Lo
	}
	random := rand.New(rand.NewPCG(7, 41))
	for len(pcs) < n && total > 0 {
		at := random.Uint64N(total)
		for _, s := range code {
			if at < s.Hi-s.Lo {
				pcs = append(pcs, s.Lo+at)
				break
			}
			at -= s.Hi - s.Lo
		}
	}
	return pcs
}

const elfDir = "../../../testdata/elf"

// fixtures returns the modules of testdata/elf. The other programs are given a package of split units by a flag.
func fixtures(t *testing.T) (list []module) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range testfile.Programs(t, elfDir) {
		path := filepath.Join(elfDir, name)
		unpacked, packed := strings.CutSuffix(name, ".xz")
		if packed {
			path = oracle.Unpack(t, path, filepath.Join(dir, unpacked))
		}
		m := module{name: unpacked, path: path, pcs: 400}
		dwp := strings.TrimSuffix(path, ".elf") + ".dwp"
		_, err := os.Stat(dwp)
		if err == nil {
			m.flags = []string{"--dwp=" + dwp}
		}
		list = append(list, m)
	}
	return list
}

// twins are fixtures that llvm-symbolizer 14 does not read completely, by their last word, and the forms of the same
// program that it does.
var twins = map[string]func(t *testing.T, plain string) string{
	"dwz":      func(_ *testing.T, plain string) string { return plain },
	"sup":      func(_ *testing.T, plain string) string { return plain },
	"zstd":     func(_ *testing.T, plain string) string { return plain },
	"stripped": func(_ *testing.T, plain string) string { return plain },
	"mini": func(t *testing.T, plain string) string {
		path := filepath.Join(t.TempDir(), "symbols")
		run(t, "", "", "objcopy", "--strip-debug", plain, path)
		return path
	},
}

// twin returns the form of a fixture that llvm-symbolizer reads, or "".
func twin(t *testing.T, m *module) string {
	t.Helper()
	stem, word, _ := cutLast(strings.TrimSuffix(m.name, ".elf"), "-")
	of := twins[word]
	if of == nil {
		return ""
	}
	return of(t, filepath.Join(elfDir, stem+".elf"))
}

// cutLast cuts a text at the last separator.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// built returns programs that two compilers build, in the forms that debug information has.
func built(t *testing.T) (list []module) {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("../gsymutil/testdata/stl.cc")
	if err != nil {
		t.Fatal(err)
	}
	for _, cc := range []string{"g++", "clang++"} {
		for _, form := range []string{"-gdwarf-5", "-gdwarf-4", "-gsplit-dwarf", "-flto", "-gz=zlib"} {
			name := cc + form
			args := []string{"-O2", "-g", form, "-o", name, source}
			if cc == "clang++" && form == "-flto" {
				args = append(args, "-fuse-ld=lld")
			}
			run(t, dir, "", cc, args...)
			list = append(list, module{name: name, path: filepath.Join(dir, name), pcs: 2000})
		}
	}

	// dwz moves what two programs share to a file of its own.
	plain := filepath.Join(dir, "g++-gdwarf-5")
	for _, name := range []string{"one", "two"} {
		data, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		programtest.Write(t, filepath.Join(dir, name), data)
	}
	run(t, dir, "", "dwz", "-m", "common.dwz", "one", "two")
	return append(list, module{name: "g++ and dwz", path: filepath.Join(dir, "one"), theirs: plain, pcs: 2000})
}

// corpus returns modules of the corpus. A stripped one is joined with its debug file for the other programs, which
// would read the symbols of the stripped one.
func corpus(t *testing.T, n int, inputs ...oracle.Input) (list []module) {
	t.Helper()
	for _, in := range inputs {
		m := module{name: in.Name, path: in.Main, pcs: n}
		if in.Debug != "" {
			m.theirs = filepath.Join(t.TempDir(), in.Name)
			run(t, "", "", "eu-unstrip", "-o", m.theirs, in.Main, in.Debug)
			root, _, _ := strings.Cut(in.Debug, "/.build-id/")
			m.flags = []string{"--debug-file-directory=" + root}
		}
		list = append(list, m)
	}
	return list
}

// small returns the modules of the corpus that take seconds.
func small(t *testing.T) []module {
	return corpus(t, 5000, slices.Concat(
		oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
		oracle.FromCorpus(t, "libstdc++6-12-dbg/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.*.*", ""),
	)...)
}

// named returns the modules in SYMKIT_MODULES: paths, separated by blanks. A path can be followed by = and that of a form
// of the module that the other programs read.
func named(t *testing.T) (list []module) {
	for _, path := range strings.Fields(os.Getenv("SYMKIT_MODULES")) {
		path, theirs, _ := strings.Cut(path, "=")
		list = append(list, module{name: filepath.Base(path), path: path, theirs: theirs, pcs: count(t, 20_000)})
	}
	return list
}

// large returns the modules of the corpus that take minutes; with SYMKIT_PCS, all of the corpus. With SYMKIT_MODULES
// these are all.
func large(t *testing.T) (list []module) {
	list = named(t)
	if len(list) > 0 {
		return list
	}
	if os.Getenv("SYMKIT_PCS") != "" {
		for _, m := range slices.Concat(small(t), built(t)) {
			if !strings.Contains(m.name, "++-") || m.name == "clang++-gsplit-dwarf" {
				m.pcs = count(t, 0)
				list = append(list, m)
			}
		}
	}
	return slices.Concat(list,
		corpus(t, count(t, 20_000), oracle.FromCorpus(t, "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*", "")...),
		corpus(t, count(t, 500), oracle.FromCorpus(t, "ceph-osd/usr/bin/ceph-osd", "ceph-osd-dbg")...),
	)
}
