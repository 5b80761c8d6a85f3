//go:build oracle

// Package peers compares whole symbol files with those of Breakpad's and Mozilla's
// dump_syms. docs/differences.md lists every difference.
package peers

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"symkit/dump"
	"symkit/emit"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
	"symkit/test/testfile"
)

// TestOracleBreakpad compares whole symbol files with Breakpad's by meaning: every
// difference is in docs/differences.md, and everything there is a difference.
func TestOracleBreakpad(t *testing.T) {
	inputs := slices.Concat(
		oracle.FromCorpus(t, "python3.11-dbg/usr/bin/python3.11d", ""),
		oracle.FromCorpus(t, "libc6/lib/x86_64-linux-gnu/libc.so.6", "libc6-dbg"),
	)
	for i := range inputs {
		in := &inputs[i]
		t.Run(in.Name, func(t *testing.T) {
			want := symfile.Parse(t, testfile.Expected(t, in.Name+".breakpad.sym"))
			c := differ{ours: symfile.Parse(t, oracle.Dump(t, in, dump.Options{})), theirs: want, counts: map[string]int{}}
			c.run()
			c.check(t, in.Name)
		})
	}
}

func (c *differ) run() {
	if c.ours.Module != c.theirs.Module {
		c.add("MODULE: %v, not %v", c.ours.Module, c.theirs.Module)
	}
	c.funcs()
	c.publics()
	c.files()
	c.codeLines()
	c.cfi()
}

func (c *differ) funcs() {
	for i := range c.theirs.Funcs {
		want := &c.theirs.Funcs[i]
		switch got := c.ours.At(want.Lo); {
		case got == nil:
			c.add("FUNC %x %s: missing", want.Lo, want.Name)
		case got.Hi != want.Hi || got.Multiple != want.Multiple:
			c.add("FUNC %x %s: size %x, not %x", want.Lo, want.Name, got.Hi-got.Lo, want.Hi-want.Lo)
		case want.Name == "__GI_"+got.Name:
			c.counts["FUNC without its assembler label"]++
		case got.Name != want.Name:
			c.add("FUNC %x: %s, not %s", want.Lo, got.Name, want.Name)
		}
	}

	for i := range c.ours.Funcs {
		if c.theirs.At(c.ours.Funcs[i].Lo) == nil {
			c.counts["FUNC that Breakpad does not have"]++
		}
	}
}

func (c *differ) publics() {
	ours := map[uint64]emit.Public{}
	for _, p := range c.ours.Publics {
		ours[p.Addr] = p
	}

	for _, want := range c.theirs.Publics {
		got, ok := ours[want.Addr]
		delete(ours, want.Addr)
		switch {
		case !ok && c.ours.Covers(want.Addr):
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
func (c *differ) files() {
	ours := map[string]bool{}
	for _, name := range c.ours.Files {
		ours[name] = true
	}

	theirs := map[string]bool{}
	for _, name := range c.theirs.Files {
		name = path.Clean(name)
		theirs[name] = true
		if !ours[name] {
			c.add("FILE %s: missing", name)
		}
	}

	for name := range ours {
		if !theirs[name] {
			c.counts["FILE that Breakpad does not have"]++
		}
	}
}

// codeLines compares the line of every PC that is in a function of both.
func (c *differ) codeLines() {
	theirs := places(c.theirs)
	for _, d := range differing(places(c.ours), theirs) {
		switch {
		case c.theirs.Covers(d.Lo):
			c.add("line %x–%x: %s", d.Lo, d.Hi, d.what)
		case !c.ours.Covers(d.Lo):
			c.add("line %x–%x outside of functions: %s", d.Lo, d.Hi, d.what)
		}
	}
}

// cfi compares the rule of every register at every PC.
func (c *differ) cfi() {
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
			c.add("%s %x–%x: %s", reg, d.Lo, d.Hi, d.what)
		}
	}
}
