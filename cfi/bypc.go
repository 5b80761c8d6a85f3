package cfi

import "bytes"

const (
	// MaxByPC is what Text.ByPC begins with: enough for a PLT of some hundred
	// slots, and little enough for a forged section of nothing but such rows.
	MaxByPC = 1 << 16
	// byPCBytes is how much text costs as much as a PC.
	byPCBytes = 8
	// maxByPCExpr bounds the expressions, in bytes: ten times those of a PLT, which have 14 at most.
	maxByPCExpr = 160
	// otherLoad is how far a module could be loaded from where it is linked to:
	// a multiple of every page size.
	otherLoad = 1 << 28
)

// outcome is what rules has made of a row at one PC.
type outcome struct {
	why        Reason
	from, upto int // its text in the buffer
}

// byPC writes row as one range for each stretch of PCs at which it says the
// same, the PC being a number in its expressions. It does nothing and returns
// false if ByPC does not suffice, or the row would say something else if the module were
// loaded at another address.
func (t *Text) byPC(row *Row) bool {
	if row.End-row.Begin > uint64(t.ByPC) {
		return false
	}
	from, all, recs, open := len(t.buf), t.Stats, len(t.recs), t.open
	var last outcome
	for pc := row.Begin; pc < row.End; pc++ {
		stats := t.Stats
		now, ok := t.anywhere(row, pc)
		t.ByPC = max(t.ByPC-1-(now.upto-now.from)/byPCBytes, 0)
		switch {
		case !ok || t.ByPC == 0:
			t.buf, t.Stats, t.recs, t.open = t.buf[:from], all, t.recs[:recs], open
			return false
		case pc > row.Begin && t.same(last, now):
			t.buf, t.Stats = t.buf[:now.from], stats
		default:
			if last = now; now.why == expressed {
				t.recs = append(t.recs, record{addr: pc, from: now.from, upto: now.upto})
			}
		}
		if last.why == expressed {
			t.recs[len(t.recs)-1].size++
		}
	}
	t.open = false
	return true
}

// anywhere makes the rules of row at one PC; ok is false if they are others
// where the module is loaded elsewhere.
func (t *Text) anywhere(row *Row, pc uint64) (o outcome, ok bool) {
	stats := t.Stats
	o = t.at(row, pc)
	t.Stats = stats
	ok = t.same(o, t.at(row, pc+otherLoad))
	t.buf = t.buf[:o.upto]
	return o, ok
}

// at makes all rules of row at one PC.
func (t *Text) at(row *Row, pc uint64) (o outcome) {
	t.open = false
	t.exprs.known, t.exprs.pc = true, pc
	o.from = len(t.buf)
	if o.why = t.rules(row); o.why != expressed {
		t.buf = t.buf[:o.from]
		t.Stats[o.why]++
	}
	t.exprs.known = false
	o.upto = len(t.buf)
	return o
}

func (t *Text) same(a, b outcome) bool {
	return a.why == b.why && bytes.Equal(t.buf[a.from:a.upto], t.buf[b.from:b.upto])
}
