package dwarfx

import "math"

// Parts divides u into at most count parts of about equal size, no less than size bytes, which can
// be scanned at the same time. They depend on the unit alone. Parts returns nil if u is too small,
// damaged, or has no children of the root where parts could begin.
func (u *Unit) Parts(size uint64, count int) []Part {
	count = int(min((u.End-u.Off)/size, uint64(count)))
	if count < 2 || u.IsType() {
		return nil
	}
	d := u.data
	table, err := d.abbrevs(u)
	if err != nil {
		return nil
	}

	// The root.
	x := scanner{d: d, u: u, t: table, h: new(skipTable), c: d.unitCursor(u, u.first)}
	x.h.reset(table)
	a := x.lookup(x.c.ULEB(), int(u.first))
	if a == nil || a.class != classScope || !a.children {
		return nil
	}
	x.attrs(a, false)
	x.pos, x.levels = x.c.Pos()-int(u.Off), 1

	// From each goal on, the next child of the root begins a part.
	var parts []Part
	from, step := 0, len(u.bytes)/count
	for goal := x.pos + step; goal <= len(u.bytes)-step/2; goal = x.pos + step {
		x.over(u.bytes[:goal], x.levels)
		if x.levels == 0 {
			break // the root has ended
		}
		x.over(u.bytes, x.levels-1)
		if x.levels > 0 || x.c.Err() != nil {
			break
		}
		parts = append(parts, Part{u.Off + uint64(from), u.Off + uint64(x.pos)})
		from, x.levels = x.pos, 1
	}
	if x.c.Err() != nil || parts == nil {
		return nil
	}
	return append(parts, Part{u.Off + uint64(from), u.End})
}

// over skips DIEs up to the end of data, the begin of the unit, or until a number of levels
// have ended.
func (x *scanner) over(data []byte, levels int) {
	x.data, x.levels = data, levels
	for x.levels > 0 && x.pos < len(data) && x.c.Err() == nil {
		if x.pass(modeSkip, math.MaxInt) || x.pos >= len(data) {
			continue
		}

		// This DIE has no skipOp, or its sibling is not in data.
		x.c.Seek(x.u.Off + uint64(x.pos))
		at := x.c.Pos()
		code := x.c.ULEB()
		if code == 0 {
			x.levels--
		} else if a := x.lookup(code, at); a != nil && !x.attrs(a, true) && a.children {
			x.levels++
		}
		x.pos = x.c.Pos() - int(x.u.Off)
	}
}
