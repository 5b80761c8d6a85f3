package dump

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"symkit/cfi"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/unwind"
	"symkit/elfx"
	"symkit/located"
)

// Stats counts the parts of the input that were read and lost. The counts of unwind rules,
// SFrame and Inexpressible among them, are complete after Module.Write.
type Stats struct {
	// Units of DWARF and FDEs count parts of the input; the others are records of the module.
	Units, Funcs, Lines, Inlines, Publics, FDEs int

	// Folded counts functions at an address that already has one: copies of
	// an inline function in several units, folded identical code.
	Folded int
	// Clipped counts functions that were cut because another begins in them.
	Clipped int
	// BelowLoad counts records below the module's load address.
	BelowLoad int
	// OutsideCode counts FDEs of code that is not in the file.
	OutsideCode int
	// NoRules is why a module with code has no unwind rules; empty if the module has some, or
	// if options leave them out.
	NoRules string
	// Unnamed counts functions without any name.
	Unnamed int
	// Overlapping counts functions in which inlined calls side by side share
	// code.
	Overlapping int
	// SFrame compares .sframe with DWARF.
	SFrame Agreement
	// Inexpressible counts, by reason, the rules that STACK CFI cannot express.
	Inexpressible map[string]uint64

	// LossCount counts damage: each cost a unit, function, table or FDE.
	LossCount int
	// Losses are the first of them. Most wrap a *located.Error and begin with the path of
	// the file.
	Losses []error
	// Warnings are for the user's eyes.
	Warnings []string
	// Missing counts the warnings about companions that were not found or
	// not read.
	Missing int
	// Alone are the Warnings about data that is missing because the file is a debug
	// file whose binary was not given.
	Alone []string

	// How much was lost: FuncShare counts bytes of units, LineShare bytes of line
	// programs, CallShare calls, RuleShare FDEs.
	FuncShare, LineShare, CallShare, RuleShare Share
}

// Share is how much of one kind of data was lost to damage or a limit. Both numbers are
// estimates, in a unit that is known without reading the lost parts.
type Share struct {
	Lost, All uint64
	First     error // the first loss
}

// largeLoss divides the whole: a loss of more than the quotient is large.
const largeLoss = 10

// LargeLosses returns a text for each of functions, lines, inlined calls and unwind
// rules of which more than a tenth was lost. Lost rules are counted by Module.Write.
func (s *Stats) LargeLosses() (texts []string) {
	for _, kind := range []struct {
		share *Share
		what  string
	}{
		{&s.FuncShare, "functions, with their lines and inlined calls,"}, {&s.LineShare, "lines"},
		{&s.CallShare, "inlined calls"}, {&s.RuleShare, "unwind rules"},
	} {
		x := kind.share

		// A limit can cost more than the estimate of all there was.
		if x.First != nil && x.Lost*largeLoss > x.All {
			percent := 100 * float64(x.Lost) / float64(max(x.All, x.Lost))
			texts = append(texts, fmt.Sprintf("about %.0f %% of the %s are lost: %v", percent, kind.what, x.First))
		}
	}
	return texts
}

// add adds the report of a stage.
func (s *Stats) add(l losses.List) {
	all := losses.List{Count: s.LossCount, Errs: s.Losses}
	all.Append(l)
	s.LossCount, s.Losses = all.Count, all.Errs
	s.Warnings = append(s.Warnings, l.Warnings...)
	s.Missing += l.Missing
	s.Alone = append(s.Alone, l.Alone...)
}

// addUnwind adds the losses of runs, which were met when the rules of img were written.
func (s *Stats) addUnwind(runs []unwind.Losses, img *elfx.Image) {
	s.Inexpressible = map[string]uint64{}
	var lost losses.List
	for i := range runs {
		l := &runs[i]
		for _, err := range l.Errs {
			err = fmt.Errorf("%s: %w", pathOf(img, err), err)
			lost.Add(err)
			rules := losses.Share(s.RuleShare)
			rules.Add(1, err)
			s.RuleShare = Share(rules)
		}

		for reason, count := range l.Inexpressible {
			if count > 0 {
				s.Inexpressible[cfi.Reason(reason).String()] += count
			}
		}
		s.SFrame.add(Agreement(l.Agreement))
	}
	s.add(lost)
}

// pathOf returns the path of the file that has the section of err.
func pathOf(img *elfx.Image, err error) string {
	e, ok := errors.AsType[*located.Error](err)
	if ok {
		s := img.Section(e.Section)
		if s != nil {
			return s.File().Path()
		}
	}
	return img.Main.Path()
}

// Agreement counts, in bytes of code, how DWARF and SFrame describe it.
type Agreement struct {
	DWARFOnly, SFrameOnly uint64
	Both, Agree           uint64 // described by both; with the same rules
	// What differs where both describe the code. The first difference counts.
	CFA, RA, FP, Signed uint64
	// Replaced counts where DWARF's rule cannot be expressed and SFrame's is
	// written.
	Replaced uint64
}

func (a *Agreement) add(b Agreement) {
	a.DWARFOnly += b.DWARFOnly
	a.SFrameOnly += b.SFrameOnly
	a.Both += b.Both
	a.Agree += b.Agree
	a.CFA += b.CFA
	a.RA += b.RA
	a.FP += b.FP
	a.Signed += b.Signed
	a.Replaced += b.Replaced
}

// Count is a number of something, in words.
type Count struct {
	N    uint64
	What string
}

// Counts returns the counts of special cases that are not zero.
func (s *Stats) Counts() (counts []Count) {
	all := []Count{
		{uint64(s.Folded), "functions at an address that has one already"},
		{uint64(s.Clipped), "functions cut where another one begins"},
		{uint64(s.BelowLoad), "records below the load address"},
		{uint64(s.OutsideCode), "unwind table entries of code that is not in the file"},
		{uint64(s.Unnamed), "functions without a name"},
		{uint64(s.Overlapping), "functions in which inlined calls overlap: the first has the code"},
	}

	if a := s.SFrame; a.Both+a.SFrameOnly > 0 {
		all = append(all,
			Count{a.Both, "bytes of code described by DWARF and SFrame"},
			Count{a.Agree, "bytes where they agree"},
			Count{a.DWARFOnly, "bytes described by DWARF alone"},
			Count{a.SFrameOnly, "bytes described by SFrame alone"},
			Count{a.CFA, "bytes where their CFAs differ"},
			Count{a.RA, "bytes where their return addresses differ"},
			Count{a.FP, "bytes where their frame pointers differ"},
			Count{a.Signed, "bytes where their return address signing differs"},
			Count{a.Replaced, "bytes where SFrame's rule is written, DWARF's being inexpressible"})
	}
	for _, reason := range slices.Sorted(maps.Keys(s.Inexpressible)) {
		all = append(all, Count{s.Inexpressible[reason], reason})
	}

	for _, c := range all {
		if c.N > 0 {
			counts = append(counts, c)
		}
	}
	return counts
}
