package mdmp

import "symkit/internal/wire"

// readMacCrashInfo decodes the stream: a header with up to 20 locations of
// records, each numbers followed by strings. A damaged record is lost alone.
func (d *Dump) readMacCrashInfo(c wire.Cursor) error {
	var head macCrashInfos
	read(&c, &head)
	if c.Err() == nil && (head.Count > MaxMacRecords || uint64(head.Count) > uint64(c.Len())/sizeOf[Location]()) {
		c.Fail(head.At, ErrCount)
	}
	if c.Err() != nil {
		return c.Err()
	}

	for l := range records[Location](&c, int(head.Count), sizeOf[Location]()) {
		info, err := macCrashInfo(d.at(*l), uint64(head.Start))
		if err != nil {
			d.lose(MacCrashInfoStream, err)
			continue
		}
		d.MacCrashInfo = append(d.MacCrashInfo, info)
	}
	return nil
}

// macCrashInfo decodes a record whose strings begin at offset start of the record.
func macCrashInfo(c wire.Cursor, start uint64) (m MacCrashInfo, err error) {
	at := c.Pos()
	c.Skip(8) // the stream's type again
	m.Version = c.U64()
	if m.Version >= MacRecordVersion4 {
		m.Thread, m.DialogMode = c.U64(), c.U64()
	}
	if m.Version >= MacRecordVersion5 {
		m.AbortCause = c.U64()
	}

	// The place of the strings is known from version 4 on.
	if m.Version < MacRecordVersion4 || c.Err() != nil {
		return m, c.Err()
	}

	// The strings begin after the numbers, of which the writer's version may have more.
	if fixed := uint64(c.Pos() - at); start < fixed {
		c.Fail(at, ErrRecordSize)
	} else {
		c.Skip(start - fixed)
	}

	// The strings follow one another, each with its NUL.
	for _, s := range []*[]byte{&m.ModulePath, &m.Message, &m.Signature, &m.Backtrace, &m.Message2} {
		*s = c.CString()
	}
	return m, c.Err()
}

// readMacBootArgs decodes Mozilla's stream of the kernel's arguments.
func (d *Dump) readMacBootArgs(c wire.Cursor) error {
	var args macBootArgs
	read(&c, &args)
	if c.Err() != nil {
		return c.Err()
	}
	var err error
	d.MacBootArgs, err = d.name(args.RVA, args.At)
	return err
}
