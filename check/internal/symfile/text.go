package symfile

import "sync/atomic"

// Text is the text of a symbol file, with the function that returns its memory to the system.
type Text struct {
	Bytes []byte
	// Drop, if not nil, is called with a range of bytes that were read. The bytes stay readable:
	// their records and names are read again for the comparison.
	Drop func(from, to uint64)
}

// dropStep is the number of bytes that are read before they are dropped.
const dropStep = 4 << 20

// parsed drops what Parse has read: the bytes from dropped to done. It returns the new dropped.
func (t *Text) parsed(dropped, done uint64) uint64 {
	if t.Drop == nil || done-dropped < dropStep {
		return dropped
	}
	t.Drop(dropped, done)
	return done
}

// rereading drops all bytes now and then, while parts of them are read again in any order.
type rereading struct{ read atomic.Int64 }

// add counts n bytes that are about to be read.
func (x *rereading) add(t *Text, n uint64) {
	if t.Drop == nil || x.read.Add(int64(n)) < dropStep {
		return
	}
	x.read.Store(0)
	t.Drop(0, uint64(len(t.Bytes)))
}
