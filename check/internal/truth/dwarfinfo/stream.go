package dwarfinfo

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"symkit/elfx"
	"symkit/internal/mem"
	"symkit/internal/wire"
	"symkit/limits"
)

// stream is .debug_info while it is inflated and read at the same time. One goroutine inflates,
// others take units as they become complete. If no unit can refer to another one, the memory of
// finished units is returned to the system, and the first goroutine stays a bounded number of bytes
// ahead, so that only a small part of the section is in memory.
type stream struct {
	alone  bool        // no unit refers to another one
	buffer *mem.Buffer // as large as the section; nil if all bytes are there from the start

	mu       sync.Mutex
	changed  sync.Cond
	have     int // bytes that are inflated
	next     int // offset of the next unit
	returned int // units that Next has returned
	first    int // index of the first unit that is not done
	dropped  int // offset of the first byte whose memory was not released
	waiting  int // goroutines that wait for bytes
	stopped  bool
	ended    bool // Inflate has returned
	err      error
	empty    int // units of length 0
}

// What records take in memory, in bytes, with what slices and the collector need to grow:
// a unit with its line group, an abbreviation, its entry in a map if codes are not consecutive, a
// step of one.
const unitBytes, abbrevBytes, sparseBytes, stepBytes = 700, 60, 140, 24

// maxEmpty bounds the units of length 0, which are padding at best: a section of zeros is damaged.
const maxEmpty = 64

// window is the number of bytes that may be inflated before the units in them are done; dropStep is
// the least number of bytes that are released at a time.
const window, dropStep = 28 << 20, 1 << 20

func (s *stream) begin(size int) {
	s.changed.L = &s.mu
	if s.buffer == nil {
		s.have = size
	}
}

// Inflate inflates .debug_info, if that is not in memory yet. Next and Err return the error.
func (d *Info) Inflate(ctx context.Context) {
	s := &d.stream
	if s.buffer == nil {
		return
	}
	stop := context.AfterFunc(ctx, s.changed.Broadcast)
	defer stop()

	// Of a damaged section nothing counts. The goroutines that wait go on even if Stream panics,
	// because the file was truncated.
	err := mem.ErrChanged
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err, s.ended = err, true
		s.have = len(d.info)
		s.changed.Broadcast()
	}()
	err = d.file.Section(".debug_info").Stream(func(buf []byte, done int) ([]byte, int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.have = done
		s.changed.Broadcast()
		for done-s.dropped > window && s.waiting == 0 && !s.stopped && ctx.Err() == nil {
			s.changed.Wait()
		}
		return d.info, done
	})
}

// Stop ends the waiting of Inflate for Next. The caller does not call Next again.
func (d *Info) Stop() {
	s := &d.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.changed.Broadcast()
}

// Close releases the memory that Inflate has written, after Inflate has returned.
func (d *Info) Close() { d.stream.buffer.Release() }

// Next returns the next unit that can have code, nil at the end. Any number of goroutines may call
// it, each of which calls Done before it calls Next again. After damage in a header there are no
// further units; the error is returned once. After an error of Inflate nothing that was read counts.
func (d *Info) Next(ctx context.Context) (*Unit, error) {
	s := &d.stream
	s.mu.Lock()
	defer s.mu.Unlock()

	// Other units may have to be found, too.
	for s.returned == len(d.units) || !s.alone {
		more, err := d.readUnit(ctx)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if s.returned == len(d.units) {
		return nil, s.err
	}
	s.returned++
	return d.units[s.returned-1], nil
}

// readUnit reads the header of the next unit, and appends the unit to d.units if it can have code.
// It returns false at the end.
func (d *Info) readUnit(ctx context.Context) (more bool, err error) {
	s := &d.stream
	err = d.wait(ctx)
	if err != nil || s.next >= len(d.info) || len(d.units) >= d.limits.Int(limits.CheckUnits) {
		return false, err
	}
	c := wire.New(".debug_info", d.info, d.bigEndian)
	c.Seek(uint64(s.next))
	u, ok := d.header(&c)
	if c.Pos() == s.next+4 {
		s.empty++
	}
	s.next = c.Pos()
	switch {
	case ok:
		u.table, err = d.tableOf(u)
		err = cmp.Or(err, d.take(1, unitBytes))
	case s.empty > maxEmpty:
		c.Fail(u.Off, errEmpty)
	}

	// A unit without abbreviations is unreadable: even the offset of its lines is an attribute.
	err = cmp.Or(c.Err(), err)
	if err != nil {
		s.next = len(d.info)
		return false, err
	}
	if ok && u.kind != utType && u.kind != utSplitType {
		u.readRoot()
		if d.skeleton == nil {
			d.groups.add(u)
		}
		d.units = append(d.units, u)
	}
	return true, nil
}

var errEmpty = fmt.Errorf("more than %d units of length 0", maxEmpty)

// take counts the memory of n records of units and abbreviations.
func (d *Info) take(n, bytes int) error {
	err := d.records.Take(n, bytes)
	if err != nil {
		return fmt.Errorf(".debug_info: %w", err)
	}
	return nil
}

// wait waits until the next unit is complete. Other goroutines may read units meanwhile.
func (d *Info) wait(ctx context.Context) error {
	s := &d.stream
	s.waiting++
	defer func() { s.waiting-- }()
	s.changed.Broadcast()
	for s.have < len(d.info) && s.next < len(d.info) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		// A unit begins with its length.
		const length = 12
		if s.have-s.next >= length {
			c := wire.New(".debug_info", d.info, d.bigEndian)
			c.Seek(uint64(s.next))
			n, _ := c.InitialLength()
			if n <= uint64(s.have-c.Pos()) {
				return nil
			}
		}
		s.changed.Wait()
	}
	return s.err
}

// Done ends the use of a unit. Names that were read of the unit stay valid.
func (d *Info) Done(u *Unit) {
	s := &d.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	d.groups.release(u)
	u.done = true
	for s.first < len(d.units) && d.units[s.first].done {
		s.first++
	}
	if !s.alone {
		return
	}

	// A deflate stream copies from the last bytes that were inflated: these stay.
	end := s.next
	if s.first < len(d.units) {
		end = d.units[s.first].Off
	}
	if s.have < len(d.info) {
		end = min(end, s.have-elfx.SlideWindow)
	}
	if end-s.dropped < dropStep {
		return
	}
	if s.buffer != nil {
		s.buffer.Discard(uint64(s.dropped), uint64(end))
	} else if d.file != nil {
		d.file.Section(".debug_info").Discard(uint64(s.dropped), uint64(end))
	}
	s.dropped = end
	s.changed.Broadcast()
}

// Len returns the number of units so far.
func (d *Info) Len() int { return len(d.units) }

// Size returns the number of bytes of .debug_info.
func (d *Info) Size() int { return len(d.info) }

// Err waits for the end of Inflate, and returns its error: that of a checksum comes after the last
// unit. After an error, the units that were read are unusable.
func (d *Info) Err() error {
	s := &d.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.changed.Broadcast()
	for s.buffer != nil && !s.ended {
		s.changed.Wait()
	}
	return s.err
}

// List reads the headers of all units, for references to any of them.
func (d *Info) List(ctx context.Context) error {
	d.stream.mu.Lock()
	defer d.stream.mu.Unlock()
	for {
		more, err := d.readUnit(ctx)
		if !more {
			return err
		}
	}
}

// selfContained reports whether no unit with abbreviations of this section can refer to another
// one (DW_FORM_ref_addr).
func selfContained(abbrev []byte) bool {
	c := wire.New(".debug_abbrev", abbrev, false)
	for c.Len() > 0 {
		if c.ULEB() == 0 {
			continue
		}
		c.SkipLEB() // tag
		c.U8()      // children
		for c.Len() > 0 {
			attr, form := c.ULEB(), c.ULEB()
			switch {
			case form == formRefAddr || form == formIndirect:
				return false
			case form == formImplicitConst:
				c.SkipLEB()
			}
			if attr == 0 && form == 0 {
				break
			}
		}
	}
	return c.Err() == nil
}
