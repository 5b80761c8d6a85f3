//go:build oracle

package oracle_test

import (
	"debug/elf"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/cfi"
)

// cfiCounts are the figures of one comparison with readelf.
type cfiCounts struct {
	fdes, rows int // compared
	withExp    int // rows with an expression, whose other rules are compared
	unnamed    int // rules for registers that symbol files have no name for
}

func (c cfiCounts) String() string { return fmt.Sprintf("%7d %8d %8d", c.fdes, c.rows, c.withExp) }

// cfiSweep compares STACK CFI records with readelf's rows over all code that
// either describes.
type cfiSweep struct {
	s     *symFile
	arch  *cfi.Arch
	next  int      // the first record not yet applied
	rules symRules // in force after it
	cfiCounts
	lost, wrong *diffs
	covered     uint64 // bytes of code of both
}

// exidxBytes counts the bytes of our records that no row of readelf's describes
// but ARM's exception index table does: from the function of its first entry
// on (EHABI32 §5).
func exidxBytes(t *testing.T, in *input, s *symFile, l *layout, rows []frameRow) (n uint64) {
	t.Helper()
	f, err := elf.Open(in.main)
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
		t.Fatalf("%s: .ARM.exidx: %d bytes, %v", in.name, len(table), err)
	}
	prel31 := int32(f.ByteOrder.Uint32(table)<<1) >> 1
	first := uint64(uint32(int32(sec.Addr)+prel31)) - l.load
	for _, c := range s.cfi {
		lo, hi := max(c.lo, first), c.hi
		for _, r := range rows { // by address
			if begin, end := max(lo, r.lo), min(hi, r.hi); begin < end {
				n -= end - begin
			}
		}
		if lo < hi {
			n += hi - lo
		}
	}
	return n
}

func checkCFI(t *testing.T, in *input, s *symFile, l *layout) cfiCounts {
	t.Helper()
	return checkFrames(t, in, s, l, readFrames(t, in, l))
}

// checkFrames is checkCFI with what readelf printed.
func checkFrames(t *testing.T, in *input, s *symFile, l *layout, fr *frames) cfiCounts {
	t.Helper()
	w := cfiSweep{
		s: s, arch: cfi.ArchByName(s.module.Arch), rules: symRules{},
		lost:  newDiffs(t, "rows of call frame information without a STACK CFI record"),
		wrong: newDiffs(t, "rules that are not readelf's"),
	}
	if w.arch == nil {
		t.Fatalf("no registers known for %s", s.module.Arch)
	}
	w.fdes, w.rows = fr.fdes, fr.printed
	for i := range fr.rows {
		w.row(&fr.rows[i])
	}
	w.lost.report()
	w.wrong.report()
	total := uint64(0)
	for _, c := range s.cfi {
		total += c.hi - c.lo
	}
	if extra := exidxBytes(t, in, s, l, fr.rows); total != w.covered+extra {
		t.Errorf("STACK CFI describes %d bytes of code, of which readelf has %d, and %d more are in .ARM.exidx", total, w.covered, extra)
	}
	if fr.overridden > 0 || fr.discarded > 0 || w.unnamed > 0 {
		t.Logf("%s: %d rows of .debug_frame for code of .eh_frame; %d FDEs of discarded code; %d rules of registers without a name",
			in.name, fr.overridden, fr.discarded, w.unnamed)
	}
	return w.cfiCounts
}

// row compares each record that holds for code of r.
func (w *cfiSweep) row(r *frameRow) {
	exp := slices.ContainsFunc(r.rules, isExp) || isExp(r.cfa)
	if exp {
		w.withExp++
	}
	for pos := r.lo; pos < r.hi; {
		for w.next < len(w.s.cfi) && w.s.cfi[w.next].lo <= pos {
			w.rules.apply(&w.s.cfi[w.next])
			w.next++
		}
		end := r.hi
		if w.next < len(w.s.cfi) {
			end = min(end, w.s.cfi[w.next].lo)
		}
		if w.next == 0 || w.s.cfi[w.next-1].hi <= pos {
			if !isExp(r.cfa) && !isExp(ruleOf(r, "ra")) {
				w.lost.add("%#x–%#x: CFA %s %v %v", pos, end, r.cfa, r.columns, r.rules)
			}
		} else {
			end = min(end, w.s.cfi[w.next-1].hi)
			w.covered += end - pos
			w.compare(pos, r)
		}
		pos = end
	}
}

func isExp(rule string) bool { return rule == "exp" || rule == "vexp" }

func ruleOf(r *frameRow, column string) string {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.rules[i]
	}
	return "u"
}

// compare compares the rules in force at pc with those of r.
func (w *cfiSweep) compare(pc uint64, r *frameRow) {
	known := map[string]bool{".cfa": true}
	if got := w.ourCFA(); !isExp(r.cfa) && got != w.registerIn(r.cfa) {
		w.wrong.add("%#x: CFA %s, want %s", pc, got, r.cfa)
	}
	for i, column := range r.columns {
		reg := ".ra"
		if column != "ra" {
			if reg = w.ourName(column); reg == "" {
				w.unnamed++
				continue
			}
		}
		known[reg] = true
		if want := w.registerIn(r.rules[i]); !isExp(want) && !w.equal(reg, want) {
			w.wrong.add("%#x: %s: %s, want %s", pc, reg, w.rules[reg], want)
		}
	}
	for reg, rule := range w.rules {
		if !known[reg] && !w.equal(reg, "u") {
			w.wrong.add("%#x: %s: %s, want no rule", pc, reg, rule)
		}
	}
}

// equal tells whether the rule for reg means readelf's, which writes "u" for
// an undefined register and for one without a rule.
func (w *cfiSweep) equal(reg, want string) bool {
	got := w.ourRule(reg)
	if got == want {
		return true
	}
	if want != "u" {
		return false
	}
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

var (
	exprSum  = regexp.MustCompile(`^(\S+) (-?\d+) \+$`)
	exprLoad = regexp.MustCompile(`^\.cfa (-?\d+) \+ \^$`)
	exprReg  = regexp.MustCompile(`^[$a-z][a-z0-9.]*$`)
	exprNum  = regexp.MustCompile(`^\d+$`)
)

// ourCFA is the CFA in readelf's notation: "$rsp+8".
func (w *cfiSweep) ourCFA() string {
	if m := exprSum.FindStringSubmatch(w.rules[".cfa"]); m != nil {
		return m[1] + signed(m[2])
	}
	if rule := w.rules[".cfa"]; exprReg.MatchString(rule) {
		return rule + "+0"
	}
	return w.rules[".cfa"]
}

// ourRule is a rule in readelf's notation, a register by our name for it.
func (w *cfiSweep) ourRule(reg string) string {
	rule, ok := w.rules[reg]
	sum, load := exprSum.FindStringSubmatch(rule), exprLoad.FindStringSubmatch(rule)
	switch {
	case !ok || rule == ".undef":
		return "u"
	case reg == ".ra" && exprNum.MatchString(rule):
		if n, _ := strconv.Atoi(rule); n > 0 && n < 4096 {
			return "u" // DESIGN.md, "STACK CFI": undefined
		}
	case rule == reg:
		return "s"
	case load != nil:
		return "c" + signed(load[1])
	case rule == ".cfa ^":
		return "c+0"
	case rule == ".cfa":
		return "v+0"
	case sum != nil && sum[1] == ".cfa":
		return "v" + signed(sum[2])
	}
	return rule
}

func signed(n string) string {
	if n[0] == '-' {
		return n
	}
	return "+" + n
}

var (
	namedSum = regexp.MustCompile(`^([a-z][a-z0-9]*)([+-]\d+)$`)
	numbered = regexp.MustCompile(`^r(\d+)$`)
)

// registerIn puts our name of the register into readelf's CFA ("rsp+8") or
// rule ("r1", by DWARF number).
func (w *cfiSweep) registerIn(rule string) string {
	if m := namedSum.FindStringSubmatch(rule); m != nil && m[1] != "c" && m[1] != "v" {
		return w.ourName(m[1]) + m[2]
	}
	if m := numbered.FindStringSubmatch(rule); m != nil {
		return w.numberedName(m[1])
	}
	return rule
}

// ourName is what symbol files call a register that readelf names in a CFA or
// at the head of a column, "" for one without a name there. readelf has names
// for x86, arm64, s390x and RISC-V, and DWARF numbers for the others. (That
// cfi's names belong to the numbers is for its own tests.)
func (w *cfiSweep) ourName(name string) string {
	switch w.arch.Name {
	case "x86", "x86_64":
		name = "$" + name
	case "riscv", "riscv64":
		if i := slices.Index(riscvFloats, name); i >= 0 {
			name = fmt.Sprintf("f%d", i)
		}
	case "arm64", "s390", "s390x":
	default:
		if m := numbered.FindStringSubmatch(name); m != nil {
			return w.numberedName(m[1])
		}
	}
	if _, ok := w.arch.Reg(name); !ok {
		return ""
	}
	return name
}

func (w *cfiSweep) numberedName(digits string) string {
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return ""
	}
	return w.arch.RegName(cfi.Reg(n))
}

// riscvFloats are the ABI's names of f0 to f31.
var riscvFloats = strings.Fields("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7" +
	" fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11")
