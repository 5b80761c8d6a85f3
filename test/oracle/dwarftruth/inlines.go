//go:build oracle

package dwarftruth

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// call is an inlined call without its code.
type call struct {
	depth, line uint32
	file, name  string
}

func (c call) String() string {
	return fmt.Sprintf("%d: %s called at %s:%d", c.depth, c.name, c.file, c.line)
}

// inlineSweep compares the INLINE records with the DIEs over the code of all FUNC records.
// It goes from one stretch of code, in which neither changes, to the next.
type inlineSweep struct {
	s       *symfile.File
	tr      *truth
	owners  []codeRange   // subprograms that have the code at pos
	calls   []inlinedCall // inlined calls there
	nextFn  int
	nextIn  int
	bytes   uint64 // of code in inlined calls
	wrong   *oracle.Diffs
	scratch []call
}

// checkInlines compares the inlined calls at every byte. Where several DIEs describe the
// code, the INLINE records must be those of one of the DIEs. checkInlines returns its
// figures of the row.
func checkInlines(t *testing.T, s *symfile.File, tr *truth) string {
	t.Helper()
	w := inlineSweep{s: s, tr: tr, wrong: oracle.NewDiffs(t, "ranges of code with other inlined calls")}
	for i := range s.Funcs {
		w.function(&s.Funcs[i])
	}
	w.wrong.Report()
	return fmt.Sprintf("%8d %10d", len(tr.inlines), w.bytes)
}

// function compares the inlined calls in a FUNC record.
func (w *inlineSweep) function(f *symfile.Func) {
	var active []symfile.Inline
	next := 0
	for pos := f.Lo; pos < f.Hi; {
		end := w.advance(pos, f.Hi)

		for ; next < len(f.Inlines) && f.Inlines[next].Lo <= pos; next++ {
			active = append(active, f.Inlines[next])
		}
		active = slices.DeleteFunc(active, func(in symfile.Inline) bool { return in.Hi <= pos })
		// The stretch ends where the next INLINE record begins, or an active one ends.
		if next < len(f.Inlines) {
			end = min(end, f.Inlines[next].Lo)
		}
		for i := range active {
			end = min(end, active[i].Hi)
		}
		w.compare(f, oracle.Span{Lo: pos, Hi: end}, active)
		pos = end
	}
}

// advance makes the subprograms and calls at pos active. It returns where they change, but
// at most end.
func (w *inlineSweep) advance(pos, end uint64) uint64 {
	fns, ins := w.tr.ranges, w.tr.inlines
	for ; w.nextFn < len(fns) && fns[w.nextFn].Lo <= pos; w.nextFn++ {
		w.owners = append(w.owners, fns[w.nextFn])
	}
	for ; w.nextIn < len(ins) && ins[w.nextIn].Lo <= pos; w.nextIn++ {
		w.calls = append(w.calls, ins[w.nextIn])
	}

	// Calls that ended before pos are no longer active.
	w.owners = slices.DeleteFunc(w.owners, func(r codeRange) bool { return r.Hi <= pos })
	w.calls = slices.DeleteFunc(w.calls, func(in inlinedCall) bool { return in.Hi <= pos })
	if w.nextFn < len(fns) {
		end = min(end, fns[w.nextFn].Lo)
	}
	if w.nextIn < len(ins) {
		end = min(end, ins[w.nextIn].Lo)
	}

	// The stretch ends where anything active ends.
	for i := range w.owners {
		end = min(end, w.owners[i].Hi)
	}
	for i := range w.calls {
		end = min(end, w.calls[i].Hi)
	}
	return end
}

// compare compares the active INLINE records with the calls of the DIEs in one stretch of
// code.
func (w *inlineSweep) compare(f *symfile.Func, at oracle.Span, active []symfile.Inline) {
	if len(active) == 0 && len(w.calls) == 0 {
		return
	}

	w.bytes += at.Hi - at.Lo
	ours := w.scratch[:0]
	for _, in := range active {
		ours = append(ours, call{in.Depth, in.Line, w.s.Files[in.File], w.s.Origins[in.Origin]})
	}

	w.scratch = ours
	// Order the records as the calls nest: the outermost call first.
	slices.SortFunc(ours, func(a, b call) int { return cmp.Compare(a.depth, b.depth) })
	for _, owner := range w.owners {
		if w.same(ours, owner.die) {
			return
		}
	}

	// No subprogram has the same calls: report what differs.
	got, want := w.unmatched(ours)
	w.wrong.Add("%#x–%#x in %s: %v, want %v", at.Lo, at.Hi, f.Name, got, want)
}

// same reports whether our calls are the calls of the subprogram at die.
func (w *inlineSweep) same(ours []call, die dwarf.Offset) bool {
	n := 0
	for i := range w.calls {
		want := &w.calls[i]
		if want.owner != die {
			continue
		}
		n++
		if !slices.ContainsFunc(ours, func(c call) bool { return w.equal(c, want) }) {
			return false
		}
	}

	return n == len(ours)
}

// equal reports whether one of our calls is the call of a DIE.
func (w *inlineSweep) equal(c call, want *inlinedCall) bool {
	// A record needs a file: a call without one (DWARF 2) has another in its place.
	file := w.tr.files[want.file]
	return c.depth == want.depth && c.line == want.line && (c.file == file || file == unknownFile) && isNamed(c.name, want.name)
}

// isNamed reports whether our name is a name of the function with the DW_AT_name plain. Our
// name may be a demangled linkage name with scopes and parameters. Template arguments and
// operators are spelled differently in DW_AT_name, gcc has descriptions there
// ("<constructor>" of a class without a name, "<lambda()>"), and a function declared with an
// assembler label may have the label, mangled, as its DW_AT_name.
func isNamed(ours, plain string) bool {
	if text := demangle.Filter(plain); text != plain {
		return ours == text
	}
	// Compare the texts before template arguments.
	if strings.HasPrefix(plain, "operator") {
		plain = "operator"
	} else {
		plain, _, _ = strings.Cut(plain, "<")
	}
	return ours != "<name omitted>" && strings.Contains(ours, plain)
}

// unmatched returns our calls that no subprogram has, and the calls of all
// subprograms that we do not have.
func (w *inlineSweep) unmatched(ours []call) (got, want []string) {
	for _, c := range ours {
		if !slices.ContainsFunc(w.calls, func(in inlinedCall) bool { return w.equal(c, &in) }) {
			got = append(got, c.String())
		}
	}

	for i := range w.calls {
		in := &w.calls[i]
		if !slices.ContainsFunc(ours, func(c call) bool { return w.equal(c, in) }) {
			c := call{in.depth, in.line, w.tr.files[in.file], in.name}
			want = append(want, fmt.Sprintf("%v (in DIE %#x)", c, in.owner))
		}
	}
	return got, want
}
