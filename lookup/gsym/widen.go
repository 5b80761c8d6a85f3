package gsym

import (
	"encoding/binary"

	"symkit/internal/wire"
)

// Infos are encoded for version 1 as functions are added. When the strings, or at the end the whole file, turn out to be
// larger than that version can hold, what there is is encoded again for version 2: references to strings become wider.

// widen makes the file one of version 2.
func (w *Writer) widen() {
	if w.wide {
		return
	}
	w.wide = true
	next, before := 0, uint64(0)
	w.before = 0
	for i, old := range w.chunks {
		end := before + uint64(len(old))
		b := make([]byte, 0, len(old)+len(old)/2)
		for ; next < len(w.infos) && w.infos[next] < end; next++ {
			from := w.infos[next] - before
			b = w.align(b)
			w.infos[next] = w.before + uint64(len(b))
			b = w.widenInfo(b, wire.New(section, old[from:], w.order == binary.BigEndian))
		}
		before = end
		if i+1 < len(w.chunks) {
			b = w.align(b)
			w.before += uint64(len(b))
		}
		w.chunks[i] = b
	}
}

// widenInfo appends the info at a cursor.
func (w *Writer) widenInfo(b []byte, c wire.Cursor) []byte {
	b = w.order.AppendUint32(b, c.U32())
	b = w.order.AppendUint64(b, uint64(c.U32()))
	for {
		kind, part := c.U32(), c.Sub(uint64(c.U32()))
		b = w.order.AppendUint32(b, kind)
		at := len(b)
		b = w.order.AppendUint32(b, 0)
		if kind == inlineInfo {
			b = w.widenCalls(b, &part)
		} else {
			b = append(b, part.Rest()...)
		}
		w.order.PutUint32(b[at:], uint32(len(b)-at-4))
		if kind == endOfList {
			return b
		}
	}
}

// widenCalls appends a tree of inlined calls: nodes, and a 0 at the end of each list of nodes.
func (w *Writer) widenCalls(b []byte, c *wire.Cursor) []byte {
	for c.Len() > 0 {
		count := c.ULEB()
		b = binary.AppendUvarint(b, count)
		if count == 0 {
			continue
		}
		for range 2 * count {
			b = binary.AppendUvarint(b, c.ULEB())
		}
		b = append(b, c.U8())
		b = w.order.AppendUint64(b, uint64(c.U32()))
		b = binary.AppendUvarint(b, c.ULEB()) // file
		b = binary.AppendUvarint(b, c.ULEB()) // line
	}
	return b
}
