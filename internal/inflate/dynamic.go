package inflate

// preOrder is the order in which the lengths of the code length code come
// (RFC 1951 §3.2.7).
var preOrder = [numPreSyms]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamicBlock decodes a block with its own codes (RFC 1951 §3.2.7).
func (d *decoder) dynamicBlock() error {
	d.refill()
	at := d.pos()
	header, err := d.take(14)
	if err != nil {
		return err
	}
	lits, dists, pres := header&31+257, header>>5&31+1, header>>10+4
	if lits > maxLitSyms || dists > maxDistSyms {
		return d.fail(at, ErrCodeCount)
	}

	// The code that the lengths of the other two codes are written in.
	var lengths [numPreSyms]uint8
	for _, sym := range preOrder[:pres] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[sym] = uint8(n)
	}
	if !build(d.pre[:], preBits, lengths[:], preSymbols[:]) {
		return d.fail(at, ErrCodeSet)
	}

	// Both codes.
	all := d.lengths[:lits+dists]
	if err := d.readLengths(all); err != nil {
		return err
	}

	d.fixed = false
	if !build(d.lit[:], litBits, all[:lits], litSymbols[:]) ||
		!build(d.dist[:], distBits, all[lits:], distSymbols[:]) {
		return d.fail(at, ErrCodeSet)
	}
	return d.compressed()
}

// readLengths reads the code lengths of both alphabets, which are one sequence:
// a repeat may reach from the first into the second (RFC 1951 §3.2.7).
func (d *decoder) readLengths(all []uint8) error {
	for i := 0; i < len(all); {
		if d.count < 2*preBits { // a symbol, and how often it repeats
			d.refill()
		}

		at := d.pos()
		e := d.pre[d.bits&(1<<preBits-1)]
		if err := d.check(e); err != nil {
			return err
		}
		d.drop(uint(e & bitsMask))
		sym := e >> valueShift
		if sym < 16 {
			all[i] = uint8(sym)
			i++
			continue
		}

		n, value, err := d.repeat(sym, all[:i])
		if err != nil {
			return err
		}
		if n > len(all)-i || sym == 16 && i == 0 {
			return d.fail(at, ErrRepeat)
		}
		for range n {
			all[i] = value
			i++
		}
	}
	return nil
}

// repeat reads the extra bits of a repeat symbol, and returns the length that the symbol
// repeats and the number of repetitions (RFC 1951 §3.2.7). before are the lengths read so far.
func (d *decoder) repeat(sym uint64, before []uint8) (n int, value uint8, err error) {
	var extra uint
	switch sym {
	case 16:
		extra, err = d.take(2)
		if len(before) > 0 {
			value = before[len(before)-1]
		}
		return int(extra) + 3, value, err
	case 17:
		extra, err = d.take(3)
		return int(extra) + 3, 0, err
	default:
		extra, err = d.take(7)
		return int(extra) + 11, 0, err
	}
}
