//go:build oracle

package symaddr

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/test/oracle"
	"symkit/test/testfile"
)

const document = "../../../docs/symaddr.md"

// frame is a frame of llvm-symbolizer's JSON.
type frame struct {
	FunctionName, FileName      string
	Line, Column, Discriminator uint32
	StartFileName, StartAddress string
	StartLine                   uint32
}

// TestOracleLLVM: in the place of llvm-symbolizer, symaddr gives its frames, but for what the document lists.
func TestOracleLLVM(t *testing.T) {
	dir := links(t)
	kinds, total := map[string]int{}, 0
	for _, m := range slices.Concat(fixtures(t), built(t), small(t)) {
		c := &llvmComparison{t: t, ours: filepath.Join(dir, "llvm-symbolizer"), m: m, kinds: map[string]int{}}
		other := twin(t, &m)
		if c.run() > 0 && other != "" {
			c = &llvmComparison{t: t, ours: c.ours, m: m, kinds: map[string]int{m.name + " is as the same program, plain": m.pcs}}
			c.m.theirs = other
			c.run()
		}
		c.wrong.Report()
		total += c.m.pcs
		for k, n := range c.kinds {
			kinds[k] += n
		}
	}
	t.Logf("%d addresses", total)
	testfile.Documented(t, document, "llvm-symbolizer", slices.Collect(maps.Keys(kinds)))
}

// TestCorpusLLVM is TestOracleLLVM for large modules.
func TestCorpusLLVM(t *testing.T) {
	dir := links(t)
	listed := append(testfile.Listed(t, document, "llvm-symbolizer"), testfile.Listed(t, document, "large modules")...)
	for _, m := range large(t) {
		t.Run(m.name, func(t *testing.T) {
			c := &llvmComparison{t: t, ours: filepath.Join(dir, "llvm-symbolizer"), m: m, kinds: map[string]int{}}
			c.run()
			c.wrong.Report()
			tell(t, m.pcs, c.kinds, listed)
		})
	}
}

// llvmComparison compares the frames of a module.
type llvmComparison struct {
	t     *testing.T
	ours  string // the program
	m     module
	kinds map[string]int // of differences, how many of each
	wrong *oracle.Diffs
	past  []uint64   // addresses where a symbol without a size goes on into the next section
	twice []uint64   // addresses of frames with twiceDirectory
	files []string   // the innermost file there
	lacks []uint64   // addresses where LLVM has fewer calls
	calls [][]string // symaddr's names and places there, as addr2line prints them

	symbols  map[string][]elf.Symbol // of the file by name, read when first needed
	sections []*elf.Section
}

// The flags for names of symbols and those of DWARF.
const (
	linkageNames = "--functions=linkage"
	shortNames   = "--functions=short"
)

// run compares, with several flags, and returns how many addresses differ in a way of no kind.
func (c *llvmComparison) run() int {
	c.wrong = oracle.NewDiffs(c.t, "addresses with other frames in "+c.m.name)
	pcs := addresses(c.t, c.m.path, c.m.pcs)
	for _, flag := range []string{linkageNames, shortNames, "--no-inlines"} {
		got, stop := iter.Pull(c.ask(c.ours, c.m.path, pcs, flag))
		defer stop()
		i := 0
		for want := range c.ask("llvm-symbolizer", c.m.file(), pcs, flag) {
			ours, _ := got()
			c.compare(pcs[i], flag, ours, want)
			i++
		}
		_, more := got()
		if i != len(pcs) || more {
			c.t.Fatalf("%s: %d answers to %d addresses", c.m.name, i, len(pcs))
		}
	}
	c.second()
	return c.wrong.N
}

// ask yields the frames that a program gives for addresses of a file with a flag.
func (c *llvmComparison) ask(program, file string, pcs []uint64, flag string) iter.Seq[[]frame] {
	args := append([]string{"--output-style=JSON", "--no-demangle", flag, "--obj=" + file}, c.m.flags...)
	return func(yield func([]frame) bool) {
		for line := range stream(c.t, lines(pcs), program, args...) {
			var answer struct{ Symbol []frame }
			err := json.Unmarshal([]byte(line), &answer)
			if err != nil {
				c.t.Fatalf("%s: %v: %s", program, err, line)
			}
			if !yield(answer.Symbol) {
				return
			}
		}
	}
}

// The kinds of differences.
const (
	twiceDirectory = "a relative directory of the compilation is not joined with itself"
	pastSection    = "a symbol without a size ends with its section"
	noStart        = "an inlined call whose own code is empty has no address where it starts"
	symbolNames    = "with --functions=short, too, a function without DWARF has the name of its symbol"
	versions       = "a name is without the version of its symbol"
	outside        = "functions outside of the only range that a unit of DWARF 2 has"
	starts         = "each function and call has an address where it starts, and the file of its declaration"
)

// compare compares the frames at an address.
func (c *llvmComparison) compare(pc uint64, flag string, got, want []frame) {
	last := len(want) - 1
	if flag == "--no-inlines" && slices.Contains(c.lacks, pc) {
		return // the innermost call is another one
	}
	if len(got) > len(want) {
		if flag == linkageNames {
			var calls []string
			for _, f := range got {
				calls = append(calls, f.FunctionName, strings.TrimSuffix(fmt.Sprintf("%s:%d", f.FileName, f.Line), ":0"))
			}
			c.lacks, c.calls = append(c.lacks, pc), append(c.calls, calls)
		}
		return
	}
	if len(got) != len(want) {
		c.wrong.Add("%#x: %s\n\t\tours %+v\n\t\tLLVM %+v", pc, flag, got, want)
		return
	}
	ours := slices.Clone(got)
	for i := range ours {
		a, b := &ours[i], &want[i]
		c.settle(b.StartAddress == "" && a.StartAddress != "", starts, &a.StartAddress, "")
		c.settle(b.StartFileName == "" && a.StartFileName != "", starts, &a.StartFileName, "")
		c.settle(i < last && a.StartAddress == "", noStart, &a.StartAddress, b.StartAddress)
		c.settle(isTwice(b.FileName, a.FileName), twiceDirectory, &a.FileName, b.FileName)
		c.settle(isTwice(b.StartFileName, a.StartFileName), twiceDirectory, &a.StartFileName, b.StartFileName)
	}
	a, b := &ours[last], &want[last]
	c.settle(flag == shortNames && b.FunctionName == "" && a.StartLine == 0, symbolNames, &a.FunctionName, "")
	name, _, _ := strings.Cut(b.FunctionName, "@")
	c.settle(a.FunctionName == name, versions, &a.FunctionName, b.FunctionName)
	c.settle(isMark(b.FunctionName), marks, &a.StartAddress, b.StartAddress)
	c.settle(isMark(b.FunctionName), marks, &a.FunctionName, b.FunctionName)
	if b.StartLine == 0 && a.StartLine != 0 && last == 0 {
		c.settle(true, outside, &a.StartFileName, b.StartFileName)
		c.settle(flag == shortNames, outside, &a.FunctionName, b.FunctionName)
		c.settle(true, outside, &a.StartAddress, b.StartAddress)
		a.StartLine = 0
	}
	if a.FunctionName == "" && b.FunctionName != "" && c.isPast(pc, b.FunctionName) {
		c.settle(true, pastSection, &a.FunctionName, b.FunctionName)
		a.StartAddress, a.FileName = b.StartAddress, b.FileName
		c.past = append(c.past, pc)
	}
	if isTwice(want[0].FileName, got[0].FileName) {
		c.twice, c.files = append(c.twice, pc), append(c.files, fmt.Sprintf("%s:%d", got[0].FileName, got[0].Line))
	}
	if !slices.Equal(ours, want) {
		c.wrong.Add("%#x: %s\n\t\tours %+v\n\t\tLLVM %+v", pc, flag, got, want)
	}
}

// settle makes a text equal to another if the condition of a kind of differences holds.
func (c *llvmComparison) settle(is bool, kind string, text *string, want string) {
	if is && *text != want {
		c.kinds[kind]++
		*text = want
	}
}

// isTwice reports whether a path begins with a relative directory twice. DWARF 5's directory 0 is that of the
// compilation (§6.2.4), which LLVM and binutils put before it once more.
func isTwice(long, short string) bool {
	dir, ok := strings.CutSuffix(long, "/"+short)
	return ok && !filepath.IsAbs(long) && strings.HasPrefix(short, dir+"/")
}

// isPast reports whether symbols of a name have no size, and are in other sections than pc.
func (c *llvmComparison) isPast(pc uint64, name string) bool {
	if c.symbols == nil {
		f, err := elf.Open(c.m.file())
		if err != nil {
			c.t.Fatal(err)
		}
		defer f.Close()
		symbols, _ := f.Symbols()
		c.symbols, c.sections = map[string][]elf.Symbol{}, f.Sections
		for _, s := range symbols {
			c.symbols[s.Name] = append(c.symbols[s.Name], s)
		}
	}
	found := false
	for _, s := range c.symbols[name] {
		if s.Section >= elf.SectionIndex(len(c.sections)) {
			continue
		}
		in := c.sections[s.Section]
		if s.Size > 0 || pc >= in.Addr && pc < in.Addr+in.Size {
			return false
		}
		found = true
	}
	return found
}

// second asks other programs where LLVM is wrong: addr2line about symbols that go on into the next section, and
// gimli's addr2line about directories that come twice.
func (c *llvmComparison) second() {
	c.past = c.past[:min(len(c.past), 1000)]
	for i, lines := range askGNU(c.t, "addr2line", c.m.file(), c.past, "-a", "-f") {
		if lines[0] != "??" {
			c.t.Errorf("%s: %#x: addr2line has a name, too: %q", c.m.name, c.past[i], lines)
		}
	}

	program := filepath.Join(os.Getenv("SYMKIT_PEERS"), "gimli-addr2line")
	if len(c.lacks) > 0 {
		for i, lines := range askGNU(c.t, gimli(c.t), c.m.file(), c.lacks, "-a", "-f", "-i") {
			for k := range lines {
				lines[k] = strings.TrimSuffix(lines[k], ":?") // of no line
			}
			if !slices.Equal(lines, c.calls[i]) {
				c.wrong.Add("%#x:\n\t\tours  %q\n\t\tgimli %q", c.lacks[i], c.calls[i], lines)
				continue
			}
			c.kinds[splitCalls]++
		}
	}
	_, err := os.Stat(program)
	if err != nil || len(c.twice) == 0 {
		return // scripts/peers.sh says that it is not there
	}
	for i, lines := range askGNU(c.t, program, c.m.file(), c.twice, "-a", "-f", "-i") {
		if len(lines) < 2 || lines[1] != c.files[i] {
			c.t.Errorf("%s: %#x: %s, gimli's addr2line has %q", c.m.name, c.twice[i], c.files[i], lines)
		}
	}
}
