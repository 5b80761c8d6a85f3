package truth

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"symkit/check/internal/truth/dwarfinfo"
	"symkit/internal/limitof"
)

// Unit is a unit of the debug information: its functions with their ranges, names, lines and inlined
// calls.
type Unit struct {
	*dwarfinfo.Scan
	Name  string           // if named units were asked for
	Lines *dwarfinfo.Lines // nil if they cannot be read
	// First states that the unit is the first one with these lines.
	First bool
	// At is the offset of the unit in .debug_info, for messages about the progress.
	At int
	// Damage has an error for each function, or rest of the unit, that cannot be read; NoLines is the
	// error if the unit's lines cannot.
	Damage  []error
	NoLines error
}

// UnitOptions select what is read of units.
type UnitOptions struct {
	Jobs  int
	Calls bool // the names of inlined calls
	Names bool // the names of units
}

// Units calls work for each i in [0, Jobs), all at the same time. Each unit is in one of the sequences,
// where it is valid until the next one. After damage in the header of a unit there are no further units;
// damage is that error. The error unreadable states that no unit counts, because the debug information
// cannot be read, or has more than the limits allow.
func (t *Truth) Units(ctx context.Context, opt UnitOptions, work func(i int, units iter.Seq[*Unit]) error) (damage, unreadable, err error) {
	damage, unreadable, err = t.info.Units(ctx, opt.Jobs, func(i int, units iter.Seq[*dwarfinfo.Unit]) error {
		r := unitReader{Truth: t, ctx: ctx, opt: opt, namer: dwarfinfo.NewNamer(t.Names)}
		return work(i, func(yield func(*Unit) bool) {
			for u := range units {
				if ctx.Err() != nil || t.Exceeded() == nil && !r.read(u, yield) {
					return
				}
			}
		})
	})

	// Damage of a header costs the units after it, or all of them.
	unreadable = cmp.Or(unreadable, t.Exceeded())
	if unreadable == nil && t.info.Len() == 0 {
		unreadable = damage
	}
	return damage, unreadable, err
}

// unitReader is the state of one goroutine of Units.
type unitReader struct {
	*Truth
	ctx   context.Context
	opt   UnitOptions
	namer *dwarfinfo.Namer
	scan  dwarfinfo.Scan
}

// read reads a unit, or the split unit of a skeleton, and passes it to yield.
func (r *unitReader) read(u *dwarfinfo.Unit, yield func(*Unit) bool) (more bool) {
	out := Unit{Scan: &dwarfinfo.Scan{}, At: u.Off}
	if u.Split {
		split, release, err := u.Open(r.ctx, r.Truth.opt.Companions)
		if err != nil {
			out.Damage = []error{err}
			return yield(&out)
		}
		defer release()
		u = split
	}

	// An error costs a function, or the rest of the unit.
	err := r.scan.Scan(r.ctx, u, r.Code)
	defer r.scan.Release()
	if r.ctx.Err() != nil {
		return false
	}
	errs := r.scan.Errs
	if err != nil {
		errs = append(errs, err)
	}
	for _, err := range errs {
		out.Damage = append(out.Damage, fmt.Errorf("unit at %#x: %v", u.Off, err))
	}
	if !u.Root {
		return yield(&out)
	}

	out.Scan = &r.scan
	if len(r.scan.Funcs) > 0 {
		if r.opt.Names {
			out.Name = u.Name()
		}
		r.namer.Unit(&r.scan)
		out.Lines, out.First, out.NoLines = r.Lines(u.Group())
		if r.opt.Calls && out.Lines != nil {
			r.namer.Calls()
		}
	}
	return yield(&out)
}

// noteShared is the reason for line programs that dwarfinfo.LineGroup marks as shared.
const noteShared = "line programs that overlap with many others"

// Lines returns the line table of a group, and whether this is the first call.
func (t *Truth) Lines(g *dwarfinfo.LineGroup) (lines *dwarfinfo.Lines, first bool, err error) {
	if g.Shared {
		return nil, false, fmt.Errorf("%s: %w", noteShared, t.opt.Limits.Exceeded(limitof.LineSharing, 0))
	}
	lines, first, err = g.Lines(t.Code, t.Paths)
	if err != nil {
		return nil, false, fmt.Errorf("line table of the unit at %#x: %v", g.Unit.Off, err)
	}
	return lines, first, nil
}

// OtherLines returns the line tables of units without functions, after all units were read.
func (t *Truth) OtherLines() []*dwarfinfo.LineGroup { return t.info.Unread() }

// Release releases the memory of the debug information. Names stay valid.
func (t *Truth) Release() { t.info.Release() }

// UnitCount returns the number of units that were read.
func (t *Truth) UnitCount() int { return t.info.Len() }

// Size returns the number of bytes that all units have.
func (t *Truth) Size() int { return t.info.Size() }
