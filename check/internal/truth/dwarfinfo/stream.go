package dwarfinfo

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"symkit/elfx"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/par"
	"symkit/internal/wire"
)

// maxEmpty bounds the units of length 0, which are padding at best: a section of zeros is damaged.
const maxEmpty = 64

// dropStep is the least number of bytes that are released at a time.
const dropStep = 1 << 20

// Units calls work for each i in [0, jobs), all at the same time. Each unit that can have code is in
// one of the sequences, where it is valid until the next one. After damage in a header there are no
// further units. If .debug_info cannot be inflated, the error is unreadable, and nothing that was read
// counts.
func (d *Info) Units(ctx context.Context, jobs int, work func(i int, units iter.Seq[*Unit]) error) (damage, unreadable, err error) {
	if d.stream.size > 0 {
		d.stream.buffer = mem.NewBuffer(d.stream.size)
		defer d.stream.buffer.Release()
		d.info = d.stream.buffer.Bytes()
	}

	flow := make(chan *Unit, jobs)
	sending, stop := context.WithCancel(ctx)
	defer stop()
	err = par.For(ctx, jobs+1, jobs+1, func(i int) error {
		if i == 0 {
			defer close(flow)
			damage, unreadable = d.send(sending, flow)
			return nil
		}

		// A worker ends after the last unit was sent, unless it has failed: the sender must not wait
		// for it then.
		defer stop()
		return work(i-1, func(yield func(*Unit) bool) {
			for u := range flow {
				more := yield(u)
				d.done(u)
				if !more {
					return
				}
			}
		})
	})
	return damage, unreadable, err
}

// send inflates .debug_info, if it is not in memory yet, and sends its units. damage is the error of a
// header, err that of the section.
func (d *Info) send(ctx context.Context, flow chan<- *Unit) (damage, err error) {
	s := &d.stream
	if !s.alone {
		damage = d.List(ctx)
		for _, u := range d.units {
			send(ctx, flow, u)
		}
		return damage, nil
	}
	if s.buffer == nil {
		return d.sendUnits(ctx, flow, len(d.info)), nil
	}

	err = d.file.Section(".debug_info").Stream(1, func(_ []byte, done int) ([]byte, int) {
		damage = cmp.Or(damage, d.sendUnits(ctx, flow, done))
		return d.info, done
	})
	return cmp.Or(damage, d.sendUnits(ctx, flow, len(d.info))), err
}

// sendUnits sends the units of which all bytes are below have.
func (d *Info) sendUnits(ctx context.Context, flow chan<- *Unit, have int) error {
	for ctx.Err() == nil {
		before := len(d.units)
		more, err := d.readUnit(have)
		if !more {
			return err
		}
		if len(d.units) > before {
			send(ctx, flow, d.units[before])
		}
	}
	return nil
}

// send sends a unit, unless nobody receives it any more.
func send(ctx context.Context, flow chan<- *Unit, u *Unit) {
	select {
	case flow <- u:
	case <-ctx.Done():
	}
}

// readUnit reads the header of the next unit, and appends the unit to d.units if it can have code. It
// returns false at the end, and if the unit reaches beyond the bytes that have been inflated.
func (d *Info) readUnit(have int) (more bool, err error) {
	s := &d.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	s.have = have
	if s.next >= len(d.info) || len(d.units) >= d.limits.Int(limitof.CheckUnits) || !d.complete() {
		return false, nil
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

// complete reports whether the next unit has been inflated.
func (d *Info) complete() bool {
	s := &d.stream
	if s.have == len(d.info) {
		return true
	}

	// A unit begins with its length.
	const length = 12
	if s.have-s.next < length {
		return false
	}
	c := wire.New(".debug_info", d.info, d.bigEndian)
	c.Seek(uint64(s.next))
	n, _ := c.InitialLength()
	return n <= uint64(s.have-c.Pos())
}

// done ends the use of a unit. Names that were read of the unit stay valid.
func (d *Info) done(u *Unit) {
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
}

// Len returns the number of units so far.
func (d *Info) Len() int { return len(d.units) }

// List reads the headers of all units, for references to any of them.
func (d *Info) List(ctx context.Context) error {
	for ctx.Err() == nil {
		more, err := d.readUnit(len(d.info))
		if !more {
			return err
		}
	}
	return context.Cause(ctx)
}
