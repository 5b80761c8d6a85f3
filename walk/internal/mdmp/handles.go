package mdmp

import "symkit/internal/wire"

// Handle is MINIDUMP_HANDLE_DESCRIPTOR, or its second version.
type Handle struct {
	Handle        uint64
	Type, Name    Text // of the object; empty when not known
	Attributes    uint32
	GrantedAccess uint32
	HandleCount   uint32
	PointerCount  uint32
	Info          []HandleInfo
}

// HandleInfo is MINIDUMP_HANDLE_OBJECT_INFORMATION: more about an object, in a format that
// Type determines.
type HandleInfo struct {
	Type uint32
	Data []byte
}

const (
	handleSize1    = 32
	handleSize2    = 40
	handleInfoSize = 12
)

// readHandles decodes MINIDUMP_HANDLE_DATA_STREAM. A name or a chain of
// information that cannot be read is lost alone.
func (d *Dump) readHandles(c wire.Cursor) error {
	list := tableHeader(&c, handleSize1, false)
	handles := make([]Handle, list.n)
	for i := range handles {
		r := c.Sub(list.size)
		h := &handles[i]
		h.Handle = r.U64()
		at := r.Pos()
		typeRVA, nameRVA := r.U32(), r.U32()
		h.Attributes, h.GrantedAccess, h.HandleCount, h.PointerCount = r.U32(), r.U32(), r.U32(), r.U32()

		// The name of the type and the name of the object are each lost alone.
		var err error
		h.Type, err = d.optional(typeRVA, at)
		d.lose(HandleDataStream, err)
		h.Name, err = d.optional(nameRVA, at+4)
		d.lose(HandleDataStream, err)

		// Only the second version of the record has a chain of information.
		if list.size >= handleSize2 {
			at = r.Pos()
			h.Info, err = d.handleInfo(r.U32(), at)
			d.lose(HandleDataStream, err)
		}
	}

	d.Handles = handles
	return c.Err()
}

// handleInfo reads the chain of object information that begins at rva. A chain that runs in
// a circle ends when the budget is used up.
func (d *Dump) handleInfo(rva uint32, at int) (infos []HandleInfo, err error) {
	for rva != 0 {
		c := d.rest(uint64(rva), at)
		if !d.spend(&c, handleInfoSize) {
			return infos, c.Err()
		}
		at = c.Pos()
		rva = c.U32()
		info := HandleInfo{Type: c.U32()}
		info.Data = c.Bytes(uint64(c.U32()))
		if c.Err() != nil {
			return infos, c.Err()
		}
		infos = append(infos, info)
	}
	return infos, nil
}
