package cfi

import "bytes"

// Record is one STACK CFI line without its keywords and numbers: an INIT record with its
// size, or, with Size 0, a later row of the same range.
type Record struct {
	Addr, Size uint64
	// Rules aliases the Text's buffer and is valid until its Reset.
	Rules []byte
	// Number is 0 or the number of the rules: all records of one Text with the same
	// Number have the same rules. Numbers are small.
	Number int
}

// Init reports whether r is an INIT record.
func (r *Record) Init() bool { return r.Size > 0 }

// Reset drops the records, and keeps Stats and the storage.
func (t *Text) Reset() {
	t.open = false
	t.recs, t.buf = t.recs[:0], t.buf[:0]
}

// Begin ends the current range, so that the next row starts with an INIT record: between
// two FDEs, or two sources of rows. ra is the column of the return address of the
// following rows.
func (t *Text) Begin(ra Reg) {
	t.open = false
	t.ra, t.column = ra, ra
}

// Add appends row. Rows come in the order of their addresses; a row that does not start
// at the end of the last row starts with an INIT record.
func (t *Text) Add(row *Row) {
	if row.Begin >= row.End {
		return
	}

	// A gap, or another column of the return address, ends the range.
	ra := t.arch.ReturnColumn(t.column, row)
	t.open = t.open && row.Begin == t.end && ra == t.ra
	t.ra = ra
	last := uint32(0)
	if t.open {
		last = t.state
	}

	// The text of most rows is in the cache.
	hash, cacheable := t.cache.hash(row, t.ra)
	known := cacheable && (last > 0 || !t.open)
	if known {
		if n := t.cache.find(hash, last, row, t.ra); n > 0 {
			text := &t.cache.texts[n]
			t.record(row, int(text.from), int(text.upto), n)
			t.state = text.next
			return
		}
	}

	// Any other row is compared with the last one.
	if last > 0 {
		t.cache.load(&t.prev, last)
	}

	from, stats := len(t.buf), t.Stats
	t.state = 0
	if !t.transition(row) {
		return
	}

	// A text with a loss is not cached, so that the loss is counted at each row.
	number := 0
	if cacheable {
		t.state = t.cache.state(hash, row, t.ra)
	}
	if known && t.state > 0 && t.Stats == stats {
		number = t.cache.add(hash, last, t.state, t.buf[from:])
	}

	if number > 0 {
		text := &t.cache.texts[number]
		t.record(row, int(text.from), int(text.upto), number)
	} else {
		t.record(row, from, len(t.buf), 0)
	}

	t.prev.CFA, t.prev.Exprs = row.CFA, row.Exprs
	t.prev.Regs = append(t.prev.Regs[:0], row.Regs...)
}

// transition appends the text of row for one record. The result is false if row has no
// text, or if byPC has written row as several records.
func (t *Text) transition(row *Row) bool {
	from, stats := len(t.buf), t.Stats
	t.needPC = false
	why := t.rules(row)

	// A rule depends on the PC: try each PC, or else count the loss.
	if t.needPC {
		t.buf, t.Stats = t.buf[:from], stats
		if t.byPC(row) {
			return false
		}
		why = t.rules(row)
	}

	// Without CFA or return address, the row ends the range and has no record.
	if why != expressed {
		t.Stats[why]++
		t.buf, t.open = t.buf[:from], false
		return false
	}
	return true
}

// record adds the record of row. If number is not 0, from and upto locate the text in the
// cache, else in buf.
func (t *Text) record(row *Row, from, upto, number int) {
	// A row without changes only extends the range.
	switch {
	case !t.open:
		t.init = len(t.recs)
		t.recs = append(t.recs, record{row.Begin, row.End - row.Begin, from, upto, number})
	case upto > from:
		t.recs = append(t.recs, record{row.Begin, 0, from, upto, number})
	}

	t.open, t.end = true, row.End
	t.recs[t.init].size = row.End - t.recs[t.init].addr
}

// Len returns the number of records since Reset.
func (t *Text) Len() int { return len(t.recs) }

// Record returns record i.
func (t *Text) Record(i int) Record {
	r := &t.recs[i]
	buf := t.buf
	if r.number > 0 {
		buf = t.cache.text
	}
	return Record{r.addr, r.size, buf[r.from:r.upto:r.upto], r.number}
}

// Expressible reports whether a record can cover the PCs of row: whether postfix can
// express the CFA and the return address in column ra.
func (t *Text) Expressible(ra Reg, row *Row) bool {
	from, was := len(t.buf), t.ra
	ra = t.arch.ReturnColumn(ra, row)
	t.ra = ra
	why := t.cfa(row)
	if why == expressed {
		why = t.returnAddress(row, row.Rule(ra))
	}

	t.buf, t.ra = t.buf[:from], was
	return why == expressed
}

// rules appends the rules of row that differ from those of the open range.
func (t *Text) rules(row *Row) Reason {
	from := len(t.buf)
	if !t.open || !t.inForce(t.prev.CFA, row, row.CFA) {
		if why := t.cfa(row); why != expressed {
			return why
		}
	}

	// The return address comes after the CFA, before all registers.
	ra, before := row.Rule(t.ra), Rule{}
	if t.open {
		before = t.prev.Rule(t.ra)
	}
	if !t.open || !t.inForce(before, row, ra) {
		if why := t.returnAddress(row, ra); why != expressed {
			return why
		}
	}

	// The other registers follow in the order of their names.
	t.diff(row)
	for i := range t.changes {
		t.register(row, &t.changes[i].RegRule)
	}
	if len(t.buf) > from {
		t.buf = t.buf[:len(t.buf)-1] // the last separator
	}
	return expressed
}

// diff collects the changed rules of all registers but the return address, sorted by
// name.
func (t *Text) diff(row *Row) {
	t.changes = t.changes[:0]
	old := t.prev.Regs
	if !t.open {
		old = nil
	}

	// Both lists ascend by register, so one pass merges them.
	now := row.Regs
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Reg < now[0].Reg:
			if old[0].Kind != KindSame || old[0].Reg == t.arch.SP {
				t.change(RegRule{Reg: old[0].Reg})
			}
			old = old[1:]
		case len(old) == 0 || now[0].Reg < old[0].Reg:
			t.change(now[0])
			now = now[1:]
		default:
			if !t.inForce(old[0].Rule, row, now[0].Rule) {
				t.change(now[0])
			}
			old, now = old[1:], now[1:]
		}
	}

	// Without a rule, readers take the stack pointer for the CFA. On s390 the two differ, so
	// INIT has the rule.
	if a := t.arch; !t.open && a.SPOffset != 0 && row.Rule(a.SP).Kind == KindNone {
		t.change(RegRule{Reg: a.SP})
	}
}

func (t *Text) change(r RegRule) {
	switch {
	case r.Reg == t.ra:
		return
	case t.arch.RegName(r.Reg) == "":
		t.Stats[UnnamedRegister]++
		return
	}

	// Insertion sort by rank: a row changes few registers.
	rank := t.arch.order[r.Reg]
	i := len(t.changes)
	t.changes = append(t.changes, change{})
	for ; i > 0 && t.changes[i-1].rank > rank; i-- {
		t.changes[i] = t.changes[i-1]
	}

	t.changes[i] = change{rank, r}
}

// inForce reports whether rule now of row has the same meaning as rule before of the last
// row.
func (t *Text) inForce(before Rule, row *Row, now Rule) bool {
	if now.Kind >= KindExpr && now.Kind == before.Kind {
		return bytes.Equal(row.Expr(now), t.prev.Expr(before))
	}
	return now == before
}
