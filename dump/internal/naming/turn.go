package naming

import (
	"math"
	"slices"

	"symkit/dump/internal/losses"
)

// If the names of a module are near their limit, its units are named again, one after the other, by
// one goroutine: which units have names does not depend on the number of goroutines. A unit whose
// names do not fit is lost, and its names are removed.
//
// How many bytes are counted depends a little on the order: the text of a name can be made twice, and
// each goroutine has a nameCache. So a table for several goroutines is full at half of the limit.

// turn holds what the current unit has changed in a table.
type turn struct {
	added       []*entry
	replaced    []replaced
	texts, read uint64 // before the unit
}

// replaced is a name and what it was before the unit.
type replaced struct {
	at  *entry
	old entry
}

func (x *turn) add(e *entry) {
	if x != nil {
		x.added = append(x.added, e)
	}
}

func (x *turn) replace(e *entry) {
	if x != nil {
		x.replaced = append(x.replaced, replaced{e, *e})
	}
}

// begin begins with the names of a unit.
func (t *Table) begin() {
	if t.turn != nil {
		clear(t.turn.replaced)
		*t.turn = turn{t.turn.added[:0], t.turn.replaced[:0], t.texts.Load(), t.read.Load()}
	}
}

// end returns nil if the names of the unit fit. Otherwise it removes them and returns the error of the
// limit, or losses.ErrInTurn if several goroutines name units.
func (t *Table) end() error {
	x := t.turn
	switch {
	case !t.isFull():
		return nil
	case x == nil:
		return losses.ErrInTurn
	}

	for _, r := range slices.Backward(x.replaced) {
		*r.at = r.old
	}

	// The number stays. The next unit that has the name makes its text.
	for _, e := range x.added {
		e.text, e.order = "", math.MaxUint64
	}

	// A lost unit counts for half of what was left, so that it neither takes all from the others, nor
	// can each of many units take all that is left before it is lost.
	t.texts.Store(x.texts + (t.limit-x.texts)/2)
	t.read.Store(x.read + (t.limit-x.read/readPerText)*readPerText/2)
	return t.exceeded
}

// readPerText is how many bytes of names are read for each byte that texts may
// have: the names of many functions can be ends of one long string.
const readPerText = 4

// isFull reports whether more bytes of names were read, or more bytes of texts
// made, than the limit allows.
func (t *Table) isFull() bool {
	return t.texts.Load() > t.limit || t.read.Load()/readPerText > t.limit
}
