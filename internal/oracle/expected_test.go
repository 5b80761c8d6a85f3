//go:build oracle

package oracle_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/emit"
)

// expectedDir has what Breakpad's dump_syms wrote of files of the corpus.
func expectedDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SYMKIT_EXPECTED")
	if dir == "" {
		dir = "../../../shared/expected"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("no expected output: %v; set SYMKIT_EXPECTED", err)
	}
	return dir
}

// TestOracleBreakpad compares whole symbol files with Breakpad's, by meaning:
// every difference has to be in docs/differences.md, and what is there has to
// be a difference.
func TestOracleBreakpad(t *testing.T) {
	inputs := slices.Concat(
		fromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		fromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
	)
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.name, func(t *testing.T) {
			want := parseSym(t, readXZ(t, filepath.Join(expectedDir(t), in.name+".breakpad.sym.xz")))
			c := symDiff{ours: parseSym(t, dumpText(t, in, dump.Options{})), theirs: want, counts: map[string]int{}}
			c.run()
			c.check(t, in.name)
		})
	}
}

// symDiff is the differences of two symbol files, as lines of text.
type symDiff struct {
	ours, theirs *symFile
	lines        []string
	counts       map[string]int // of kinds that are too many to list
}

func (c *symDiff) add(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

func (c *symDiff) run() {
	if c.ours.module != c.theirs.module {
		c.add("MODULE: %v, not %v", c.ours.module, c.theirs.module)
	}
	c.funcs()
	c.publics()
	c.files()
	c.codeLines()
	c.cfi()
}

// check compares the differences with the documented ones.
func (c *symDiff) check(t *testing.T, file string) {
	t.Helper()
	for what, n := range c.counts {
		c.add("%d × %s", n, what)
	}
	listed := documented(t, file)
	missing := newDiffs(t, "differences from Breakpad that docs/differences.md does not have")
	for _, line := range c.lines {
		if !listed[line] {
			missing.add("%s", line)
		}
		delete(listed, line)
	}
	missing.report()
	stale := newDiffs(t, "differences in docs/differences.md that are none any more")
	for _, line := range slices.Sorted(maps.Keys(listed)) {
		stale.add("%s", line)
	}
	stale.report()
}

// documented reads the differences of a file: the lines of the block that
// begins with "```differences FILE", without comments.
func documented(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "\n```differences "+file)
	block, _, closed := strings.Cut(block, "\n```")
	if !ok || !closed {
		t.Fatalf("docs/differences.md has no block for %s", file)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines[line] = true
		}
	}
	return lines
}

func byAddress(f symFunc, addr uint64) int { return cmp.Compare(f.lo, addr) }

// at returns the function that begins at addr.
func (s *symFile) at(addr uint64) *symFunc {
	i, ok := slices.BinarySearchFunc(s.funcs, addr, byAddress)
	if !ok {
		return nil
	}
	return &s.funcs[i]
}

// covers tells whether addr is in a function.
func (s *symFile) covers(addr uint64) bool {
	i, _ := slices.BinarySearchFunc(s.funcs, addr+1, byAddress)
	return i > 0 && addr < s.funcs[i-1].hi
}

func (c *symDiff) funcs() {
	for i := range c.theirs.funcs {
		want := &c.theirs.funcs[i]
		switch got := c.ours.at(want.lo); {
		case got == nil:
			c.add("FUNC %x %s: missing", want.lo, want.name)
		case got.hi != want.hi || got.multiple != want.multiple:
			c.add("FUNC %x %s: size %x, not %x", want.lo, want.name, got.hi-got.lo, want.hi-want.lo)
		case got.name != want.name:
			c.add("FUNC %x: %s, not %s", want.lo, got.name, want.name)
		}
	}
	for i := range c.ours.funcs {
		if c.theirs.at(c.ours.funcs[i].lo) == nil {
			c.counts["FUNC that Breakpad does not have"]++
		}
	}
}

func (c *symDiff) publics() {
	ours := map[uint64]emit.Public{}
	for _, p := range c.ours.publics {
		ours[p.Addr] = p
	}
	for _, want := range c.theirs.publics {
		got, ok := ours[want.Addr]
		delete(ours, want.Addr)
		switch {
		case !ok && c.ours.covers(want.Addr):
			c.counts["PUBLIC that is in a FUNC here"]++
		case !ok:
			c.add("PUBLIC %x %s: missing", want.Addr, want.Name)
		case string(got.Name) != string(want.Name):
			c.add("PUBLIC %x: %s, not %s", want.Addr, got.Name, want.Name)
		}
	}
	for addr, p := range ours {
		if strings.HasSuffix(string(p.Name), "@plt") { // TestOraclePLT has each
			c.counts["PUBLIC of a PLT entry"]++
			continue
		}
		c.add("PUBLIC %x %s: not in Breakpad's", addr, p.Name)
	}
}

// files compares the names as sets, Breakpad's after "." and ".." are resolved.
func (c *symDiff) files() {
	ours := map[string]bool{}
	for _, name := range c.ours.files {
		ours[name] = true
	}
	theirs := map[string]bool{}
	for _, name := range c.theirs.files {
		name = path.Clean(name)
		if theirs[name] = true; !ours[name] {
			c.add("FILE %s: missing", name)
		}
	}
	for name := range ours {
		if !theirs[name] {
			c.counts["FILE that Breakpad does not have"]++
		}
	}
}

// place is a piece of code that has one line.
type place struct {
	span
	what string
}

// places returns the lines of s by address, adjacent equal ones as one.
func places(s *symFile) (out []place) {
	for i := range s.funcs {
		for _, l := range s.funcs[i].lines {
			p := place{span{l.Addr, l.Addr + uint64(l.Size)}, fmt.Sprintf("%s:%d", path.Clean(s.files[l.File]), l.Line)}
			if n := len(out) - 1; n >= 0 && out[n].hi == p.lo && out[n].what == p.what {
				out[n].hi = p.hi
			} else {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.lo, b.lo) })
	return out
}

// codeLines compares the line of every PC that is in a function of both.
func (c *symDiff) codeLines() {
	theirs := places(c.theirs)
	for _, d := range differing(places(c.ours), theirs) {
		switch {
		case c.theirs.covers(d.lo):
			c.add("line %x–%x: %s", d.lo, d.hi, d.what)
		case !c.ours.covers(d.lo):
			c.add("line %x–%x outside of functions: %s", d.lo, d.hi, d.what)
		}
	}
}

// differing returns the pieces of code where a and b, each sorted and without
// overlaps, are not the same.
func differing(a, b []place) (out []place) {
	for pos := uint64(0); len(a) > 0 || len(b) > 0; {
		inA, untilA := placeAt(&a, pos)
		inB, untilB := placeAt(&b, pos)
		end := min(untilA, untilB)
		if inA != inB {
			what := fmt.Sprintf("%s, not %s", cmp.Or(inA, "nothing"), cmp.Or(inB, "nothing"))
			if n := len(out) - 1; n >= 0 && out[n].hi == pos && out[n].what == what {
				out[n].hi = end
			} else {
				out = append(out, place{span{pos, end}, what})
			}
		}
		pos = end
	}
	return out
}

// placeAt returns what list has at pos, and where that ends; it drops what ends
// before.
func placeAt(list *[]place, pos uint64) (what string, until uint64) {
	for len(*list) > 0 && (*list)[0].hi <= pos {
		*list = (*list)[1:]
	}
	switch {
	case len(*list) == 0:
		return "", ^uint64(0)
	case (*list)[0].lo > pos:
		return "", (*list)[0].lo
	}
	return (*list)[0].what, (*list)[0].hi
}

// rulePlaces returns, for one register, where which rule is in force.
func rulePlaces(s *symFile) map[string][]place {
	out := map[string][]place{}
	rules := symRules{}
	records := slices.Clone(s.cfi)
	slices.SortStableFunc(records, func(a, b symCFI) int { return cmp.Compare(a.lo, b.lo) })
	for i := range records {
		r := &records[i]
		rules.apply(r)
		for reg, rule := range rules {
			list := out[reg]
			if n := len(list) - 1; n >= 0 && list[n].hi == r.lo && list[n].what == rule {
				list[n].hi = r.hi
			} else {
				out[reg] = append(list, place{r.span, rule})
			}
		}
	}
	return out
}

// cfi compares the rules of every register at every PC.
func (c *symDiff) cfi() {
	ours, theirs := rulePlaces(c.ours), rulePlaces(c.theirs)
	regs := map[string]bool{}
	for reg := range ours {
		regs[reg] = true
	}
	for reg := range theirs {
		regs[reg] = true
	}
	for _, reg := range slices.Sorted(maps.Keys(regs)) {
		for _, d := range differing(ours[reg], theirs[reg]) {
			c.add("%s %x–%x: %s", reg, d.lo, d.hi, d.what)
		}
	}
}
