//go:build oracle

package symaddr

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/test/programtest"
)

// The tests of this file run programs that call addr2line and llvm-symbolizer, once with the programs of binutils and
// LLVM and once with symaddr in their places.

// build compiles a source of testdata in dir, and returns the program.
func build(t *testing.T, dir, source, cc string, flags ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, strings.TrimSuffix(source, ".cc"))
	run(t, dir, "", cc, append(flags, "-g", "-o", program, path)...)
	return program
}

// wrapper writes a script in dir that calls a program and notes that it was called. It returns the path of the note.
func wrapper(t *testing.T, dir, program string) (note string) {
	t.Helper()
	note = filepath.Join(t.TempDir(), "called")
	text := fmt.Sprintf("#!/bin/sh\necho >>%s\nexec %s \"$@\"\n", note, program)
	programtest.Write(t, filepath.Join(dir, filepath.Base(program)), []byte(text))
	return note
}

// called fails the test if no note was written.
func called(t *testing.T, note string) {
	t.Helper()
	_, err := os.Stat(note)
	if err != nil {
		t.Errorf("the program was not called: %v", err)
	}
}

// output runs a command with variables of the environment and returns what it prints.
func output(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, stderr.String())
	}
	return string(text)
}

// same fails the test with the first line that differs.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("%s: line %d:\n\tours   %s\n\ttheirs %s", what, i+1, a[i], b[i])
			return
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, not %d", what, len(a), len(b))
	}
}

// TestOraclePerf: perf report and perf script print the same.
func TestOraclePerf(t *testing.T) {
	dir, tools := t.TempDir(), t.TempDir()
	program := build(t, dir, "busy.cc", "g++", "-O2", "-gdwarf-4") // GNU addr2line 2.40 errs with DWARF 5
	record := exec.CommandContext(t.Context(), "perf", "record", "-e", "cpu-clock", "-F", "997", "-o", "perf.data", program)
	record.Dir = dir
	text, err := record.CombinedOutput()
	if err != nil {
		t.Skipf("perf record does not work here: %v: %s", err, text)
	}
	note := wrapper(t, tools, filepath.Join(links(t), "addr2line"))
	for _, args := range []string{"report --stdio -s sym,srcline", "script -F ip,sym,srcline"} {
		words := append(strings.Fields(args), "-i", "perf.data")
		want := output(t, dir, nil, "perf", words...)
		got := output(t, dir, []string{"PATH=" + tools + ":" + os.Getenv("PATH")}, "perf", words...)
		called(t, note)
		if !strings.Contains(want, "stl_") {
			t.Errorf("perf %s has no lines of the standard library: %.500s", args, want)
		}
		same(t, "perf "+args, tip.ReplaceAllString(got, ""), tip.ReplaceAllString(want, ""))
	}
}

// tip matches perf's advice, another one each time.
var tip = regexp.MustCompile(`(?m)^# \(Tip: .*$`)

// TestOracleASan: a report of AddressSanitizer is the same. LLVM 14 separates closing angle brackets, LLVM 16 does not.
func TestOracleASan(t *testing.T) {
	dir, tools := t.TempDir(), t.TempDir()
	program := build(t, dir, "overflow.cc", "clang++", "-O1", "-fsanitize=address")
	note := wrapper(t, tools, filepath.Join(links(t), "llvm-symbolizer"))
	theirs, err := exec.LookPath("llvm-symbolizer")
	if err != nil {
		t.Fatal(err)
	}
	report := func(symbolizer string) string {
		cmd := exec.CommandContext(t.Context(), "setarch", "-R", program) // addresses that do not change
		cmd.Env = append(os.Environ(), "ASAN_SYMBOLIZER_PATH="+symbolizer)
		text, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(text), "heap-buffer-overflow") {
			t.Fatalf("no report: %v: %s", err, text)
		}
		out := process.ReplaceAllString(string(text), "")
		for strings.Contains(out, "> >") {
			out = strings.ReplaceAll(out, "> >", ">>")
		}
		return out
	}
	got, want := report(filepath.Join(tools, "llvm-symbolizer")), report(theirs)
	called(t, note)
	if !strings.Contains(want, "in Buffer::read(int) const ") {
		t.Errorf("no inlined call: %s", want)
	}
	same(t, "report", got, want)
}

// process matches the number of the process in a report, and the registers that depend on the length of the environment.
var process = regexp.MustCompile(`(?m)^==\d+==| [bs]p 0x[0-9a-f]+`)

// TestOraclePprof: pprof -top -lines is the same with LLVM's symbolizer, with ours and with our addr2line.
func TestOraclePprof(t *testing.T) {
	dir := t.TempDir()
	source, err := filepath.Abs("testdata/pprof.go")
	if err != nil {
		t.Fatal(err)
	}
	pprof := filepath.Join(dir, "pprof")
	run(t, "../../../adapters/pprof", "", "go", "build", "-pgo=off", "-o", pprof, source)
	program := build(t, dir, "busy.cc", "g++", "-O2")
	programtest.Write(t, filepath.Join(dir, "raw"), profile(t, program))

	top := func(tools string) string {
		env := []string{"PPROF_TOOLS=" + tools, "PATH=" + tools, "HOME=" + dir}
		return output(t, dir, env, pprof, "-top", "-lines", program, "raw")
	}
	tools := func(program string) (path, note string) {
		path = t.TempDir()
		note = wrapper(t, path, program)
		for _, name := range []string{"nm", "objdump", "sh"} {
			found, err := exec.LookPath(name)
			if err == nil {
				err = os.Symlink(found, filepath.Join(path, name))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return path, note
	}
	theirs, err := exec.LookPath("llvm-symbolizer")
	if err != nil {
		t.Fatal(err)
	}
	path, _ := tools(theirs)
	want := top(path)
	if strings.Count(want, "(inline)") < 20 {
		t.Errorf("few inlined calls: %s", want)
	}
	ours := links(t)
	for _, name := range []string{"llvm-symbolizer", "addr2line"} {
		path, note := tools(filepath.Join(ours, name))
		got := top(path)
		called(t, note)
		same(t, "pprof with our "+name, got, want)
	}
}

// profile returns a profile in the form of gperftools, which has addresses alone: its header, samples of two addresses
// each, its end, and the mapping of a program.
func profile(t *testing.T, program string) []byte {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var functions []elf.Symbol
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			functions = append(functions, s)
		}
	}
	const base, size = 0x555555554000, 0x100000
	random := rand.New(rand.NewPCG(1, 2))
	address := func() uint64 {
		s := functions[random.IntN(len(functions))]
		return base + s.Value + random.Uint64N(s.Size)
	}
	words := []uint64{0, 3, 0, 10_000, 0}
	for i := range uint64(400) {
		words = append(words, 1+i%5, 2, address(), address()+1)
	}
	out, err := binary.Append(nil, binary.LittleEndian, append(words, 0, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(out, "%x-%x r-xp 00000000 08:01 1 %s\n", base, base+size, program)
}
