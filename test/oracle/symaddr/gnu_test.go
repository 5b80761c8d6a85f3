//go:build oracle

package symaddr

import (
	"debug/elf"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symkit/test/oracle"
	"symkit/test/testfile"
)

// TestOracleGNU: in the place of GNU's addr2line, symaddr prints what that prints, but for what the document lists. Where
// inlined calls or source files differ, llvm-symbolizer has what symaddr has. Without binutils-multiarch, addr2line takes
// ARM's marks of code and data for functions.
func TestOracleGNU(t *testing.T) {
	ours := filepath.Join(links(t), "addr2line")
	kinds, total := map[string]int{}, 0
	for _, m := range slices.Concat(fixtures(t), built(t), small(t)) {
		other := twin(t, &m)
		if other != "" {
			m.theirs = other
		}
		c := &gnuComparison{t: t, ours: ours, theirs: "addr2line", m: m, kinds: kinds}
		c.run()
		total += m.pcs
	}
	t.Logf("%d addresses", total)
	testfile.Documented(t, document, "addr2line", slices.Collect(maps.Keys(kinds)))
}

// TestCorpusGNU is TestOracleGNU for large modules.
func TestCorpusGNU(t *testing.T) {
	compareLarge(t, "addr2line", "addr2line", count(t, 2000)) // it searches all functions for each address
}

// compareLarge compares with a program at so many addresses of each large module. The document lists the kinds of
// differences.
func compareLarge(t *testing.T, list, theirs string, pcs int) {
	ours := filepath.Join(links(t), "addr2line")
	listed := append(testfile.Listed(t, document, list), testfile.Listed(t, document, "large modules")...)
	for _, m := range large(t) {
		m.pcs = min(m.pcs, pcs)
		t.Run(m.name, func(t *testing.T) {
			c := &gnuComparison{t: t, ours: ours, theirs: theirs, m: m, kinds: map[string]int{}}
			c.run()
			tell(t, m.pcs, c.kinds, listed)
		})
	}
}

// askGNU returns the lines of each answer of addr2line, or of a program with its command line, but for the address.
func askGNU(t *testing.T, program, file string, pcs []uint64, flags ...string) (out [][]string) {
	t.Helper()
	for line := range strings.Lines(run(t, "", lines(pcs), program, append(flags, "-e", file)...)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "0x"):
			out = append(out, nil)
		case len(out) > 0:
			out[len(out)-1] = append(out[len(out)-1], line)
		}
	}
	if len(out) != len(pcs) {
		t.Fatalf("%s %s: %d answers to %d addresses", program, file, len(out), len(pcs))
	}
	return out
}

// lines returns addresses, one on a line.
func lines(pcs []uint64) string {
	var text strings.Builder
	for _, pc := range pcs {
		fmt.Fprintf(&text, "%#x\n", pc)
	}
	return text.String()
}

// The kinds of differences from addr2line.
const (
	anAlias        = "of several symbols at an address symaddr takes another one"
	aCopy          = "a copy of a function (.constprop.0, .part.0) has the name of its symbol"
	symbolFile     = "code without lines has the source file of its symbol only if the symbol is local"
	discriminators = "a call has its own discriminator"
	otherCalls     = "addr2line lacks inlined calls, or has others"
	ownName        = "an inlined function without a linkage name has its own name"
	otherFile      = "addr2line takes the file, or its directory, from the entry beside it"
	noLine         = "a place without a line ends with a question mark, and may have the file of the symbol"
	noName         = "code after the end of a function has the name of the last symbol"
	asGNU          = "GNU addr2line has symaddr's answer"
	otherName      = "addr2line takes the name of a function without a linkage name from elsewhere"
	marks          = "marks and labels that compilers put into code are no functions"
	splitCalls     = "inlined calls that only gimli's addr2line and symaddr find"
)

// gnuComparison compares what addr2line prints for addresses of a module.
type gnuComparison struct {
	t      *testing.T
	ours   string // the program
	theirs string // addr2line of GNU, or gimli's
	m      module
	kinds  map[string]int      // addresses
	names  map[string][]uint64 // of symbols: where they are
	judged map[string]bool     // names on which another demangler agrees with symaddr
}

func (c *gnuComparison) run() {
	c.readNames()
	c.judged = map[string]bool{}
	wrong := oracle.NewDiffs(c.t, "answers that are neither addr2line's nor llvm-symbolizer's about "+c.m.name)
	names := oracle.NewDiffs(c.t, "names that differ in "+c.m.name)
	pcs := addresses(c.t, c.m.path, c.m.pcs)
	slices.Sort(pcs) // GNU's reads more and more units, and searches all that it has read
	for pcs := range slices.Chunk(pcs, 50_000) {
		c.compare(pcs, wrong, names)
	}
	wrong.Report()
	names.Report()
}

// compare compares the answers for some addresses.
func (c *gnuComparison) compare(pcs []uint64, wrong, names *oracle.Diffs) {
	file := c.m.path
	if len(c.m.flags) > 0 && c.m.theirs != "" {
		file = c.m.theirs // addr2line has no flag for the directory of debug files
	}
	flags := []string{"-a", "-f", "-i"}
	got, want := askGNU(c.t, c.ours, file, pcs, flags...), askGNU(c.t, c.theirs, c.m.file(), pcs, flags...)

	if c.theirs == "addr2line" { // gimli's demangles in its own way
		c.demangled(file, pcs, got, want, names)
	}
	var open []int // what no kind explains
	for i, pc := range pcs {
		c.settle(pc, got[i], want[i])
		if !slices.Equal(got[i], want[i]) {
			open = append(open, i)
		}
	}
	c.judge(pcs, open, got, want, wrong)
}

// readNames reads the symbols.
func (c *gnuComparison) readNames() {
	c.names = map[string][]uint64{}
	f, err := elf.Open(c.m.file())
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range slices.Concat(symbols, dynamic) {
		c.names[s.Name] = append(c.names[s.Name], s.Value&^1)
	}
}

var (
	discriminator = regexp.MustCompile(` \(discriminator \d+\)$`)
	copySuffix    = regexp.MustCompile(`(\.(cold|isra|part|constprop|lto_priv|[0-9]+))+$`)
)

// settle makes the lines of want those of got where a kind of differences explains them.
func (c *gnuComparison) settle(pc uint64, got, want []string) {
	if len(got) != len(want) {
		return
	}
	explain := func(i int, is bool, kind string) {
		if is && got[i] != want[i] {
			c.kinds[kind]++
			want[i] = got[i]
		}
	}
	name, place := len(got)-2, len(got)-1
	explain(name, c.same(got[name], want[name]), anAlias)
	explain(name, isCopy(got[name], want[name]), aCopy)
	explain(name, c.isOther(got[name], want[name]), aCopy)
	explain(name, isMark(want[name]), marks)
	if c.theirs == "addr2line" {
		explain(place, strings.HasSuffix(got[place], ":?") && strings.HasSuffix(want[place], ":?"), symbolFile)
	}
	explain(place, strings.HasSuffix(got[place], ":?") && strings.HasSuffix(want[place], ":?"), noLine)
	explain(place, strings.HasSuffix(got[place], ":?") && strings.HasSuffix(want[place], ":0"), noLine)
	explain(name, want[name] == "??" && c.theirs != "addr2line", noName)
	explain(name, got[name] == withoutVersion(want[name]), versions)
	for i := 1; i < len(got); i += 2 {
		explain(i, isTwice(cutLine(want[i]), cutLine(got[i])) && lineOf(want[i]) == lineOf(got[i]), twiceDirectory)
		if i > 1 {
			explain(i, discriminator.ReplaceAllString(got[i], "") == discriminator.ReplaceAllString(want[i], ""), discriminators)
		}
	}
	for i := 0; i < name; i += 2 {
		explain(i, want[i] == want[name] && got[i+1] == want[i+1], ownName)
	}
}

// withoutVersion returns the name of a symbol without its version.
func withoutVersion(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}

// isCopy reports whether two names are of a function and of its copy or part.
func isCopy(a, b string) bool {
	return variant.Replace(copySuffix.ReplaceAllString(a, "")) == variant.Replace(copySuffix.ReplaceAllString(b, ""))
}

// isOther reports whether a symbol with the name b is at an address of a copy or a part of the function a, whose code is
// that of two functions.
func (c *gnuComparison) isOther(a, b string) bool {
	if !strings.Contains(b, ".") {
		return false
	}
	for _, suffix := range []string{".part.0", ".constprop.0", ".isra.0", ".cold"} {
		if c.same(copySuffix.ReplaceAllString(a, "")+suffix, b) {
			return true
		}
	}
	return false
}

// mark matches symbols among code that are no functions: what gcc -flto puts where it begins to write code
// (bfd.c.1da1f578), labels (.L4330 of gcc for i386, .LBB9_192 of clang for RISC-V) and marks of instruction sets ($xrv64i2p1).
var mark = regexp.MustCompile(`\.[0-9a-f]{8}$|^\.L[A-Z]*[0-9]+(_[0-9]+)?$|^\$`)

func isMark(name string) bool { return mark.MatchString(name) }

// variant makes one of the forms that a constructor or a destructor has.
var variant = strings.NewReplacer("C1E", "C2E", "C4E", "C2E", "C1I", "C2I", "C4I", "C2I", "D1E", "D2E", "D4E", "D2E")

// same reports whether two symbols are at one address.
func (c *gnuComparison) same(a, b string) bool {
	return slices.ContainsFunc(c.names[a], func(addr uint64) bool { return slices.Contains(c.names[b], addr) })
}

// cutLine returns the file of a place, and lineOf the rest.
func cutLine(place string) string {
	file, _, _ := cutLast(discriminator.ReplaceAllString(place, ""), ":")
	return file
}

func lineOf(place string) string { return strings.TrimPrefix(place, cutLine(place)) }

// demangled compares names with -C where they are the same without.
func (c *gnuComparison) demangled(file string, pcs []uint64, rawGot, rawWant [][]string, wrong *oracle.Diffs) {
	flags := []string{"-a", "-f", "-i", "-C"}
	got, want := askGNU(c.t, c.ours, file, pcs, flags...), askGNU(c.t, c.theirs, c.m.file(), pcs, flags...)
	var differ []difference
	seen := map[string]bool{}
	for i := range pcs {
		if !slices.Equal(rawGot[i], rawWant[i]) {
			continue
		}
		for k, name := range rawGot[i] {
			a, b := got[i][k], want[i][k]
			if a != b && !seen[name] {
				seen[name] = true
				differ = append(differ, difference{name, a, b})
			}
		}
	}
	c.judgeNames(differ, wrong)
}

// judge asks llvm-symbolizer where addr2line differs in other ways: its answer must be that of symaddr.
func (c *gnuComparison) judge(pcs []uint64, open []int, got, want [][]string, wrong *oracle.Diffs) {
	if len(open) == 0 {
		return
	}
	var at []uint64
	for _, i := range open {
		at = append(at, pcs[i])
	}
	l := &llvmComparison{t: c.t, m: c.m}
	var left []int // what llvm-symbolizer says in another way, too
	for frames := range l.ask("llvm-symbolizer", c.m.file(), at, linkageNames) {
		i := open[0]
		open = open[1:]
		switch {
		case c.agrees(got[i], want[i], frames):
			c.kinds[kindOf(got[i], want[i])]++
		default:
			left = append(left, i)
		}
	}
	if len(left) > 0 {
		c.judgeThird(pcs, left, got, want, wrong)
	}
}

// judgeThird asks GNU's addr2line where gimli's and llvm-symbolizer differ, and gimli's where GNU's and llvm-symbolizer
// do: the answer must be that of symaddr.
func (c *gnuComparison) judgeThird(pcs []uint64, left []int, got, want [][]string, wrong *oracle.Diffs) {
	program, kind := "addr2line", asGNU
	if c.theirs == "addr2line" {
		program, kind = gimli(c.t), splitCalls
	}
	var at []uint64
	for _, i := range left {
		at = append(at, pcs[i])
	}
	for k, third := range askGNU(c.t, program, c.m.file(), at, "-a", "-f", "-i") {
		i := left[k]
		if kind == splitCalls {
			c.settle(at[k], got[i], third)
		}
		if slices.Equal(got[i], third) {
			c.kinds[kind]++
			continue
		}
		wrong.Add("%#x:\n\t\tours   %q\n\t\ttheirs %q\n\t\tthird  %q", at[k], got[i], want[i], third)
	}
}

// agrees reports whether symaddr's lines say what the frames of llvm-symbolizer say. After the end of a function,
// where llvm-symbolizer has no name, symaddr may have the name that addr2line has.
func (c *gnuComparison) agrees(got, want []string, frames []frame) bool {
	if len(got) != 2*len(frames) {
		return false
	}
	for i, f := range frames {
		place := fmt.Sprintf("%s:%d", f.FileName, f.Line)
		if f.Line == 0 && strings.HasSuffix(got[2*i+1], ":?") {
			place = got[2*i+1] // the file may be that of the symbol
		}
		if f.Discriminator > 0 {
			place += fmt.Sprintf(" (discriminator %d)", f.Discriminator)
		}
		if isTwice(cutLine(place), cutLine(got[2*i+1])) {
			place = cutLine(got[2*i+1]) + lineOf(place)
		}
		name := got[2*i]
		same := name == f.FunctionName
		if i == len(frames)-1 {
			same = same || isMark(f.FunctionName) || c.same(name, f.FunctionName) || isCopy(name, f.FunctionName) || f.FunctionName == "" && name == want[len(want)-2]
		}
		if place != got[2*i+1] || !same {
			return false
		}
	}
	return true
}

// kindOf returns the kind of a difference in which llvm-symbolizer agrees with symaddr.
func kindOf(got, want []string) string {
	if len(got) != len(want) {
		return otherCalls
	}
	for i := range got {
		if i%2 == 0 && got[i] != want[i] {
			return otherName
		}
	}
	return otherFile
}
