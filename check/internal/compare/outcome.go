package compare

import (
	"cmp"
	"slices"
	"sort"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/pcs"
	"symkit/check/report"
)

// difference is a range of addresses of the ELF file, [lo, hi), for which the symbol file and the
// ELF file differ.
type difference struct {
	lo, hi  uint64
	at      uint32 // line of the symbol file, 0 for a missing record
	want    place  // what the ELF file has
	hasWant bool   // the ELF file has something there
}

// place is a source line; of an inlined call, also the name of the inlined function and the depth.
type place struct{ file, line, name, depth uint32 }

// missing reports whether the symbol file has no record for the range.
func (d *difference) missing() bool { return d.at == 0 }

// outcome is the outcome of comparing one FUNC with one description of its code. Several units
// can describe the same code; the best outcome counts.
type outcome struct {
	compared uint64 // PCs
	wrong    uint64 // those of compared that differ
	missing  uint64 // those of wrong for which the symbol file has no record
	unread   uint64 // those of compared with a call whose name is not known
	unsure   uint64 // those of unread with a call whose name is known, but no code here reads
	from     uint64 // offset of the description
	// empty states that neither the FUNC nor the description has a line: the unit of a discarded copy describes the code of
	// the one that was kept. What any other description has is missing then.
	empty bool
	diffs *differences
}

// differences are those of one FUNC.
type differences struct {
	list []difference
	more uint64 // differences that are not in list
}

// right reports whether no other description can be better.
func (o *outcome) right() bool { return o.wrong == 0 && o.unread == 0 && !o.empty }

// add counts d in o, and keeps it if o has fewer than most.
func (o *outcome) add(d difference, most int) {
	o.wrong += d.hi - d.lo
	if d.missing() {
		o.missing += d.hi - d.lo
	}
	if o.diffs == nil {
		o.diffs = &differences{}
	}
	if len(o.diffs.list) < most {
		o.diffs.list = append(o.diffs.list, d)
	} else {
		o.diffs.more++
	}
}

// mostDiffs returns how many differences are kept of each FUNC of a file with funcs of them. All
// differences are counted.
func mostDiffs(funcs int) int { return min(max(1<<19/max(funcs, 1), 1), 1<<12) }

// outcomes has the best outcome of each FUNC that was compared.
type outcomes struct {
	list   []funcOutcome // by FUNC, until more are added
	sorted int           // how many were in list when it was sorted last
}

// funcOutcome is an outcome of FUNC i.
type funcOutcome struct {
	i int
	outcome
}

// order orders the outcomes of a FUNC, the one that counts first: one that is not empty before one that is, then the one
// with fewer wrong PCs, then with fewer PCs with unknown names. Of equal outcomes the one of the description that comes
// first in the file counts, so that the order of the goroutines has no effect.
func (o *funcOutcome) order(n *funcOutcome) int {
	return cmp.Or(cmp.Compare(o.i, n.i), compareBool(o.empty, n.empty), cmp.Compare(o.wrong, n.wrong), cmp.Compare(o.unread, n.unread), cmp.Compare(o.from, n.from))
}

// add adds outcomes. Most FUNC records have one outcome, and come in order; others are sorted out once there are as many
// of them again.
func (m *outcomes) add(more ...funcOutcome) {
	m.list = append(m.list, more...)
	if len(m.list) > 2*m.sorted+16 {
		m.sort()
	}
}

// sort sorts the outcomes by FUNC, and keeps the best one of each. It is called before of.
func (m *outcomes) sort() {
	slices.SortFunc(m.list, func(a, b funcOutcome) int { return a.order(&b) })
	m.list = slices.CompactFunc(m.list, func(a, b funcOutcome) bool { return a.i == b.i })
	m.sorted = len(m.list)
}

// of returns the outcome of FUNC i, false if there is none.
func (m *outcomes) of(i int) (outcome, bool) {
	at := sort.Search(len(m.list), func(k int) bool { return m.list[k].i >= i })
	if at == len(m.list) || m.list[at].i != i {
		return outcome{}, false
	}
	return m.list[at].outcome, true
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Units is what the units of the debug information, or the tables of a Go program, say about the
// records of a symbol file.
type Units struct {
	found *collect.Outcome
	// functions are the ranges of all functions, count the number of the functions.
	functions []function
	count     uint32
	// names are the names of units, by the number in function, if Input.Map is set; the first is that
	// of functions without a unit.
	names []string

	lines, calls outcomes
	// others are the outcomes of FUNC records compared with the line tables of units that have code at
	// the FUNC, but no function that begins there.
	others outcomes
	// ends has the FUNC records that end where a sequence of a line table does.
	ends map[int]bool
	// uncovered is the code that has lines and is not all in FUNC records.
	uncovered []pcs.Range
	// holes states that part of the debug information could not be read, so that a FUNC without a
	// function may be right.
	holes bool
	// hidden has the reason why some lines or inlined calls were not compared, by check.
	hidden map[string]string

	source string // the source of the truth, for findings
	// state and note are what the checks of functions state if there is nothing to compare with; state
	// is empty otherwise.
	state report.State
	note  string
	// NoDebugInfo is what report.Report.NoDebugInfo has.
	NoDebugInfo string
}

// function is one range of a function.
type function struct {
	lo, hi uint64
	name   uint32 // number in Truth.Names
	fn     uint32 // number of the function, the same for all its ranges
	unit   uint32 // index of Units.names, if Input.Map is set
}

func newUnits(opt report.Options) *Units {
	return &Units{found: collect.New(opt), source: "DWARF", names: []string{""}, ends: map[int]bool{}, hidden: map[string]string{}}
}

// unreadUnits returns what the checks state if units cannot be read.
func unreadUnits(opt report.Options, err error) *Units {
	u := newUnits(opt)
	u.state, u.note = report.NotVerified, err.Error()
	return u
}

// add adds what other goroutines have found; others may have nil elements. Units number their functions
// from 0.
func (u *Units) add(others ...*Units) {
	total := len(u.functions)
	for _, x := range others {
		if x != nil {
			total += len(x.functions)
		}
	}
	all := make([]function, 0, total)
	all = append(all, u.functions...)
	for i, x := range others {
		if x == nil {
			continue
		}
		u.found.Add(x.found)
		for _, f := range x.functions {
			f.fn += u.count
			if f.unit > 0 {
				f.unit += uint32(len(u.names)) - 1
			}
			all = append(all, f)
		}
		u.count += x.count
		u.names = append(u.names, x.names[1:]...)

		u.lines.add(x.lines.list...)
		u.calls.add(x.calls.list...)
		u.others.add(x.others.list...)
		for k := range x.ends {
			u.ends[k] = true
		}
		u.uncovered = append(u.uncovered, x.uncovered...)
		u.holes = u.holes || x.holes
		for check, why := range x.hidden {
			u.hide(check, why)
		}
		others[i] = nil
	}
	u.functions = all
}

// hole notes that part of the debug information could not be read: functions, lines and inlined calls.
func (u *Units) hole(check string, n uint64, why string) {
	u.holes = true
	u.found.Unread(check, n, why)
	u.hide(checks.Lines, "")
	u.hide(checks.Inlines, why)
}

// hide notes that some lines or inlined calls of the ELF file could not be read or compared: records
// without a counterpart may then be right. Funcs counts these records. Of several reasons the first in
// the order of their texts is kept, so that the order of the goroutines has no effect.
func (u *Units) hide(check, why string) {
	if old := u.hidden[check]; old == "" || why != "" && why < old {
		u.hidden[check] = why
	}
}
