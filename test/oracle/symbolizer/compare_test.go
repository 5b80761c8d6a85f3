//go:build oracle

package symbolizer

import (
	"slices"
	"strings"
	"testing"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// pair makes the other programs read the twin, and leaves only addresses that it has.
func (c *comparison) pair(tw *twin, names *aliases) {
	all := len(c.pcs)
	c.file, c.twin, c.names = tw.file, tw, names
	c.pcs = slices.DeleteFunc(c.pcs, func(pc uint64) bool { _, ok := tw.address(pc); return !ok })
	if len(c.pcs) < all*9/10 {
		c.t.Errorf("only %d of %d addresses are in functions of %s, too", len(c.pcs), all, tw.file)
	}
}

// comparison compares our stacks at some PCs with those of the other programs.
type comparison struct {
	t      *testing.T
	x      *symfile.Index
	names  *aliases
	file   string // that the other programs read
	twin   *twin  // that file, if it is not the one whose stacks are compared
	pcs    []uint64
	agreed int
	doubts []doubt
	// forgotten counts the stacks with a call whose place is not in a stripped Go
	// program.
	forgotten int
	wrong     *oracle.Diffs
	n         int            // PCs where all three programs differ
	causes    map[string]int // how often what differs there
	equal     map[string]int // how often our stack is which program's there
}

// run asks llvm-symbolizer and addr2line first. Two that agree are a majority, so
// eu-addr2line, which takes minutes for a large file, is asked only where the two
// differ or know nothing.
func (c *comparison) run() {
	llvm := c.ask("llvm-symbolizer", llvmSymbolizer, c.pcs)
	binutils := c.ask("addr2line", addr2line, c.pcs)
	var open []uint64
	var openLLVM, openBinutils []symfile.Stack
	for i, pc := range c.pcs {
		if llvm[i].Known() && c.agree(pc, llvm[i], binutils[i]) {
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

// vote finds a stack that two of the programs agree on. A program that knows nothing
// of a PC has no vote, unless no program knows anything.
func (c *comparison) vote(pc uint64, all ...symfile.Stack) {
	known := slices.ContainsFunc(all, symfile.Stack.Known)
	for i := range all {
		for k := range i {
			if all[k].Known() == known && c.agree(pc, all[k], all[i]) {
				c.majority(pc, all[k])
				return
			}
		}
	}
	c.allDiffer(pc, all[0], all[1], all[2])
}

// ask returns the stacks that another program prints, in normal form.
func (c *comparison) ask(name string, oracle symbolizer, pcs []uint64) []symfile.Stack {
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

// start returns the beginning of the function that has pc, in the file that the other
// programs read.
func (c *comparison) start(pc uint64) uint64 {
	if f := c.x.Function(pc); f != nil {
		pc = f.Lo + c.x.Load
	} else if p := c.x.Public(pc); p != nil {
		pc = p.Addr + c.x.Load
	}
	if c.twin != nil {
		pc, _ = c.twin.address(pc)
	}
	return pc
}

// agree reports whether two other programs' stacks mean the same.
func (c *comparison) agree(pc uint64, a, b symfile.Stack) bool {
	return c.names.same(a, b, c.start(pc), similar)
}

// same reports whether our stack means the same as another program's.
func (c *comparison) same(pc uint64, ours, theirs symfile.Stack) bool {
	return c.names.same(ours, theirs, c.start(pc), named)
}

func (c *comparison) ours(pc uint64) symfile.Stack {
	s, err := c.x.Stack(pc)
	if err != nil {
		c.wrong.Add("%#x: %v", pc, err)
	}
	return normal(s)
}

// majority compares our stack with one that two other programs agree on.
func (c *comparison) majority(pc uint64, want symfile.Stack) {
	c.agreed++
	if got := c.ours(pc); !c.same(pc, got, want) {
		c.doubts = append(c.doubts, doubt{pc, got, want})
	}
}

// doubt is a PC where our stack is not the one that two other programs agree on.
type doubt struct {
	pc        uint64
	got, want symfile.Stack
}

// isPlain reports whether ours is the plain name of a function, with the scopes
// around it. We write that, as Breakpad does, if the linkage name is not mangled but
// an assembler label (pread64 for pread, __GI_bsearch for bsearch), and if a linkage
// name is in the symbol table alone.
func isPlain(ours, theirs, plain symfile.Frame) bool {
	if ours.Name != plain.Name && !strings.HasSuffix(ours.Name, "::"+plain.Name) || plain.Name == "" {
		return false
	}
	return theirs.Linkage == "" || skeleton(ours.Name) == skeletonOf(theirs.Linkage)
}

// forgetCalls removes the places of calls that our stack does not have from the other
// programs' stack. In .gopclntab a call in a package's initialiser has the place of
// the code around it, which is made up; in DWARF it has its own.
func (c *comparison) forgetCalls(d *doubt) (any bool) {
	for k := 1; k < len(d.want) && len(d.got) == len(d.want); k++ {
		if d.got[k].Line == 0 && d.want[k].Line != 0 {
			d.want[k].File, d.want[k].Line, any = "", 0, true
		}
	}
	return any
}

// settle asks llvm-symbolizer for the plain names where our stacks differ.
func (c *comparison) settle() {
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
			if len(plain) == len(d.want) && isPlain(d.got.At(k), d.want[k], plain[k]) {
				d.want[k] = symfile.Frame{Name: d.got[k].Name, File: d.want[k].File, Line: d.want[k].Line}
			}
		}
		if c.twin != nil && c.twin.stripped && c.forgetCalls(d) {
			c.forgotten++
		}
		if !c.same(d.pc, d.got, d.want) {
			c.wrong.Add("%#x: %v\n\twant%v", d.pc, d.got, d.want)
			c.record("wrong "+difference(d.got, d.want), d.pc, "ours", d.got, "want", d.want)
		}
	}
}

// symbolNames reports whether addr2line agrees with llvm-symbolizer but for the name
// of the innermost function: addr2line gives an inlined function without a linkage
// name that of the symbol around.
func (c *comparison) symbolNames(pc uint64, llvm, binutils symfile.Stack) bool {
	if len(llvm) != len(binutils) || len(llvm) < 2 || !similar(binutils[0], binutils[len(binutils)-1]) {
		return false
	}
	renamed := slices.Clone(binutils)
	renamed[0].Name, renamed[0].Linkage = llvm[0].Name, llvm[0].Linkage
	return !c.agree(pc, llvm, binutils) && c.agree(pc, llvm, renamed)
}

// rename asks addr2line again, with a copy of the file without symbols, where it took
// the name of an inlined function from them. Where that is rare, as in C++, the
// addresses are counted as differing instead.
func (c *comparison) rename(pcs []uint64, llvm, binutils []symfile.Stack) {
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
