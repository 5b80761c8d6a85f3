package mdmp

import "symkit/internal/wire"

// readMiscInfo decodes MINIDUMP_MISC_INFO.
func (d *Dump) readMiscInfo(c wire.Cursor) error {
	start := c
	size := c.U32()

	// The size determines the version. It may be larger than that of version 5, but must be
	// inside the stream.
	if c.Err() == nil && (size < MiscSize1 || uint64(size) > uint64(start.Len())) {
		c.Fail(start.Pos(), ErrRecordSize)
	}
	if c.Err() != nil {
		return c.Err()
	}

	d.Misc = miscInfo(start.Sub(uint64(size)))
	return nil
}

// MiscOfStream decodes MINIDUMP_MISC_INFO in the largest of its versions that the stream holds,
// whatever its size is by the record itself. It returns nil if the stream holds none.
func (d *Dump) MiscOfStream() *MiscInfo {
	return miscInfo(wire.New(Section, d.File(MiscInfoStream), d.BigEndian))
}

// miscInfo decodes the largest version that the cursor has.
func miscInfo(c wire.Cursor) *MiscInfo {
	m := &MiscInfo{}
	size := 0
	// Each version appends fields to the one before it.
	for _, v := range miscVersions {
		if c.Len() >= v.size {
			size = v.size
			m.Known |= v.flags
		}
	}
	if size == 0 {
		return nil
	}
	version := c.Sub(uint64(size))
	read(&version, &m.MiscRecord)
	m.HasXState = m.Known&MiscCookie != 0
	m.Known &= m.Flags
	return m
}
