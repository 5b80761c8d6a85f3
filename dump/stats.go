package dump

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"symkit/elfx"
	"symkit/internal/wire"
)

// maxLosses bounds the errors that are kept; the rest is only counted.
const maxLosses = 100

// Stats counts what was read and what was lost. What there is to say of the rules in
// call frame information is there when the module has been written.
type Stats struct {
	Units, Funcs, Lines, Inlines, Publics, FDEs int

	// Folded counts functions at an address that already has one: copies of
	// an inline function in several units, folded identical code.
	Folded int
	// Clipped counts functions that end early because another begins in them.
	Clipped int
	// BelowLoad counts records below the module's load address.
	BelowLoad int
	// OutsideCode counts FDEs of code that is not in the file.
	OutsideCode int
	// Unnamed counts functions without any name.
	Unnamed int
	// Overlapping counts functions in which inlined calls side by side share
	// code.
	Overlapping int
	// SFrame tells how it agrees with DWARF.
	SFrame Agreement
	// Inexpressible counts, by reason, what STACK CFI has no way to say.
	Inexpressible map[string]uint64

	// FuncShare counts bytes of units, LineShare bytes of line programs, CallShare calls,
	// RuleShare FDEs.
	FuncShare, LineShare, CallShare, RuleShare Share

	// LossCount counts damage: each cost a unit, function, table or FDE.
	LossCount int
	// Losses are the first of them.
	Losses []error
	// Warnings are for the user's eyes.
	Warnings []string
	// Alone are those of the Warnings that say what is missing because the file is
	// a debug file whose binary was not given.
	Alone []string
	// Missing counts the warnings about companions that were not found or
	// not read.
	Missing int
}

// loss records damage; nil is none.
func (d *dumper) loss(err error) { d.m.Stats.loss(err) }

func (s *Stats) loss(err error) {
	if err == nil {
		return
	}
	s.LossCount++
	if len(s.Losses) < maxLosses {
		s.Losses = append(s.Losses, err)
	}
}

// addLosses records what another has.
func (s *Stats) addLosses(other *Stats) {
	for _, err := range other.Losses {
		s.loss(err)
	}
	s.LossCount += other.LossCount - len(other.Losses)
}

// dwarfLoss records damage in a section of the file with the DWARF.
func (d *dumper) dwarfLoss(err error) { d.loss(d.inDWARF(err)) }

// inDWARF is an error in a section of the file with the DWARF, with the path of that file.
func (d *dumper) inDWARF(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", d.img.DWARF().Path(), err)
}

// inSection is an error in a section of img, with the path of the file that has it.
func inSection(img *elfx.Image, err error) error {
	path := img.Main.Path()
	if e, ok := errors.AsType[*wire.Error](err); ok {
		if s := img.Section(e.Section); s != nil {
			path = s.File().Path()
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (d *dumper) warn(format string, args ...any) {
	d.m.Stats.Warnings = append(d.m.Stats.Warnings, fmt.Sprintf(format, args...))
}

// warnAlone records a warning about a debug file whose binary was not given.
func (d *dumper) warnAlone(format string, args ...any) {
	d.warn(format, args...)
	s := &d.m.Stats
	s.Alone = append(s.Alone, s.Warnings[len(s.Warnings)-1])
}

// missing records a warning about a companion.
func (d *dumper) missing(format string, args ...any) {
	d.m.Stats.Missing++
	d.warn(format, args...)
}

// Count is a number of something, in words.
type Count struct {
	N    uint64
	What string
}

// Counts lists what is not zero of the special cases.
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
