package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/symbolizers"
	"symkit/test/mutant"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// gnuAnswer matches the line that begins an answer of addr2line -a.
var gnuAnswer = regexp.MustCompile(`(?m)^0x[0-9a-f]{16}$`)

// answered wants one answer of each protocol for each line, in order. file is that of addresses alone, for addr2line.
func answered(t *testing.T, what, file string, lines []string) {
	t.Helper()
	stdin := strings.Join(lines, "\n") + "\n"
	got := runWith(t, "addr2line", stdin, "-afiCe", file)
	if n := len(gnuAnswer.FindAllString(got.stdout, -1)); n != len(lines) || got.code != 0 {
		t.Errorf("%s: addr2line: exit code %d, %d answers to %d lines: %.300s", what, got.code, n, len(lines), got.stderr)
	}

	// A line is given back, as is one about a symbol that there is not, or the answer ends with an empty line.
	got = runWith(t, "llvm-symbolizer", stdin)
	if got.code != 0 {
		t.Errorf("%s: llvm-symbolizer: exit code %d: %.300s", what, got.code, got.stderr)
	}
	l, rest := symbolizers.LLVM{}, got.stdout
	for i, line := range lines {
		line, ok := strings.TrimSuffix(line, "\r"), false
		q, isQuestion := l.Parse(line[:min(len(line), 1<<20)], "")
		if isQuestion && q.Symbol == "" {
			_, rest, ok = strings.Cut(rest, "\n\n")
		} else {
			rest, ok = strings.CutPrefix(rest, line+"\n")
		}
		if !ok {
			t.Fatalf("%s: llvm-symbolizer: line %d, %.100q, has no answer: %.300q", what, i, line, rest)
		}
	}
	if rest != "" {
		t.Errorf("%s: llvm-symbolizer: more answers than lines: %.300q", what, rest)
	}

	got = runWith(t, "llvm-symbolizer", stdin, "--output-style=JSON")
	n := 0
	for line := range strings.Lines(got.stdout) {
		n++
		if !json.Valid([]byte(line)) {
			t.Errorf("%s: no JSON: %.300q", what, line)
		}
	}
	if n != len(lines) {
		t.Errorf("%s: llvm-symbolizer --output-style=JSON: %d answers to %d lines", what, n, len(lines))
	}
}

// passed wants that symaddr answers each line that is an address of file, and gives all others back.
func passed(t *testing.T, file string, lines []string) {
	t.Helper()
	got := runWith(t, "symaddr", strings.Join(lines, "\n")+"\n", file)
	rest := got.stdout
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		for len(line) > 1<<20 { // a long line is several
			rest = strings.TrimPrefix(rest, line[:1<<20]+"\n")
			line = line[1<<20:]
		}
		after, ok := strings.CutPrefix(rest, line+"\n")
		if !ok {
			after, ok = strings.CutPrefix(rest, strings.TrimSpace(line)+": ")
			_, after, _ = strings.Cut(after, "\n")
			for strings.HasPrefix(after, " (inlined by) ") {
				_, after, _ = strings.Cut(after, "\n")
			}
		}
		if !ok {
			t.Fatalf("symaddr: line %d, %.100q, has no answer: %.300q", i, line, rest)
		}
		rest = after
	}
	if rest != "" || got.code != 0 {
		t.Errorf("symaddr: exit code %d, more answers than lines: %.300q", got.code, rest)
	}
}

// questions are lines about file that both protocols read: addresses near and in its code.
func questions(file string, n int) (lines []string) {
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		lines = append(lines, fmt.Sprintf("%s 0x%x", file, 0x400f00+random.IntN(0x900)))
	}
	return lines
}

// TestBadFiles: modules without symbols, of other formats, damaged, and what is no module have an answer for each line.
func TestBadFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	program := programtest.Fixture(t, filepath.Base(program86))
	other := bytes.Clone(program)
	for at := range other {
		other[at] ^= 0xff
	}
	files := map[string][]byte{
		"bare": mutant.Program(0x1000), "empty": nil, "text": []byte("text\n"), "other": other, "cut": program[:len(program)/2],
		"link.debug": programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5-stripped.debug"), "symbols.sym": []byte("MODULE Linux x86_64 0 x\nFUNC 401000 100 0 f\n401000 10 1 9\n"),
	}
	programtest.Write(t, "program", program)
	for name, data := range files {
		programtest.Write(t, name, data)
		lines := append(questions(name, 50), name+" 0", name+" 0xffffffffffffffff", "missing 0x10", "/ 0x10", os.DevNull+" 0x10")
		answered(t, name, "program", lines)
	}
}

// TestDamagedUnits: damage in .debug_info costs no answer.
func TestDamagedUnits(t *testing.T) {
	t.Chdir(t.TempDir())
	program := programtest.Fixture(t, filepath.Base(program86))
	programtest.Write(t, "program", program)
	f, err := elfx.Open("program")
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".debug_info")
	from, size := s.Offset, s.Size
	f.Close()
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		damaged := bytes.Clone(program)
		for range 1 + i%8 {
			damaged[from+random.Uint64N(size)] ^= byte(1 + random.IntN(255))
		}
		name := fmt.Sprint("damaged", i)
		programtest.Write(t, name, damaged)
		answered(t, name, name, questions(name, 40))
	}
}

// TestHostileNames: names of a module that have characters that control a terminal, line breaks among them.
func TestHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	program := programtest.Fixture(t, filepath.Base(program86))
	lines := questions("program", 200)
	for shift := range testfile.HostileShifts() {
		hostile, err := testfile.HostileELF(program, shift, ".strtab", ".debug_str", ".debug_line_str")
		if err != nil {
			t.Fatal(err)
		}
		for at := range hostile {
			if shift == 0 && hostile[at] == '\x1b' {
				hostile[at] = '\n'
			}
		}
		programtest.Write(t, "program", hostile)
		answered(t, fmt.Sprint("shift ", shift), "program", lines)
		for _, args := range []string{"symaddr program", "symaddr --format=json program", "symaddr --mangled program", "addr2line -fiaCe program",
			"llvm-symbolizer", "llvm-symbolizer --verbose", "llvm-symbolizer --output-style=JSON", "llvm-addr2line -f -e program"} {
			words := strings.Fields(args)
			stdin := strings.Join(lines, "\n") + "\n"
			if strings.Contains(args, " program") {
				stdin = strings.ReplaceAll(stdin, "program ", "")
			}
			got := runWith(t, words[0], stdin, words[1:]...)
			err = testfile.Outputs([]byte(got.stdout), []byte(got.stderr))
			if err == nil && !strings.Contains(args, "json") && !strings.Contains(args, "JSON") && !strings.Contains(got.stdout, `\x`) {
				err = errors.New("no character was escaped")
			}
			if err != nil {
				t.Errorf("shift %d: %s: %v", shift, args, err)
			}
		}
	}
}

// TestHostileLines: each of 100,000 lines has an answer: random bytes, long lines, NULs, carriage returns, huge numbers.
func TestHostileLines(t *testing.T) {
	path, err := filepath.Abs(program86)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(5, 6))
	noise := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(random.UintN(256))
		}
		return strings.ReplaceAll(string(text), "\n", "")
	}
	words := []string{path, "CODE", "DATA", "FRAME", "BUILDID:", "FILE:", "0x4012de", "4199134", "0x", "-1", "99999999999999999999", "0xffffffffffffffff",
		"\"", "'", "\x00", " ", "\t", "\r", "\xff", testfile.Hostile, "/", ".", ",", "@", "-e", "0b1", "0o7", "1_0", "\"" + path + "\" 0x4012de", path + " 0x4012de"}
	var lines []string
	for i := range 100_000 {
		switch {
		case i%1000 == 0:
			lines = append(lines, noise(random.IntN(100_000)))
		case i%2 == 0:
			lines = append(lines, noise(random.IntN(60)))
		default:
			var line strings.Builder
			for range random.IntN(6) {
				line.WriteString(words[random.IntN(len(words))] + " "[random.IntN(2):])
			}
			lines = append(lines, line.String())
		}
	}
	answered(t, "hostile lines", path, lines)
	passed(t, path, lines)

	// What is too long for a line is left out.
	long := path + " 0x4012de" + strings.Repeat(" ", 3<<20) + "x"
	lines = []string{long, path + " 0x10", long, "0x4012de", long, path + " 0x10"}
	answered(t, "long lines", path, lines)
	passed(t, path, lines)
}
