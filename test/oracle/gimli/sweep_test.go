//go:build oracle

package gimli

import (
	"debug/elf"
	"fmt"
	"maps"
	"slices"
	"testing"

	"symkit/cfi"
	"symkit/dump"
	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// seeds is the number of register files and memories that each rule is
// evaluated with.
const seeds = 4

// counts are the figures of one file.
type counts struct {
	arch        string
	fdes, rows  int             // of code that is in the file
	expressions int             // rules in these rows that are expressions
	pcs         uint64          // at which our rules give gimli's values
	values      uint64          // evaluated and compared
	unnamed     map[cfi.Reg]int // rules for registers that symbol files have no name for
	discarded   int             // FDEs of code that is not in the file
	wrong       int
	lost        int // rows without a record
	reasons     map[string]uint64
}

const tableHead = "file                                 arch      FDEs     rows   expr        PCs      values wrong  lost"

func (c *counts) String() string {
	s := fmt.Sprintf("%-7s %6d %8d %6d %10d %11d %5d %5d", c.arch, c.fdes, c.rows, c.expressions, c.pcs, c.values, c.wrong, c.lost)
	for _, reason := range slices.Sorted(maps.Keys(c.reasons)) {
		s += fmt.Sprintf("; %d %s", c.reasons[reason], reason)
	}
	for _, reg := range slices.Sorted(maps.Keys(c.unnamed)) {
		s += fmt.Sprintf(", r%d in %d rows", reg, c.unnamed[reg])
	}
	return s
}

// sweep evaluates the STACK CFI records of a file, and compares the values with those
// that gimli computes of the tables that the records come from.
type sweep struct {
	counts
	t     *testing.T
	l     *oracle.Layout
	s     *symfile.File
	arch  *cfi.Arch
	state randomState

	parsed map[string]*postfix // by rule
	next   int                 // the first record not yet applied
	text   symfile.Rules       // in force after it
	cfa    *postfix
	ra     *postfix
	regs   map[cfi.Reg]*postfix
	reads  bool // one of them reads the PC

	fde     fdeRange
	from    uint64        // of the FDE's code, what no earlier one describes
	seen    []oracle.Span // code described by the sections read before
	covered []oracle.Span // and by this one
	total   uint64        // bytes of code with record and row

	wrongs, losses *oracle.Diffs
	// anyRule means rules of any kind, also those that STACK CFI cannot express, for
	// which there must be no rule, and those that fail.
	anyRule bool
	refused int // values without a rule
}

// compareValues compares all rules of a sound file.
func compareValues(t *testing.T, in *oracle.Input) *counts {
	t.Helper()
	w := sweepValues(t, in, false)
	w.losses.Report()
	for reason, n := range w.reasons {
		if reason != cfi.UnnamedRegister.String() {
			t.Errorf("%d %s", n, reason)
		}
	}
	return &w.counts
}

func sweepValues(t *testing.T, in *oracle.Input, anyRule bool) *sweep {
	t.Helper()
	l := oracle.ReadLayout(t, in.Main)
	s, reasons := dumpSym(t, in)
	w := &sweep{
		t: t, l: &l, s: s, anyRule: anyRule, arch: cfi.ArchByName(s.Module.Arch), parsed: map[string]*postfix{},
		wrongs: oracle.NewDiffs(t, "values that are not gimli's"),
		losses: oracle.NewDiffs(t, "rows of call frame information without a STACK CFI record"),
	}
	if w.arch == nil {
		t.Fatalf("no registers known for %s", s.Module.Arch)
	}

	w.counts = counts{arch: s.Module.Arch, reasons: reasons, unnamed: map[cfi.Reg]int{}}
	for _, section := range []string{".eh_frame", ".debug_frame"} {
		w.state = randomState{arch: w.arch}
		if hasSection(t, in.Main, section, &w.state.big) {
			w.section(in.Main, section)
		}
	}
	w.wrongs.Report()
	w.wrong, w.lost = w.wrongs.N, w.losses.N
	described := uint64(0)
	for _, c := range s.CFI {
		described += c.Hi - c.Lo
	}

	// ARM's exception index table describes code that the tables leave out.
	exidx := hasSection(t, in.Main, ".ARM.exidx", &w.state.big)
	if described < w.total || described > w.total && !exidx {
		t.Errorf("STACK CFI describes %d bytes of code, of which the tables have %d", described, w.total)
	}
	return w
}

// dumpSym dumps a file and reads the records; reasons counts rules that STACK CFI
// cannot express.
func dumpSym(t *testing.T, in *oracle.Input) (s *symfile.File, reasons map[string]uint64) {
	t.Helper()
	img := oracle.OpenImage(t, in)
	defer img.Close()
	text, stats := oracle.DumpImage(t, img, dump.Options{ID: "0"})
	return symfile.Parse(t, text), stats.Inexpressible
}

// hasSection reports whether a file has the bytes of a section, and sets big to
// whether it is big-endian.
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

// section compares the rows of one section for code that no section before it
// describes.
func (w *sweep) section(path, name string) {
	w.next, w.text = 0, symfile.Rules{}
	w.from = 0
	w.fde = fdeRange{}
	g := reader{t: w.t, fde: w.enter, row: w.row}
	g.read(path, name, seeds)
	w.seen, w.covered = merge(w.seen, w.covered), nil
}

// merge gives the sorted union of disjoint spans.
func merge(a, b []oracle.Span) []oracle.Span {
	out := slices.Concat(a, b)
	slices.SortFunc(out, func(a, b oracle.Span) int { return int(int64(a.Lo - b.Lo)) })
	return out
}

// enter begins an FDE. Of two that describe a PC, the first holds.
func (w *sweep) enter(f *fdeRange) {
	w.from = max(w.from, w.fde.Hi)
	w.fde = *f
	switch {
	case f.Lo >= f.Hi:
		w.fde.Hi = 0
	case !w.l.Live(f.Lo) || f.Lo < w.l.Load:
		w.discarded++
		w.fde.Lo, w.fde.Hi = 0, 0
	default:
		w.fdes++
	}
}

// row compares each record that holds for code of r.
func (w *sweep) row(r *rowValues) {
	if w.fde.Hi == 0 {
		return
	}

	w.rows++
	w.expressions += len(r.expressions)
	for _, v := range r.vals[0].regs {
		if w.arch.RegName(v.reg) == "" {
			w.unnamed[v.reg]++
		}
	}

	for _, part := range without(oracle.Span{Lo: max(r.Lo, w.from), Hi: r.Hi}, w.seen) {
		w.part(r, part)
		w.covered = append(w.covered, part)
	}
}

// without returns the parts of s that are in none of others, which are sorted.
func without(s oracle.Span, others []oracle.Span) (out []oracle.Span) {
	i, _ := slices.BinarySearchFunc(others, s.Lo, func(o oracle.Span, a uint64) int {
		if o.Hi <= a {
			return -1
		}
		return 1
	})
	for ; i < len(others) && others[i].Lo < s.Hi; i++ {
		if others[i].Lo > s.Lo {
			out = append(out, oracle.Span{Lo: s.Lo, Hi: others[i].Lo})
		}
		s.Lo = others[i].Hi
	}

	if s.Lo < s.Hi {
		out = append(out, s)
	}
	return out
}

// part compares part of a row.
func (w *sweep) part(r *rowValues, s oracle.Span) {
	records := w.s.CFI
	for pos := s.Lo - w.l.Load; pos < s.Hi-w.l.Load; {
		for w.next < len(records) && records[w.next].Lo <= pos {
			w.apply(&records[w.next])
		}
		end := s.Hi - w.l.Load
		if w.next < len(records) {
			end = min(end, records[w.next].Lo)
		}
		if w.next == 0 || records[w.next-1].Hi <= pos {
			w.losses.Add("%#x–%#x, FDE %#x at offset %#x: expressions %v", pos+w.l.Load, end+w.l.Load, w.fde.Lo, w.fde.offset, r.expressions)
		} else {
			end = min(end, records[w.next-1].Hi)
			w.compare(r, oracle.Span{Lo: pos + w.l.Load, Hi: end + w.l.Load})
			w.total += end - pos
		}
		pos = end
	}
}

// apply applies the rules of a record.
func (w *sweep) apply(c *symfile.CFI) {
	w.next++
	w.text.Apply(c)
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
			w.wrongs.Add("%#x: rule for %q, which is no register", c.Lo, name)
		}
	}
}
