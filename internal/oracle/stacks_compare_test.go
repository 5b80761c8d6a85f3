//go:build oracle

package oracle_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
)

// stackPCs is how many addresses of each file are looked up.
const stackPCs = 20_000

// randomPCs returns sorted addresses in code, every byte as likely as any
// other. Code is what our functions cover and what sized function symbols do.
func randomPCs(x *stackIndex, a *aliases) []uint64 {
	var code []span
	for i := range x.funcs {
		code = append(code, span{x.funcs[i].lo + x.load, x.funcs[i].hi + x.load})
	}
	code = joined(append(code, a.sized...))
	var total uint64
	for _, s := range code {
		total += s.hi - s.lo
	}
	random := rand.New(rand.NewPCG(3, 20_000))
	offsets := make([]uint64, stackPCs)
	for i := range offsets {
		offsets[i] = random.Uint64N(total)
	}
	slices.Sort(offsets)
	pcs := offsets[:0]
	var before uint64
	for _, off := range offsets {
		for off-before >= code[0].hi-code[0].lo {
			before += code[0].hi - code[0].lo
			code = code[1:]
		}
		pcs = append(pcs, code[0].lo+off-before)
	}
	return pcs
}

// compareStack compares the stacks of a file, or with a twin of it for the
// oracles those of the functions that both have. It returns a row of the table.
func compareStack(t *testing.T, in, other *input) string {
	text := dumpText(t, in, dump.Options{Inlines: true})
	records := bytes.Count(text, []byte("\nINLINE "))
	// A writer that does not clip, and keeps empty ranges, has 2.85 million.
	if in.name == "ceph-osd" && records >= 2_850_000/2 {
		t.Errorf("%d INLINE records", records)
	}
	c := stackComparison{
		t: t, x: newStackIndex(parseSym(t, text), readLayout(t, in.main).load), names: readAliases(t, in), file: in.dwarfFile(),
		wrong: newDiffs(t, "stacks that are not what two oracles say"), causes: map[string]int{}, equal: map[string]int{},
	}
	c.pcs = randomPCs(c.x, c.names)
	if other != nil {
		c.pair(newTwin(t, in, c.x, other), readAliases(t, other))
	}
	c.run()
	c.settle()
	c.wrong.report()
	if c.forgotten > 0 {
		t.Logf("%d stacks with a call whose place .gopclntab does not have", c.forgotten)
	}
	if c.forgotten > len(c.pcs)/1000 {
		t.Error("that is too many")
	}
	return fmt.Sprintf("%9d %s", records, c.row())
}

// pair has the oracles read the twin, and leaves only addresses that it has.
func (c *stackComparison) pair(tw *twin, names *aliases) {
	all := len(c.pcs)
	c.file, c.twin, c.names = tw.file, tw, names
	c.pcs = slices.DeleteFunc(c.pcs, func(pc uint64) bool { _, ok := tw.address(pc); return !ok })
	if len(c.pcs) < all*9/10 {
		c.t.Errorf("only %d of %d addresses are in functions of %s, too", len(c.pcs), all, tw.file)
	}
}

// stackComparison compares our stacks at some PCs with the oracles'.
type stackComparison struct {
	t      *testing.T
	x      *stackIndex
	names  *aliases
	file   string // for the oracles
	twin   *twin  // that file, if it is not the one whose stacks are compared
	pcs    []uint64
	agreed int
	doubts []doubt
	// forgotten counts the stacks with a call whose place a stripped Go program
	// does not have.
	forgotten int
	wrong     *diffs
	n         int            // of PCs where all differ
	causes    map[string]int // what differs there
	equal     map[string]int // whom ours equal there
}

// run asks llvm-symbolizer and addr2line first. Where they agree, so does the
// majority, whatever eu-addr2line says, which takes minutes for a large file:
// it is asked where they do not, or know nothing.
func (c *stackComparison) run() {
	llvm := c.ask("llvm-symbolizer", llvmSymbolizer, c.pcs)
	binutils := c.ask("addr2line", addr2line, c.pcs)
	var open []uint64
	var openLLVM, openBinutils []stack
	for i, pc := range c.pcs {
		if llvm[i].known() && c.agree(pc, llvm[i], binutils[i]) {
			c.majority(pc, llvm[i])
			continue
		}
		open = append(open, pc)
		openLLVM, openBinutils = append(openLLVM, llvm[i]), append(openBinutils, binutils[i])
	}
	if len(open) == 0 {
		return
	}
	c.rename(open, openLLVM, openBinutils)
	elfutils := c.ask("eu-addr2line", euAddr2line, open)
	for i, pc := range open {
		c.vote(pc, openLLVM[i], openBinutils[i], elfutils[i])
	}
}

// vote finds what two of the oracles agree on. Who knows nothing of a PC does
// not vote, unless nobody does.
func (c *stackComparison) vote(pc uint64, all ...stack) {
	known := slices.ContainsFunc(all, stack.known)
	for i := range all {
		for k := range i {
			if all[k].known() == known && c.agree(pc, all[k], all[i]) {
				c.majority(pc, all[k])
				return
			}
		}
	}
	c.allDiffer(pc, all[0], all[1], all[2])
}

// ask returns the stacks of an oracle in normal form.
func (c *stackComparison) ask(name string, oracle symbolizer, pcs []uint64) []stack {
	c.t.Helper()
	at := slices.Clone(pcs)
	for i := range at {
		if c.twin != nil {
			at[i], _ = c.twin.address(at[i])
		}
	}
	out := oracle(c.t, c.file, at)
	if len(out) != len(pcs) {
		c.t.Fatalf("%s: %d answers to %d addresses", name, len(out), len(pcs))
	}
	for i := range pcs {
		out[i] = normal(out[i])
	}
	return out
}

// start is where the function that has pc begins, in the oracles' file.
func (c *stackComparison) start(pc uint64) uint64 {
	if f := c.x.function(pc); f != nil {
		pc = f.lo + c.x.load
	} else if p := c.x.public(pc); p != nil {
		pc = p.Addr + c.x.load
	}
	if c.twin != nil {
		pc, _ = c.twin.address(pc)
	}
	return pc
}

// agree compares two oracles' stacks.
func (c *stackComparison) agree(pc uint64, a, b stack) bool {
	return c.names.same(a, b, c.start(pc), similar)
}

// same compares ours with an oracle's.
func (c *stackComparison) same(pc uint64, ours, theirs stack) bool {
	return c.names.same(ours, theirs, c.start(pc), named)
}

func (c *stackComparison) ours(pc uint64) stack {
	s, err := c.x.stack(pc)
	if err != nil {
		c.wrong.add("%#x: %v", pc, err)
	}
	return normal(s)
}

// majority compares ours with what two oracles agree on.
func (c *stackComparison) majority(pc uint64, want stack) {
	c.agreed++
	if got := c.ours(pc); !c.same(pc, got, want) {
		c.doubts = append(c.doubts, doubt{pc, got, want})
	}
}

// doubt is a PC where ours are not the stack that two oracles agree on.
type doubt struct {
	pc        uint64
	got, want stack
}

// isPlain tells whether ours is the plain name of a function, with the scopes
// around it. That is what we write if the linkage name is not mangled, but an
// assembler label (pread64 for pread, __GI_bsearch for bsearch; so does
// Breakpad), and if there is none in the DWARF but one in the symbol table.
func isPlain(ours, theirs, plain frame) bool {
	if ours.name != plain.name && !strings.HasSuffix(ours.name, "::"+plain.name) || plain.name == "" {
		return false
	}
	return theirs.linkage == "" || skeleton(ours.name) == skeletonOf(theirs.linkage)
}

// forgetCalls drops from what the oracles say the places of calls that ours do
// not know. .gopclntab has a call in a package's initialiser at the place of
// the code around it, which is made up; DWARF has it at its own.
func (c *stackComparison) forgetCalls(d *doubt) (any bool) {
	for k := 1; k < len(d.want) && len(d.got) == len(d.want); k++ {
		if d.got[k].line == 0 && d.want[k].line != 0 {
			d.want[k].file, d.want[k].line, any = "", 0, true
		}
	}
	return any
}

// settle asks llvm-symbolizer for the plain names where ours differ.
func (c *stackComparison) settle() {
	if len(c.doubts) == 0 {
		return
	}
	pcs := make([]uint64, len(c.doubts))
	for i := range c.doubts {
		pcs[i] = c.doubts[i].pc
	}
	for i, plain := range c.ask("llvm-symbolizer", llvmPlainNames, pcs) {
		d := &c.doubts[i]
		for k := range d.want {
			if len(plain) == len(d.want) && isPlain(d.got.at(k), d.want[k], plain[k]) {
				d.want[k] = frame{name: d.got[k].name, file: d.want[k].file, line: d.want[k].line}
			}
		}
		if c.twin != nil && c.twin.stripped && c.forgetCalls(d) {
			c.forgotten++
		}
		if !c.same(d.pc, d.got, d.want) {
			c.wrong.add("%#x: %v\n\twant%v", d.pc, d.got, d.want)
			c.record("wrong "+difference(d.got, d.want), d.pc, "ours", d.got, "want", d.want)
		}
	}
}

func (c *stackComparison) allDiffer(pc uint64, llvm, binutils, elf stack) {
	c.n++
	got := c.ours(pc)
	var who []string
	for i, s := range []stack{llvm, binutils, elf} {
		if c.agree(pc, got, s) { // an oracle's name may be the plain one
			who = append(who, [...]string{"llvm-symbolizer", "addr2line", "eu-addr2line"}[i])
		}
	}
	cause := c.binutilsCause(pc, llvm, binutils) + ", " + elfutilsCause(llvm, elf)
	c.causes[cause]++
	c.equal[strings.Join(append(who, "")[:1], "")]++
	c.record(cause, pc, "ours", got, "llvm", llvm, "binutils", binutils, "elfutils", elf)
}

// symbolNames tells whether addr2line agrees with llvm-symbolizer, but for the
// name of the innermost function. It calls one that is inlined and has no
// linkage name by the symbol that the address is in.
func (c *stackComparison) symbolNames(pc uint64, llvm, binutils stack) bool {
	if len(llvm) != len(binutils) || len(llvm) < 2 || !similar(binutils[0], binutils[len(binutils)-1]) {
		return false
	}
	renamed := slices.Clone(binutils)
	renamed[0].name, renamed[0].linkage = llvm[0].name, llvm[0].linkage
	return !c.agree(pc, llvm, binutils) && c.agree(pc, llvm, renamed)
}

// rename asks addr2line again, with a copy of the file without symbols, where it
// took the name of an inlined function from them. Where that is rare, as in C++,
// the addresses are listed instead.
func (c *stackComparison) rename(pcs []uint64, llvm, binutils []stack) {
	var again []uint64
	var at []int
	for i, pc := range pcs {
		if c.symbolNames(pc, llvm[i], binutils[i]) {
			again, at = append(again, pc), append(at, i)
		}
	}
	if len(again) < len(c.pcs)/100 {
		return
	}
	file := c.file
	c.file = withoutSymbols(c.t, file)
	for k, s := range c.ask("addr2line", addr2line, again) {
		binutils[at[k]] = s
	}
	c.file = file
}

// binutilsCause says in what addr2line differs from llvm-symbolizer.
func (c *stackComparison) binutilsCause(pc uint64, llvm, binutils stack) string {
	if c.symbolNames(pc, llvm, binutils) {
		return "addr2line calls the inlined function by the symbol"
	}
	return "addr2line has another " + difference(llvm, binutils)
}

// elfutilsCause says in what eu-addr2line differs from llvm-symbolizer.
func elfutilsCause(llvm, elf stack) string {
	if !elf.known() {
		return "eu-addr2line knows nothing" // it needs .debug_aranges
	}
	return "eu-addr2line has another " + difference(llvm, elf)
}

// record appends an example to the file that SYMKIT_STACKS names.
func (c *stackComparison) record(cause string, pc uint64, what ...any) {
	name := os.Getenv("SYMKIT_STACKS")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %#x %s\n", c.file, pc, cause)
	for i := 0; i < len(what); i += 2 {
		fmt.Fprintf(f, "\t%s%v\n", what[i], what[i+1])
	}
}

// difference says in what two stacks differ.
func difference(a, b stack) string {
	if len(a) != len(b) {
		return "depth"
	}
	var names, files, lines bool
	for i := range a {
		names = names || !similar(a[i], b[i])
		files = files || !sameFile(a[i].file, b[i].file)
		lines = lines || a[i].line != b[i].line
	}
	switch {
	case lines:
		return "line"
	case files:
		return "file"
	case names:
		return "name"
	}
	return "nothing"
}

func (c *stackComparison) row() string {
	counts := func(m map[string]int) string {
		var out []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			name := k
			if name == "" {
				name = "none"
			}
			out = append(out, fmt.Sprintf("%d %s", m[k], name))
		}
		return strings.Join(out, ", ")
	}
	return fmt.Sprintf("%7d %10d %10d %10d  %s; %s", len(c.pcs), c.agreed, c.agreed-c.wrong.n, c.n, counts(c.equal), counts(c.causes))
}

// joined sorts spans and makes one of those that touch.
func joined(spans []span) (out []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	for _, s := range spans {
		out = extend(out, s)
	}
	return out
}
