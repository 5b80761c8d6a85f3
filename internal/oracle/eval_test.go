//go:build oracle

package oracle_test

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"testing"

	"symkit/cfi"
	"symkit/dump"
)

// evalSeeds is the number of register files and memories that each rule is
// evaluated with.
const evalSeeds = 4

// evalCounts are the figures of one file.
type evalCounts struct {
	arch        string
	fdes, rows  int             // of code that is in the file
	expressions int             // rules in these rows that are one
	pcs         uint64          // at which our rules give gimli's values
	values      uint64          // evaluated and compared
	unnamed     map[cfi.Reg]int // rules for registers that symbol files have no name for
	discarded   int             // FDEs of code that is not in the file
	wrong       int
	lost        int // rows without a record
	reasons     map[string]uint64
}

const evalHead = "file                                 arch      FDEs     rows   expr        PCs      values wrong  lost"

func (c *evalCounts) String() string {
	s := fmt.Sprintf("%-7s %6d %8d %6d %10d %11d %5d %5d", c.arch, c.fdes, c.rows, c.expressions, c.pcs, c.values, c.wrong, c.lost)
	for _, reason := range slices.Sorted(maps.Keys(c.reasons)) {
		s += fmt.Sprintf("; %d %s", c.reasons[reason], reason)
	}
	for _, reg := range slices.Sorted(maps.Keys(c.unnamed)) {
		s += fmt.Sprintf(", r%d in %d rows", reg, c.unnamed[reg])
	}
	return s
}

// evalSweep evaluates the STACK CFI records of a file, and compares with what
// gimli makes of the tables they come from.
type evalSweep struct {
	evalCounts
	t     *testing.T
	l     *layout
	s     *symFile
	arch  *cfi.Arch
	state randomState

	parsed map[string]*postfix // of every rule met
	next   int                 // the first record not yet applied
	text   symRules            // in force after it
	cfa    *postfix
	ra     *postfix
	regs   map[cfi.Reg]*postfix
	reads  bool // one of them reads the PC

	fde     gimliFDE
	from    uint64 // of the FDE's code, what no earlier one describes
	seen    []span // code described by the sections read before
	covered []span // and by this one
	total   uint64 // bytes of code with record and row

	wrongs, losses *diffs
	// anyRule: the rules are of any kind. What cannot be said is not wrong then
	// if nothing is said, and rules may fail.
	anyRule bool
	refused int // values that are not said
}

// checkValues compares all rules of a sound file.
func checkValues(t *testing.T, in *input) *evalCounts {
	t.Helper()
	w := sweepValues(t, in, false)
	w.losses.report()
	for reason, n := range w.reasons {
		if reason != cfi.UnnamedRegister.String() {
			t.Errorf("%d %s", n, reason)
		}
	}
	return &w.evalCounts
}

func sweepValues(t *testing.T, in *input, anyRule bool) *evalSweep {
	t.Helper()
	l := readLayout(t, in.main)
	s, reasons := dumpSym(t, in)
	w := &evalSweep{
		t: t, l: &l, s: s, anyRule: anyRule, arch: cfi.ArchByName(s.module.Arch), parsed: map[string]*postfix{},
		wrongs: newDiffs(t, "values that are not gimli's"),
		losses: newDiffs(t, "rows of call frame information without a STACK CFI record"),
	}
	if w.arch == nil {
		t.Fatalf("no registers known for %s", s.module.Arch)
	}
	w.evalCounts = evalCounts{arch: s.module.Arch, reasons: reasons, unnamed: map[cfi.Reg]int{}}
	for _, section := range []string{".eh_frame", ".debug_frame"} {
		if w.state = (randomState{arch: w.arch}); hasSection(t, in.main, section, &w.state.big) {
			w.section(in.main, section)
		}
	}
	w.wrongs.report()
	w.wrong, w.lost = w.wrongs.n, w.losses.n
	described := uint64(0)
	for _, c := range s.cfi {
		described += c.hi - c.lo
	}
	// ARM's exception index speaks for code that the tables leave out.
	exidx := hasSection(t, in.main, ".ARM.exidx", &w.state.big)
	if described < w.total || described > w.total && !exidx {
		t.Errorf("STACK CFI describes %d bytes of code, of which the tables have %d", described, w.total)
	}
	return w
}

// dumpSym dumps a file and reads the records; reasons counts what they leave
// out.
func dumpSym(t *testing.T, in *input) (s *symFile, reasons map[string]uint64) {
	t.Helper()
	img := openImage(t, in)
	defer img.Close()
	text, stats := dumpImage(t, img, dump.Options{ID: "0"})
	return parseSym(t, text), stats.Inexpressible
}

// hasSection tells whether a file has the bytes of a section, and its byte order.
func hasSection(t *testing.T, path, name string, big *bool) bool {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	*big = f.Data == elf.ELFDATA2MSB
	s := f.Section(name)
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

// section compares what one section says of code that none before it describes.
func (w *evalSweep) section(path, name string) {
	w.next, w.text = 0, symRules{}
	w.from = 0
	w.fde = gimliFDE{}
	g := gimliReader{t: w.t, fde: w.enter, row: w.row}
	g.read(path, name, evalSeeds)
	w.seen, w.covered = merge(w.seen, w.covered), nil
}

// merge gives the sorted union of disjoint spans.
func merge(a, b []span) []span {
	out := slices.Concat(a, b)
	slices.SortFunc(out, func(a, b span) int { return int(int64(a.lo - b.lo)) })
	return out
}

// enter begins an FDE. Of two that describe a PC, the first holds.
func (w *evalSweep) enter(f *gimliFDE) {
	w.from = max(w.from, w.fde.hi)
	w.fde = *f
	switch {
	case f.lo >= f.hi:
		w.fde.hi = 0
	case !w.l.live(f.lo) || f.lo < w.l.load:
		w.discarded++
		w.fde.lo, w.fde.hi = 0, 0
	default:
		w.fdes++
	}
}

// row compares each record that holds for code of r.
func (w *evalSweep) row(r *gimliRow) {
	if w.fde.hi == 0 {
		return
	}
	w.rows++
	w.expressions += len(r.expressions)
	for _, v := range r.vals[0].regs {
		if w.arch.RegName(v.reg) == "" {
			w.unnamed[v.reg]++
		}
	}
	for _, piece := range without(span{max(r.lo, w.from), r.hi}, w.seen) {
		w.piece(r, piece)
		w.covered = append(w.covered, piece)
	}
}

// without cuts out of s what others have, which are sorted.
func without(s span, others []span) (out []span) {
	i, _ := slices.BinarySearchFunc(others, s.lo, func(o span, a uint64) int {
		if o.hi <= a {
			return -1
		}
		return 1
	})
	for ; i < len(others) && others[i].lo < s.hi; i++ {
		if others[i].lo > s.lo {
			out = append(out, span{s.lo, others[i].lo})
		}
		s.lo = others[i].hi
	}
	if s.lo < s.hi {
		out = append(out, s)
	}
	return out
}

// piece compares part of a row.
func (w *evalSweep) piece(r *gimliRow, s span) {
	records := w.s.cfi
	for pos := s.lo - w.l.load; pos < s.hi-w.l.load; {
		for w.next < len(records) && records[w.next].lo <= pos {
			w.apply(&records[w.next])
		}
		end := s.hi - w.l.load
		if w.next < len(records) {
			end = min(end, records[w.next].lo)
		}
		if w.next == 0 || records[w.next-1].hi <= pos {
			w.losses.add("%#x–%#x, FDE %#x at offset %#x: expressions %v", pos+w.l.load, end+w.l.load, w.fde.lo, w.fde.offset, r.expressions)
		} else {
			end = min(end, records[w.next-1].hi)
			w.compare(r, span{pos + w.l.load, end + w.l.load})
			w.total += end - pos
		}
		pos = end
	}
}

// apply puts a record in force.
func (w *evalSweep) apply(c *symCFI) {
	w.next++
	w.text.apply(c)
	w.regs, w.reads = map[cfi.Reg]*postfix{}, false
	w.cfa, w.ra = &postfix{bad: true}, &postfix{bad: true}
	for name, rule := range w.text {
		p := w.parsed[rule]
		if p == nil {
			p = parsePostfix(w.arch, rule)
			w.parsed[rule] = p
		}
		w.reads = w.reads || p.reads
		switch reg, ok := w.arch.Reg(name); {
		case name == ".cfa":
			w.cfa = p
		case name == ".ra":
			w.ra = p
		case ok:
			w.regs[reg] = p
		default:
			w.wrongs.add("%#x: rule for %q, which is no register", c.lo, name)
		}
	}
}

// compare evaluates the rules in force for s, which is part of r: once where
// neither side reads the PC, else at every PC.
func (w *evalSweep) compare(r *gimliRow, s span) {
	perPC := len(r.vals) != evalSeeds
	w.pcs += s.hi - s.lo
	for pc := s.lo; pc < s.hi; pc++ {
		vals := r.vals[:evalSeeds]
		if perPC {
			vals = r.vals[(pc-r.lo)*evalSeeds:][:evalSeeds]
		}
		for i := range vals {
			w.seed(&vals[i], pc)
		}
		if !perPC && !w.reads {
			return
		}
	}
}

// seed compares the values at pc.
func (w *evalSweep) seed(v *gimliVals, pc uint64) {
	w.state.seed, w.state.pc, w.state.wide = v.seed, pc, false
	w.all(v)
	if w.arch.WordSize == 4 {
		w.state.wide = true
		w.all(v)
	}
}

func (w *evalSweep) all(v *gimliVals) {
	s := &w.state
	cfa, ok := w.cfa.eval(s, nil)
	w.same(v, ".cfa", cfa, ok, gimliVal{value: v.cfa, failed: v.failed})
	if v.failed {
		return
	}
	ra := gimliVal{reg: w.fde.ra, value: s.register(w.fde.ra)} // no rule: still in the link register
	known := 0
	for _, want := range v.regs {
		if want.reg == w.fde.ra {
			ra = want
			continue
		}
		name := w.arch.RegName(want.reg)
		p := w.regs[want.reg]
		switch {
		case name == "":
			continue // counted in row
		case p == nil:
			w.wrongs.add("%#x: no rule for %s, FDE at offset %#x", v.pc, name, w.fde.offset)
			continue
		}
		known++
		got, ok := p.eval(s, &cfa)
		w.same(v, name, got, ok, want)
	}
	got, ok := w.ra.eval(s, &cfa)
	if ra.undefined {
		ra = gimliVal{value: uint64(w.arch.End)}
		ok = ok && len(w.ra.tokens) == 1 && w.ra.tokens[0].op == tokenNumber
	}
	w.same(v, ".ra", got, ok, ra)
	if w.arch.SPOffset != 0 && w.regs[w.arch.SP] == nil {
		w.wrongs.add("%#x: no rule for the stack pointer, which is not the CFA", v.pc)
	}
	if known < len(w.regs) {
		w.others(v, cfa)
	}
}

// others looks at registers that the row has no rule for: ours can only say
// that they are unchanged, or that the stack pointer is what the ABI says.
func (w *evalSweep) others(v *gimliVals, cfa uint64) {
	for reg, p := range w.regs {
		if slices.ContainsFunc(v.regs, func(r gimliVal) bool { return r.reg == reg }) {
			if reg == w.fde.ra {
				w.wrongs.add("%#x: the return address has the rule of a register", v.pc)
			}
			continue
		}
		want := w.state.register(reg)
		if reg == w.arch.SP {
			want = w.state.fold(cfa + uint64(w.arch.SPOffset))
		}
		got, ok := p.eval(&w.state, &cfa)
		w.same(v, w.arch.RegName(reg), got, ok, gimliVal{value: want})
	}
}

// same compares one value.
func (w *evalSweep) same(v *gimliVals, name string, got uint64, ok bool, want gimliVal) {
	w.values++
	switch {
	case want.failed && !w.anyRule:
		w.wrongs.add("%#x: %s: its expression fails in gimli", w.state.pc, name)
	case !ok && want.failed || !ok && want.undefined || ok && !want.failed && !want.undefined && got == want.value:
	case !ok && w.anyRule && w.text[name] == ".undef":
		w.refused++
	default:
		w.wrongs.add("%#x seed %d: %s: %s gives %#x (%v), want %+v; FDE %#x at offset %#x",
			w.state.pc, v.seed, name, w.text[name], got, ok, want, w.fde.lo, w.fde.offset)
	}
}
