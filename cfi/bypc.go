package cfi

import "bytes"

// outcome is the text of a row's rules at one PC, or the reason why there is none.
type outcome struct {
	why        Reason
	from, upto int // the text's range in Text.buf
}

// byPC writes row as one range for each run of PCs with the same text; the PC is a number
// in the row's expressions. byPC writes nothing and returns false if ByPC does not
// suffice, or if the text would differ for a module at another load address.
func (t *Text) byPC(row *Row) bool {
	if row.End-row.Begin > uint64(t.ByPC) {
		return false
	}

	// The state before the row, for the case that the row cannot be written.
	from, statsBefore, recs, open := len(t.buf), t.Stats, len(t.recs), t.open
	var last outcome

	// Each PC either extends the last range or starts the next one.
	for pc := row.Begin; pc < row.End; pc++ {
		stats := t.Stats
		now, ok := t.anywhere(row, pc)
		t.ByPC = max(t.ByPC-1-(now.upto-now.from)/byPCBytes, 0)
		switch {
		case !ok || t.ByPC == 0:
			t.buf, t.Stats, t.recs, t.open = t.buf[:from], statsBefore, t.recs[:recs], open
			return false
		case pc > row.Begin && t.same(last, now):
			t.buf, t.Stats = t.buf[:now.from], stats
		default:
			last = now
			if now.why == expressed {
				t.recs = append(t.recs, record{addr: pc, from: now.from, upto: now.upto})
			}
		}

		// A PC whose rules have no text is in no record.
		if last.why == expressed {
			t.recs[len(t.recs)-1].size++
		}
	}

	// The next row starts with INIT: the last text is that of one PC only.
	t.open = false
	return true
}

// anywhere appends the rules of row at one PC; ok is false if the rules depend on the
// module's load address.
func (t *Text) anywhere(row *Row, pc uint64) (o outcome, ok bool) {
	// The text at another load address must be the same. Only one of the two attempts is
	// counted.
	stats := t.Stats
	o = t.at(row, pc)
	t.Stats = stats
	ok = t.same(o, t.at(row, pc+otherLoad))
	t.buf = t.buf[:o.upto]
	return o, ok
}

// at appends all rules of row at one PC.
func (t *Text) at(row *Row, pc uint64) (o outcome) {
	// With open false, rules writes all rules of the row.
	t.open = false
	t.exprs.known, t.exprs.pc = true, pc
	o.from = len(t.buf)
	o.why = t.rules(row)
	if o.why != expressed {
		t.buf = t.buf[:o.from]
		t.Stats[o.why]++
	}

	t.exprs.known = false
	o.upto = len(t.buf)
	return o
}

// same reports whether two outcomes have the same reason and text.
func (t *Text) same(a, b outcome) bool {
	return a.why == b.why && bytes.Equal(t.buf[a.from:a.upto], t.buf[b.from:b.upto])
}
