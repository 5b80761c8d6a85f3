package load

import "symkit/internal/dwarfx"

// A unit of a whole program, as gcc -flto or a single large source file gives, is read in parts,
// so that it keeps all processors busy. Each part is a Unit. Two parts are less than a unit of the
// usual size that is large; many would search the unit too often for the scopes of names.
var (
	partSize  uint64 = 2 << 20
	mostParts        = 16
)

// mostInflated is how many times the size of its file a unit that is divided may have, at most: what inflates from
// almost nothing may take little memory, and each scan at the same time takes some of its own.
const mostInflated = 16

// divide returns the parts of u, whose bytes are in s and which is item of the Data's units, for the
// places in the list of units from index on.
func divide(u *dwarfx.Unit, s *segment, index, item int) []*Unit {
	x := &Unit{Unit: u, Part: u.Whole(), Lines: u, segment: s, index: index, item: item}
	var divided []dwarfx.Part
	if u.End-u.Off <= mostInflated*u.Data().FileSize {
		divided = u.Parts(partSize, mostParts)
	}
	if divided == nil {
		return []*Unit{x}
	}

	all := &parts{units: make([]*Unit, len(divided))}
	all.left.Store(int32(len(divided)))
	for i, part := range divided {
		y := *x
		y.Part, y.index, y.parts = part, index+i, all
		all.units[i] = &y
	}
	return all.units
}

// IsPart reports whether u is a part of a unit that was divided.
func (u *Unit) IsPart() bool { return u.parts != nil }

// done is called when u was scanned. It returns what releases the functions of the unit, if all of
// them are known.
func (u *Unit) done() (free func()) {
	switch {
	case u.parts == nil:
		return u.forget
	case u.parts.left.Add(-1) == 0:
		return u.parts.forget
	}
	return nil
}

// forget releases the functions of all parts.
func (p *parts) forget() {
	for _, u := range p.units {
		u.forget()
	}
}
