// Package load reads the units of a module's debug information.
//
// It takes an image and its companion files, and gives for each unit its functions, their
// inlined calls, and the numbers of the names of both. The units are in the order of
// .debug_info. They own their memory except the keys of names and the units' strings and
// line programs, which lie in sections until Release.
//
// All concurrency is inside of the package. One goroutine inflates .debug_info,
// by far the largest section, into segments of a few megabytes; others inflate the
// other sections; and one goroutine for each processor scans the units of complete
// segments. If no unit can refer to another one, the names of a unit are read
// right after its scan, and then its segment's memory is used again; otherwise all
// of .debug_info stays in memory until every unit is scanned.
package load

import (
	"context"
	"errors"
	"sync/atomic"

	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/internal/dwarfx"
	"symkit/internal/par"
	"symkit/limits"
)

// Unit is a unit, or a part of a large one, with the functions, calls and ranges that it
// describes.
type Unit struct {
	*dwarfx.Unit
	Part dwarfx.Part // what is read of the unit
	// Lines is the unit that has the line table: of a split unit, its skeleton.
	Lines *dwarfx.Unit
	// CompDir is DW_AT_comp_dir of Lines.
	CompDir []byte

	Funcs     []dwarfx.Func // their Ranges are of Ranges, their Inlines of Calls
	FuncNames []uint32      // by function: the number of its name
	// Calls are the inlined calls. Origin is the number of a call's name, CallFile a
	// file of the line table, Ranges are of Ranges.
	Calls  []dwarfx.Inline
	Ranges []dwarfx.Range // virtual addresses

	index   int          // of Units.List
	item    int          // index of the unit in dwarfx.Data.Units, unless it is a split one
	parts   *parts       // of the unit, if it is divided
	origins []dwarfx.Ref // of Calls, until they have numbers
	segment *segment     // that the unit's bytes are in
	err     error        // damage met in the scan
}

// parts are the parts of a unit that is divided.
type parts struct {
	units []*Unit
	left  atomic.Int32 // parts that are not scanned yet
}

// Take gives the calls of u and their ranges to the caller, which may overwrite them. The
// unit has no calls afterwards.
func (u *Unit) Take() (calls []dwarfx.Inline, ranges []dwarfx.Range) {
	calls, ranges = u.Calls, u.Ranges
	u.Calls, u.Ranges = nil, nil
	return calls, ranges
}

// Units are the units of a module.
type Units struct {
	List  []*Unit
	Count int // of whole units
	Names *naming.Table
	Share losses.Share // bytes of units that were lost
	// LineErr is why .debug_line cannot be read.
	LineErr error

	file *elfx.File // with the DWARF sections
}

// Options select the records that Load reads.
type Options struct {
	Jobs       int
	Inlines    bool
	Linkage    bool // names are not demangled
	Code       dwarfx.CodeMap
	Companions *companion.Companions // or nil
	Limits     limits.Limits
	// InTurn makes Load read one unit after the other: Jobs is 1. The units that do not fit a limit
	// are lost. Without it, Load returns losses.ErrInTurn if units may not fit.
	InTurn bool
}

// Load reads the units of img. Damage costs the unit that it is in.
func Load(ctx context.Context, img *elfx.Image, opt Options) (*Units, losses.List, error) {
	x := &loader{ctx: ctx, img: img, opt: opt, file: img.DWARF(), names: naming.NewTable(img.Size(), opt.Limits, opt.InTurn), release: func() {}}
	x.names.Linkage = opt.Linkage
	defer func() { x.release() }()
	for _, step := range []func() error{x.openAlt, x.readUnits, x.readSplits, x.nameUnits} {
		err := step()
		if err != nil {
			return nil, losses.List{}, err
		}
	}

	if !opt.InTurn && (x.data.TooManyAbbrevs() || x.alt != nil && x.alt.TooManyAbbrevs()) {
		return nil, losses.List{}, losses.ErrInTurn
	}

	// Damage is counted in the order of the units.
	count := 0
	var damaged *dwarfx.Unit
	for _, u := range x.units {
		if u.Part.From == u.Off {
			count++
		}
		if u.err != nil {
			err := losses.InFile(x.file.Path(), u.err)
			if u.Unit != damaged {
				x.lost.Add(err)
			}
			damaged = u.Unit
			x.share.Add(losses.Rest(u.err, u.Part.From, u.Part.To), err)
		}
		u.CompDir, _ = u.Lines.String(u.Lines.CompDir) // a string outside of its section is no name
	}

	// Only strings and line programs are read from here on.
	x.data.Forget()
	x.data.Ranges, x.data.RngLists = nil, nil
	release(x.file, ".debug_info", ".debug_abbrev", ".debug_ranges", ".debug_rnglists")
	return &Units{List: x.units, Count: count, Names: x.names, Share: x.share, LineErr: x.lineErr, file: x.file}, x.lost, nil
}

// Release releases the sections with strings and line programs. The keys of names
// cannot be read afterwards.
func (u *Units) Release() {
	release(u.file, ".debug_str", ".debug_line_str", ".debug_line")
}

func release(f *elfx.File, names ...string) {
	for _, name := range names {
		s := f.Section(name)
		if s != nil {
			s.Release()
		}
	}
}

// loader is one run of Load.
type loader struct {
	ctx   context.Context
	img   *elfx.Image
	opt   Options
	file  *elfx.File // with the DWARF sections
	names *naming.Table
	alt   *dwarfx.Data // dwz's supplementary file, or nil
	lost  losses.List
	share losses.Share

	lineErr  error // why .debug_line cannot be read
	sections dwarfx.Sections
	data     *dwarfx.Data
	units    []*Unit
	// alone is set if no unit can refer to another one, so that a unit's names are
	// read right after its scan.
	alone bool
	// release releases the memory of .debug_info.
	release func()
}

// nameUnits numbers the names of the units whose names have no numbers yet: all units
// if units can refer to each other, otherwise the split units.
func (x *loader) nameUnits() error {
	return par.Each(x.ctx, x.opt.Jobs, len(x.units), func() func(int) error {
		namer := naming.NewNamer(x.names)
		return func(i int) error {
			u := x.units[i]
			if u.FuncNames == nil && len(u.Funcs) > 0 {
				return u.number(namer)
			}
			return nil
		}
	})
}

// number numbers the names of u. If they do not fit the limit, u is lost.
func (u *Unit) number(namer *naming.Namer) error {
	names, origins, err := namer.Unit(u.Unit, u.index, u.Funcs, u.origins)
	if errors.Is(err, limits.ErrExceeded) {
		u.err = u.Located(err)
		u.forget()
		return nil
	}
	if err != nil {
		return err
	}
	u.FuncNames = names

	// The scan has made Origin an index of u.origins.
	for i := range u.Calls {
		u.Calls[i].Origin = origins[u.Calls[i].Origin]
	}
	u.origins = nil
	return nil
}
