package dump

import (
	"sync/atomic"

	"symkit/dump/dwarfx"
)

// discardPiece is how much of .debug_info is given up at a time: each time
// interrupts the other processors.
const discardPiece = 4 << 20

// discards gives .debug_info up as the names of its units get their texts.
type discards struct {
	data *dwarfx.Data
	// discard gives bytes [from, to) up; nil: nothing can be.
	discard func(from, to uint64)
	// left are the bytes of each piece that still belong to units with names
	// without a text.
	left []atomic.Int64
}

// newDiscards begins with the names of groups, none of which has a text. Where units
// may be scopes of another one's names, nothing is given up before all have theirs.
func (d *dumper) newDiscards(groups []*nameGroup) *discards {
	x := &discards{data: d.dw}
	s := d.img.DWARF().Section(".debug_info")
	if s == nil || !d.dw.SelfContained() {
		return x
	}
	x.discard = s.Discard
	x.left = make([]atomic.Int64, len(d.dw.Info)/discardPiece+1)
	for _, g := range groups {
		if x.has(g.unit) {
			x.add(g.unit, 1)
		}
	}
	return x
}

// done gives up what only u, of a group, was in the way of.
func (x *discards) done(u *dwarfx.Unit) {
	if x.has(u) {
		x.add(u, -1)
	}
}

// has tells whether u's bytes can be given up.
func (x *discards) has(u *dwarfx.Unit) bool { return x.discard != nil && u.Data() == x.data }

// add adds the bytes of u, times sign, to those that are left, and gives up the
// pieces of which nothing is.
func (x *discards) add(u *dwarfx.Unit, sign int64) {
	for from := u.Off; from < u.End; {
		i := from / discardPiece
		to := min(u.End, (i+1)*discardPiece)
		if x.left[i].Add(sign*int64(to-from)) == 0 {
			x.discard(i*discardPiece, min((i+1)*discardPiece, uint64(len(x.data.Info))))
		}
		from = to
	}
}
