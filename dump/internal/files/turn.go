package files

import (
	"symkit/dump/internal/losses"
	"symkit/internal/limitof"
)

// turn holds the names that the current line table, or function of Go's, has added to a Table in which
// one goroutine numbers names.
type turn struct {
	given, failed []string // keys of Table.given and Table.errs
	names         int      // before
	left          uint64
}

func (x *turn) add(given string) {
	if x != nil {
		x.given = append(x.given, given)
	}
}

func (x *turn) mapped(name string) {
	if x != nil {
		x.failed = append(x.failed, name)
	}
}

// Begin begins with the names of a line table.
func (t *Table) Begin() {
	if t.turn != nil {
		clear(t.turn.given)
		*t.turn = turn{t.turn.given[:0], t.turn.failed[:0], len(t.names), t.left}
	}
}

// End returns nil if the names since Begin fit. Otherwise it removes them and returns the error of the
// limit, or losses.ErrInTurn if line tables are read concurrently.
//
// What is lost counts for half of what was left, so that it neither takes all from others, nor can each
// of many line tables take all that is left before it is lost.
func (t *Table) End() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.turn
	switch {
	case !t.full:
		return nil
	case x == nil:
		return losses.ErrInTurn
	}

	for _, given := range x.given {
		delete(t.given, given)
	}
	for _, name := range x.failed {
		delete(t.errs, name)
	}
	for _, name := range t.names[x.names:] {
		delete(t.written, name)
	}
	clear(t.names[x.names:])
	t.names, t.left, t.full = t.names[:x.names], x.left/2, false
	return t.limits.Exceeded(limitof.Files, t.size)
}
