//go:build oracle

package symbolizer

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"symkit/test/oracle/symfile"
)

// allDiffer counts a PC where the three programs differ, and the causes.
func (c *comparison) allDiffer(pc uint64, llvm, binutils, elf symfile.Stack) {
	c.n++
	got := c.ours(pc)
	var equal []string
	for i, s := range []symfile.Stack{llvm, binutils, elf} {
		if c.agree(pc, got, s) { // s may have plain names
			equal = append(equal, [...]string{"llvm-symbolizer", "addr2line", "eu-addr2line"}[i])
		}
	}
	cause := c.binutilsCause(pc, llvm, binutils) + ", " + elfutilsCause(llvm, elf)
	c.causes[cause]++
	c.equal[strings.Join(append(equal, "")[:1], "")]++
	c.record(cause, pc, "ours", got, "llvm", llvm, "binutils", binutils, "elfutils", elf)
}

// binutilsCause names the difference of addr2line from llvm-symbolizer.
func (c *comparison) binutilsCause(pc uint64, llvm, binutils symfile.Stack) string {
	if c.symbolNames(pc, llvm, binutils) {
		return "addr2line calls the inlined function by the symbol"
	}
	return "addr2line has another " + difference(llvm, binutils)
}

// elfutilsCause names the difference of eu-addr2line from llvm-symbolizer.
func elfutilsCause(llvm, elf symfile.Stack) string {
	if !elf.Known() {
		return "eu-addr2line knows nothing" // without .debug_aranges
	}
	return "eu-addr2line has another " + difference(llvm, elf)
}

// record appends an example to the file that SYMKIT_STACKS names.
func (c *comparison) record(cause string, pc uint64, what ...any) {
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

// difference names the difference of two stacks.
func difference(a, b symfile.Stack) string {
	if len(a) != len(b) {
		return "depth"
	}

	var names, files, lines bool
	for i := range a {
		names = names || !similar(a[i], b[i])
		files = files || !sameFile(a[i].File, b[i].File)
		lines = lines || a[i].Line != b[i].Line
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

// row returns the figures.
func (c *comparison) row() string {
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
	return fmt.Sprintf("%7d %10d %10d %10d  %s; %s", len(c.pcs), c.agreed, c.agreed-c.wrong.N, c.n, counts(c.equal), counts(c.causes))
}
