package inflate

import "symkit/located"

// slow decodes symbols one by one and checks every bound. It is used near the ends of
// input and output, and for symbols that fast does not decode. It stops at the end of
// the block (done), if a chunk is full, and as soon as fast can take over.
func (d *decoder) slow() (done bool, err error) {
	for {
		d.refill()
		e := lookup(d.lit[:], litBits, d.bits)
		switch {
		case e&entryLiteral != 0:
			err = d.literal(e)
		case e&entryEnd != 0 && uint(e&bitsMask) <= d.count:
			d.drop(uint(e & bitsMask))
			return true, nil
		default:
			err = d.match(e)
		}

		if err != nil {
			return false, err
		}
		if d.out-d.final >= chunk || d.hasMargins() {
			return false, nil
		}
	}
}

// lookup returns the entry for the next bits.
func lookup(table []uint64, width int, bits uint64) uint64 {
	e := table[bits&(1<<width-1)]
	if e&entrySub != 0 {
		sub := e >> codeShift & codeMask
		e = table[e>>valueShift+bits>>width&(1<<sub-1)]
	}
	return e
}

// literal writes the byte of an entry.
func (d *decoder) literal(e uint64) error {
	n := uint(e & bitsMask)
	switch {
	case n > d.count:
		return d.fail(len(d.src), located.ErrTruncated)
	case d.out == len(d.dst):
		return d.fail(d.pos(), ErrTooLong)
	}

	d.dst[d.out] = byte(e >> valueShift)
	d.out++
	d.drop(n)
	return nil
}

// match reads the length, whose entry is e, and the distance, and copies the match
// (RFC 1951 §3.2.5).
func (d *decoder) match(e uint64) error {
	at := d.pos()
	length, err := d.value(e)
	if err != nil {
		return err
	}

	d.refill()
	atDist := d.pos()
	distance, err := d.value(lookup(d.dist[:], distBits, d.bits))
	switch {
	case err != nil:
		return err
	case distance > d.out:
		return d.fail(atDist, ErrDistance)
	case length > len(d.dst)-d.out:
		return d.fail(at, ErrTooLong)
	}

	// Byte by byte, because the match may overlap its own output.
	for range length {
		d.dst[d.out] = d.dst[d.out-distance]
		d.out++
	}
	return nil
}

// value consumes the code and the extra bits of a length or distance.
func (d *decoder) value(e uint64) (int, error) {
	if err := d.check(e); err != nil {
		return 0, err
	}

	n := uint(e & bitsMask)
	extra := d.bits & (1<<n - 1) >> (e >> codeShift & codeMask)
	d.drop(n)
	return int(e>>valueShift) + int(extra), nil
}

// check returns an error if the input ends within the bits of entry e, or if e stands
// for no code or for a reserved symbol.
func (d *decoder) check(e uint64) error {
	switch {
	case uint(e&bitsMask) > d.count || d.count == 0:
		return d.fail(len(d.src), located.ErrTruncated)
	case e&entryStop == 0:
		return nil
	case e&bitsMask != 0:
		return d.fail(d.pos(), ErrSymbol)
	}
	return d.fail(d.pos(), ErrCode)
}
