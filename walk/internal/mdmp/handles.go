package mdmp

import "symkit/internal/wire"

// readHandles decodes MINIDUMP_HANDLE_DATA_STREAM. A name or a chain of
// information that cannot be read is lost alone.
func (d *Dump) readHandles(c wire.Cursor) error {
	head := c
	head.Skip(4)
	extended := head.U32() >= handleSize2
	n, all := table[HandleRecord](&c, handleSize1, false)
	d.Handles = make([]Handle, 0, n)
	for r := range all {
		// The name of the type and the name of the object are each lost alone.
		h := Handle{HandleRecord: *r, Extended: extended}
		var err error
		h.Type, err = d.optional(r.TypeAt)
		d.lose(HandleDataStream, err)
		h.Name, err = d.optional(r.NameAt)
		d.lose(HandleDataStream, err)

		// Only the second version of the record has a chain of information.
		h.Info, err = d.handleInfo(r.InfoAt)
		d.lose(HandleDataStream, err)
		d.Handles = append(d.Handles, h)
	}
	return c.Err()
}

// handleInfo reads the chain of object information that begins at an offset. A chain that runs in
// a circle ends when the budget is used up.
func (d *Dump) handleInfo(o Offset) (infos []HandleInfo, err error) {
	for o.RVA != 0 {
		c := d.rest(uint64(o.RVA), o.At)
		if !d.spend(&c, handleInfoSize) {
			return infos, c.Err()
		}
		var info HandleInfo
		read(&c, &info)
		c.Skip(uint64(info.Size))
		if c.Err() != nil {
			return infos, c.Err()
		}
		infos = append(infos, info)
		o = info.Next
	}
	return infos, nil
}
