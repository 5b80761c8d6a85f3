package mdmp

import "symkit/internal/wire"

// count reads the number of records that begins a list of records of size bytes. Some
// writers align the first record to 8 bytes: then 4 bytes of padding follow the number, and
// the stream is larger by exactly these.
func count(c *wire.Cursor, size int) int {
	at := c.Pos()
	n := uint64(c.U32())
	if c.Err() != nil {
		return 0
	}

	// The size of the stream shows whether padding comes before the records.
	switch uint64(c.Len()) {
	case n * uint64(size):
	case n*uint64(size) + 4:
		c.Skip(4)
	default:
		c.Fail(at, ErrCount)
		return 0
	}
	return int(n)
}

// table is the header of a list that states the sizes of its header and of its records. Both
// can be larger than the structures known here.
type table struct {
	n    int
	size uint64
}

// tableHeader reads a table. The number of records has 8 bytes if wide, and otherwise 4.
func tableHeader(c *wire.Cursor, size uint64, wide bool) table {
	start := c.Pos()
	header, entry := uint64(c.U32()), uint64(c.U32())
	at := c.Pos()
	n := uint64(0)
	if wide {
		n = c.U64()
	} else {
		n = uint64(c.U32())
	}

	// Newer versions of headers and records are larger: only a smaller size is damage.
	read := uint64(c.Pos() - start)
	switch {
	case c.Err() != nil:
	case header < read:
		c.Fail(start, ErrRecordSize)
	case entry < size:
		c.Fail(start+4, ErrRecordSize)
	default:
		c.Skip(header - read)
		if c.Err() == nil && n > uint64(c.Len())/entry {
			c.Fail(at, ErrCount)
		}
	}
	if c.Err() != nil {
		return table{}
	}
	return table{int(n), entry}
}
