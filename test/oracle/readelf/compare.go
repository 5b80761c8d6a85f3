//go:build oracle

// Package readelf compares STACK CFI records with the rows that readelf makes of
// .eh_frame and .debug_frame.
package readelf

import (
	"debug/elf"
	"fmt"
	"slices"
	"testing"

	"symkit/cfi"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// Counts are the figures of one comparison.
type Counts struct {
	FDEs, Rows int // compared
	withExp    int // rows with an expression, whose other rules are compared
	unnamed    int // rules for registers that symbol files have no name for
}

func (c Counts) String() string { return fmt.Sprintf("%7d %8d %8d", c.FDEs, c.Rows, c.withExp) }

// sweep compares STACK CFI records with readelf's rows over all code that
// either describes.
type sweep struct {
	s     *symfile.File
	arch  *cfi.Arch
	next  int           // the first record not yet applied
	rules symfile.Rules // in force after it
	Counts
	lost, wrong *oracle.Diffs
	covered     uint64 // bytes of code of both
}

// exidxBytes counts the bytes of our records that are only in ARM's exception index table,
// and in no row of readelf. The table begins with the function of its first entry (EHABI32
// §5).
func exidxBytes(t *testing.T, in *oracle.Input, s *symfile.File, l *oracle.Layout, rows []frameRow) (n uint64) {
	t.Helper()
	f, err := elf.Open(in.Main)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	sec := f.Section(".ARM.exidx")
	if sec == nil {
		return 0
	}

	table, err := sec.Data()
	if err != nil || len(table) < 8 {
		t.Fatalf("%s: .ARM.exidx: %d bytes, %v", in.Name, len(table), err)
	}

	// The first word of an entry is a prel31 offset to the function.
	prel31 := int32(f.ByteOrder.Uint32(table)<<1) >> 1
	first := uint64(uint32(int32(sec.Addr)+prel31)) - l.Load

	// Count the bytes that each record has after that address, less those that the rows
	// describe.
	for _, c := range s.CFI {
		lo, hi := max(c.Lo, first), c.Hi
		for _, r := range rows { // by address
			if begin, end := max(lo, r.Lo), min(hi, r.Hi); begin < end {
				n -= end - begin
			}
		}
		if lo < hi {
			n += hi - lo
		}
	}
	return n
}

// Compare compares the STACK CFI records of a symbol file with readelf's output for the
// module.
func Compare(t *testing.T, in *oracle.Input, s *symfile.File, l *oracle.Layout) Counts {
	t.Helper()
	return CompareFrames(t, in, s, l, Read(t, in, l))
}

// CompareFrames is Compare with readelf's output.
func CompareFrames(t *testing.T, in *oracle.Input, s *symfile.File, l *oracle.Layout, fr *Frames) Counts {
	t.Helper()
	w := sweep{
		s: s, arch: cfi.ArchByName(s.Module.Arch), rules: symfile.Rules{},
		lost:  oracle.NewDiffs(t, "rows of call frame information without a STACK CFI record"),
		wrong: oracle.NewDiffs(t, "rules that are not readelf's"),
	}
	if w.arch == nil {
		t.Fatalf("no registers known for %s", s.Module.Arch)
	}

	w.FDEs, w.Rows = fr.fdes, fr.printed
	for i := range fr.rows {
		w.row(&fr.rows[i])
	}
	w.lost.Report()
	w.wrong.Report()

	// Every byte that the records describe is in a row, or in the exception index table.
	total := uint64(0)
	for _, c := range s.CFI {
		total += c.Hi - c.Lo
	}

	if extra := exidxBytes(t, in, s, l, fr.rows); total != w.covered+extra {
		t.Errorf("STACK CFI describes %d bytes of code, of which readelf has %d, and %d more are in .ARM.exidx", total, w.covered, extra)
	}
	// Log the parts that the comparison leaves out.
	if fr.overridden > 0 || fr.discarded > 0 || w.unnamed > 0 {
		t.Logf("%s: %d rows of .debug_frame for code of .eh_frame; %d FDEs of discarded code; %d rules of registers without a name",
			in.Name, fr.overridden, fr.discarded, w.unnamed)
	}
	return w.Counts
}

// row compares the records that hold for the code of r.
func (w *sweep) row(r *frameRow) {
	exp := slices.ContainsFunc(r.rules, isExp) || isExp(r.cfa)
	if exp {
		w.withExp++
	}

	for pos := r.Lo; pos < r.Hi; {
		// Apply the records up to pos.
		for w.next < len(w.s.CFI) && w.s.CFI[w.next].Lo <= pos {
			w.rules.Apply(&w.s.CFI[w.next])
			w.next++
		}
		end := r.Hi
		if w.next < len(w.s.CFI) {
			end = min(end, w.s.CFI[w.next].Lo)
		}

		// A record may be missing only where the CFA or the return address is an expression.
		if w.next == 0 || w.s.CFI[w.next-1].Hi <= pos {
			if !isExp(r.cfa) && !isExp(ruleOf(r, "ra")) {
				w.lost.Add("%#x–%#x: CFA %s %v %v", pos, end, r.cfa, r.columns, r.rules)
			}
		} else {
			end = min(end, w.s.CFI[w.next-1].Hi)
			w.covered += end - pos
			w.compare(pos, r)
		}
		pos = end
	}
}

// isExp reports whether a rule is an expression: readelf does not print the operations.
func isExp(rule string) bool { return rule == "exp" || rule == "vexp" }

// ruleOf returns the rule in a column of a row, or "u" if the row lacks the column.
func ruleOf(r *frameRow, column string) string {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.rules[i]
	}
	return "u"
}

// compare compares the rules in force at pc with those of r.
func (w *sweep) compare(pc uint64, r *frameRow) {
	known := map[string]bool{".cfa": true}
	if got := w.ourCFA(); !isExp(r.cfa) && got != w.registerIn(r.cfa) {
		w.wrong.Add("%#x: CFA %s, want %s", pc, got, r.cfa)
	}

	for i, column := range r.columns {
		reg := ".ra"
		if column != "ra" {
			reg = w.ourName(column)
			if reg == "" {
				w.unnamed++
				continue
			}
		}
		known[reg] = true
		if want := w.registerIn(r.rules[i]); !isExp(want) && !w.equal(reg, want) {
			w.wrong.Add("%#x: %s: %s, want %s", pc, reg, w.rules[reg], want)
		}
	}

	// A register without a column in readelf's output must have no rule of its own.
	for reg, rule := range w.rules {
		if !known[reg] && !w.equal(reg, "u") {
			w.wrong.Add("%#x: %s: %s, want no rule", pc, reg, rule)
		}
	}
}

// equal reports whether our rule for reg means the same as readelf's. readelf's rule is "u"
// for an undefined register and for a register without a rule.
func (w *sweep) equal(reg, want string) bool {
	got := w.ourRule(reg)
	if got == want {
		return true
	}
	if want != "u" {
		return false
	}

	// Without a rule the ABI's default holds, which our rule may state.
	a := w.arch
	switch {
	case reg == ".ra":
		// A link register without a rule still holds the return address.
		return a.LinkRegister && got == a.RegName(a.RA)
	case reg == a.RegName(a.SP) && a.SPOffset != 0:
		// The ABI's rule for the stack pointer, where that is not the CFA.
		return got == fmt.Sprintf("v%+d", a.SPOffset)
	}
	return got == "s" // restored
}
