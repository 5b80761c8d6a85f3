// Package load reads the units of a module's debug information: for each unit its
// functions, their inlined calls, and the numbers of the names of both.
//
// The package hides all that overlaps in time. One goroutine inflates .debug_info,
// by far the largest section, into segments of a few megabytes, others inflate the
// other sections, and as many as there are processors scan the units of complete
// segments. If no unit can refer to another one, the names of a unit are read
// right after its scan, and then its segment's memory is used again; otherwise all
// of .debug_info stays until every unit is scanned.
//
// What comes out owns its memory, but for the keys of names and the units' strings
// and line programs, which lie in sections until Release.
package load

import (
	"context"
	"fmt"

	"symkit/dump/dwarfx"
	"symkit/dump/internal/losses"
	"symkit/dump/internal/naming"
	"symkit/elfx"
	"symkit/internal/par"
)

// Unit is a unit and what it describes.
type Unit struct {
	*dwarfx.Unit
	// Lines is the unit whose line table is meant: of a split unit, its skeleton.
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
	origins []dwarfx.Ref // of Calls, until they have numbers
	segment *segment     // that the unit's bytes are in
	err     error        // damage met in the scan
}

// Take hands the calls of u and their ranges over to the caller, who may write over
// them. The unit has none afterwards.
func (u *Unit) Take() (calls []dwarfx.Inline, ranges []dwarfx.Range) {
	calls, ranges = u.Calls, u.Ranges
	u.Calls, u.Ranges = nil, nil
	return calls, ranges
}

// Units are the units of a module.
type Units struct {
	List  []*Unit
	Names *naming.Table
	Share losses.Share // bytes of units that were lost
	// LineErr is why .debug_line cannot be read.
	LineErr error

	file *elfx.File // with the DWARF sections
}

// Options says what Load reads.
type Options struct {
	Jobs       int
	Inlines    bool
	Code       dwarfx.CodeMap
	Companions *elfx.Companions // or nil
}

// Load reads the units of img. Damage costs the unit that it is in.
func Load(ctx context.Context, img *elfx.Image, opt Options) (*Units, losses.List, error) {
	x := &loader{ctx: ctx, img: img, opt: opt, file: img.DWARF(), names: naming.NewTable(img.Size()), release: func() {}}
	defer func() { x.release() }()
	err := x.openAlt()
	if err == nil {
		err = x.readUnits()
	}
	if err == nil {
		x.checkAlt()
		err = x.readSplits()
	}
	if err == nil {
		err = x.nameUnits()
	}
	if err == nil {
		err = x.names.Err(img.Size())
		if err != nil {
			err = fmt.Errorf("%s: %w", img.Main.Path(), err)
		}
	}
	if err != nil {
		return nil, losses.List{}, err
	}

	for _, u := range x.units {
		if u.err != nil {
			err := fmt.Errorf("%s: %w", x.file.Path(), u.err)
			x.lost.Add(err)
			x.share.Add(losses.Rest(u.err, u.Off, u.End), err)
		}
		// A string outside of its section is no name.
		u.CompDir, _ = u.Lines.String(u.Lines.CompDir)
	}
	x.data.Forget()
	x.data.Ranges, x.data.RngLists = nil, nil
	release(x.file, ".debug_info", ".debug_abbrev", ".debug_ranges", ".debug_rnglists")
	return &Units{List: x.units, Names: x.names, Share: x.share, LineErr: x.lineErr, file: x.file}, x.lost, nil
}

// Release gives up the sections that strings and line programs are in. The keys of
// names are gone then.
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
	// alone: no unit can refer to another one, so that a unit's names are read
	// right after its scan.
	alone bool
	// release releases the memory of .debug_info.
	release func()
}

// nameUnits numbers the names of the units that have none yet: all of them, if
// units can refer to each other, else the split units.
func (x *loader) nameUnits() error {
	return par.Each(x.ctx, x.opt.Jobs, len(x.units), func() func(int) error {
		namer := naming.NewNamer(x.names)
		return func(i int) error {
			u := x.units[i]
			if u.FuncNames == nil && len(u.Funcs) > 0 {
				u.number(namer)
			}
			return nil
		}
	})
}

// number numbers the names of u.
func (u *Unit) number(namer *naming.Namer) {
	var origins []uint32
	u.FuncNames, origins = namer.Unit(u.Unit, u.index, u.Funcs, u.origins)
	for i := range u.Calls {
		u.Calls[i].Origin = origins[u.Calls[i].Origin]
	}
	u.origins = nil
}
