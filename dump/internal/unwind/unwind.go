// Package unwind makes the STACK CFI records.
//
// It takes the entries that package frames listed and gives the text of their rules. Where
// DWARF and SFrame both describe a PC, the row of DWARF is written, since DWARF has rules
// for all registers, unless STACK CFI cannot express the row.
//
// The text of a module's rules is never in memory as a whole: Records is made when a
// dump ends, and each run of entries is turned into text when it is written. The text
// of a run depends on its entries alone, so runs can be made in any order.
package unwind

import (
	"fmt"

	"symkit/cfi"
	"symkit/dump/internal/frames"
	"symkit/elfx"
)

// Records makes the STACK CFI records of a module, on any number of goroutines.
type Records struct {
	table  *frames.Table
	arch   *cfi.Arch
	big    bool
	load   uint64 // load address, subtracted from addresses that are written
	losses []Losses
	free   chan *merger // mergers that no goroutine uses
}

// runEntries is how many entries are turned into text at once.
const runEntries = 512

// Losses counts the damage and the rules that cannot be expressed in a run of entries.
type Losses struct {
	Agreement Agreement
	// Inexpressible counts rules that STACK CFI cannot express, by cfi.Reason.
	Inexpressible cfi.Stats
	Errs          []error // damage
}

// New returns the records of t, whose sections must stay readable. Addresses are
// written relative to load, the module's load address.
func New(t *frames.Table, arch *cfi.Arch, bigEndian bool, load uint64, jobs int) *Records {
	runs := (len(t.Entries) + runEntries - 1) / runEntries
	return &Records{
		table: t, arch: arch, big: bigEndian, load: load,
		losses: make([]Losses, runs), free: make(chan *merger, max(1, min(jobs, runs))),
	}
}

// Runs is the number of runs that Append takes.
func (r *Records) Runs() int { return len(r.losses) }

// Entries is the number of entries of all runs.
func (r *Records) Entries() int { return len(r.table.Entries) }

// Append appends the records of run i to dst.
func (r *Records) Append(dst []byte, i int) []byte {
	// Making a merger costs more than the text of a small run.
	var m *merger
	select {
	case m = <-r.free:
	default:
		m = newMerger(r.table, r.arch, r.big, r.load)
	}

	from := i * runEntries
	dst, r.losses[i] = m.run(dst, r.table.Entries[from:min(from+runEntries, len(r.table.Entries))])

	select {
	case r.free <- m:
	default:
	}
	return dst
}

// Losses returns the losses of all runs that were appended.
func (r *Records) Losses() []Losses { return r.losses }

// WhyNone returns the reason that none of the sources that opt wants has unwind rules
// for img.
func WhyNone(img *elfx.Image, opt frames.Options) string {
	if !opt.DWARF {
		return "there is no .sframe"
	}
	for _, kind := range []cfi.SectionKind{cfi.EHFrame, cfi.DebugFrame} {
		s := img.Main.Section(kind.String())
		switch {
		case s == nil:
		case !s.Present():
			return fmt.Sprintf("%s is in the binary, of which this is the debug file; give both", kind)
		default:
			return fmt.Sprintf("%s has none", kind)
		}
	}

	// Linux on x86-64 unwinds with ORC unless it was configured otherwise.
	if img.Main.Section(".orc_unwind") != nil {
		return "the kernel was built without .debug_frame, and its .orc_unwind is not read"
	}
	return "there is no .eh_frame, .debug_frame or .sframe"
}
