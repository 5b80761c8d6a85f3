package dump

import (
	"math"
	"slices"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// pieces is the memory of .debug_info, the largest section by far. A unit that
// cannot refer to another one needs its bytes until it is scanned and what names its
// functions is found; then the memory serves for the units that are inflated next.
type pieces struct {
	f    *elfx.File
	keep bool // units may refer to each other, for all that is known: nothing is given up before the end
	// discard gives up bytes [from, to) of a section that is not inflated piece by
	// piece.
	discard func(from, to uint64)
	spare   [][]byte // buffers that are free
	size    int      // bytes of all buffers
	lent    int      // of those that are given away, see lend
	list    []*piece // that have their buffers
}

// Tests make them smaller.
var (
	pieceSize = 4 << 20
	// mostPieces is how many bytes of buffers are enough for the inflating goroutine
	// to wait until units are done.
	mostPieces = 64 << 20
)

// piece is some units of .debug_info, and the memory that they are in.
type piece struct {
	data  []byte // a buffer of pieces, or part of the section
	at    int    // of data, in the section
	done  int    // bytes of data that are there
	whole int    // bytes of data up to the end of the last unit that is
	next  uint64 // bytes of the unit that begins there, 0: not known
	units []*unit
	left  int // of units, those that are not done, and one more while it is being read
}

// full tells whether there must be another buffer for the rest of a section.
func (p *piece) full(size int) bool {
	return len(p.data)-p.done < elfx.SlideRoom && p.at+len(p.data) < size
}

// grow tells p that bytes are there up to done.
func (p *piece) grow(done int, bigEndian bool) {
	p.done = done
	end, next := dwarfx.Whole(p.data[p.whole:done], bigEndian)
	p.whole, p.next = p.whole+end, next
}

// follow returns what the piece behind p needs of it: how many bytes, from the end,
// it begins with, and its size.
func (p *piece) follow() (kept, size int) {
	unit := p.done - p.whole
	kept = max(unit, min(p.done, elfx.SlideWindow))
	whole := kept - unit + int(min(p.next, math.MaxInt/2)) // whatever it says
	least := max(kept, whole) + elfx.SlideRoom
	return kept, (least + pieceSize - 1) / pieceSize * pieceSize
}

// fit returns which of the spare buffers is the smallest of at least size bytes, -1
// where there is none.
func (x *pieces) fit(size int) int {
	best := -1
	for i, data := range x.spare {
		if len(data) >= size && (best < 0 || len(data) <= len(x.spare[best])) {
			best = i
		}
	}
	return best
}

// take returns memory for a piece; nil: it is to be made.
func (x *pieces) take(size int) []byte {
	i := x.fit(size)
	if i < 0 {
		x.size += size
		return nil
	}
	data := x.spare[i]
	x.spare = slices.Delete(x.spare, i, i+1)
	return data
}

// enough tells whether a buffer of a size would be more than is needed.
func (x *pieces) enough(size int) bool {
	return !x.keep && x.size > 0 && x.size+size > mostPieces && x.fit(size) < 0
}

// done tells that one of the units of p, or reading p itself, is done.
func (x *pieces) done(p *piece) {
	if p.left--; p.left > 0 || x.keep {
		return
	}
	for _, u := range p.units {
		u.Drop()
	}
	if x.discard != nil {
		x.discard(uint64(p.at), uint64(p.at+len(p.data)))
		return
	}
	x.list = slices.DeleteFunc(x.list, func(q *piece) bool { return q == p })
	x.spare = append(x.spare, p.data)
}

// lend gives a spare buffer away; nil: there is none, or enough of them were, unless
// no more are needed.
func (x *pieces) lend(all bool) []byte {
	last := len(x.spare) - 1
	if last < 0 || !all && x.lent+len(x.spare[last]) > mostPieces/4 {
		return nil
	}
	data := x.spare[last]
	x.spare, x.size, x.lent = x.spare[:last], x.size-len(data), x.lent+len(data)
	return data
}

// giveBack takes back what is left of one.
func (x *pieces) giveBack(data []byte) {
	if len(data) > 0 {
		x.spare = append(x.spare, data)
		x.size, x.lent = x.size+len(data), x.lent-len(data)
	}
}

// textRoom keeps the texts of names in buffers that .debug_info does not need any
// more, which have their pages already. They are the file's from then on.
type textRoom struct {
	more func() []byte // another buffer, or nil
	none bool          // there was none: there is no use in asking again
	free []byte
}

// rooms returns where textRooms take their buffers from, when .debug_info is done with.
func (x *pieces) rooms() (more func() []byte) {
	spare := make(chan []byte, len(x.spare))
	for _, data := range x.spare {
		spare <- data
	}
	close(spare)
	x.spare = nil
	return func() []byte { return <-spare }
}

// keep is names.Demangler.Keep.
func (r *textRoom) keep(text []byte) (kept string, ok bool) {
	if len(text) > len(r.free) && !r.none {
		r.free = r.more()
		r.none = r.free == nil
	}
	if len(text) > len(r.free) { // there is no memory, or it is very long
		return "", false
	}
	n := copy(r.free, text)
	kept, r.free = elfx.String(r.free[:n]), r.free[n:]
	return kept, true
}

// trim frees the buffers that nothing is in.
func (x *pieces) trim() {
	for _, data := range x.spare {
		x.f.FreeBuffer(data)
	}
	x.spare = nil
}

// release frees all buffers.
func (x *pieces) release() {
	x.trim()
	if x.discard == nil {
		for _, p := range x.list {
			x.f.FreeBuffer(p.data)
		}
	}
	x.list = nil
}
