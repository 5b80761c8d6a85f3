package emit

import (
	"cmp"
	"math"
	"slices"
)

// publicRun is an INFO PUBLIC_SIZES record: the sizes of the PUBLIC records from first to last.
type publicRun struct{ first, last, off uint64 }

// maxRun bounds the sizes in one record, which a lookup reads one by one.
const maxRun = 16 * MaxPublicSizes

// publicSizes notes a PUBLIC_SIZES record, whose fields l has. off is the record's offset.
func (x *Index) publicSizes(l *loose, off uint64) {
	r := publicRun{l.hex(), l.hex(), off}
	if l.bad || r.first > r.last {
		x.markBad(off)
		return
	}
	x.runs = append(x.runs, r)
}

// checkRuns notes the sizes of PUBLIC_SIZES records. Those that do not have one size for each PUBLIC record of their
// range are bad lines: another program may have changed the symbol file.
func (x *Index) checkRuns() {
	slices.SortStableFunc(x.runs, func(a, b publicRun) int { return cmp.Compare(a.first, b.first) })
	last, any := uint64(0), false
	for _, r := range x.runs {
		l := loose{rest: x.line(r.off)}
		for range 4 { // INFO PUBLIC_SIZES FIRST LAST
			l.word()
		}
		n := 0
		for c := l; n <= maxRun && c.word() != nil; {
			n++
		}
		from, to := x.publicsOf(r)
		if to-from != n || n > maxRun || any && r.first <= last {
			x.markBad(r.off)
			continue
		}
		last, any = r.last, true
		if x.known == nil {
			x.known = make([]uint32, len(x.publics))
		}
		for i := from; i < to; i++ {
			size, _ := looseHex(l.word())
			x.known[i] = uint32(min(size, math.MaxUint32))
		}
	}
	x.runs = nil
}

// publicsOf returns the indices of the PUBLIC records of a run.
func (x *Index) publicsOf(r publicRun) (from, to int) {
	to = x.publics.below(r.last)
	if r.first > 0 {
		from = x.publics.below(r.first - 1)
	}
	return from, to
}

// publicSize returns the size of PUBLIC i, or 0 if it is not known.
func (x *Index) publicSize(i int) uint32 {
	switch {
	case x.sizes != nil:
		return x.sizes(x.publics[i].key)
	case x.known != nil:
		return x.known[i]
	}
	return 0
}

// Below returns the start of the last FUNC or PUBLIC at or below addr, whatever its size.
func (x *Index) Below(addr uint64) (start uint64, ok bool) {
	for _, t := range []table{x.funcs, x.publics} {
		n := t.below(addr)
		if n > 0 {
			start, ok = max(start, t[n-1].key), true
		}
	}
	return start, ok
}

// LacksSizes reports whether the file has PUBLIC records and nothing about their sizes.
func (x *Index) LacksSizes() bool { return len(x.publics) > 0 && x.known == nil && x.sizes == nil }

// SetSizes sets the source of the sizes of PUBLIC records for a file that LacksSizes: size returns
// the size of the symbol at an address, or 0 if it is not known. It must not be called at the same
// time as other methods.
func (x *Index) SetSizes(size func(addr uint64) uint32) { x.sizes = size }

// maxEntry bounds the size in bytes of a function without a caller whose parts have their
// own INIT records.
const maxEntry = 128

// public finds the PUBLIC by the rule of Symbol. Of several at one address, the first in
// the file counts.
func (x *Index) public(addr uint64) (Symbol, bool) {
	end := x.publics.below(addr)
	for i := end - 1; i >= 0 && i >= end-lookBack; i-- {
		// Records with one key are in file order: go back to the first.
		for i > 0 && x.publics[i-1].key == x.publics[i].key {
			i--
		}

		// A symbol that lies in another one ends before it.
		key, size := x.publics[i].key, x.publicSize(i)
		switch {
		case size == 0 && i < end-1 && x.publics[end-1].key != key:
			return Symbol{}, false
		case size > 0 && addr-key >= uint64(size):
			continue
		}
		return x.publicAt(i, addr, size)
	}
	return Symbol{}, false
}

// publicAt returns PUBLIC i if addr can be in it.
func (x *Index) publicAt(i int, addr uint64, size uint32) (Symbol, bool) {
	// A record that begins between the PUBLIC and addr ends the PUBLIC.
	key := x.publics[i].key
	if f, ok := x.funcBelow(addr); ok && f >= key {
		return Symbol{}, false
	}
	n := x.inits.below(addr)
	inside := n > 0 && x.inits[n-1].key > key
	if size == 0 && inside && (addr-key > maxEntry || !x.endsAt(addr)) {
		return Symbol{}, false
	}

	off := x.publics[i].off
	l := loose{rest: x.record(off)}
	l.word()
	l.multiple()
	l.hex()
	s := Symbol{Addr: key, Size: size, ParamSize: l.size(), Public: true}
	s.After = size == 0 && addr != key && !inside && !x.sameInit(key, addr)
	s.Calls = []Call{{Func: orOmitted(l.text())}}
	if l.bad {
		x.markBad(off)
		return Symbol{}, false
	}
	return s, true
}

// sameInit reports whether one STACK CFI INIT or STACK WIN record is about both addresses.
func (x *Index) sameInit(a, b uint64) bool {
	_, ok := x.inits.covering(b, func(off uint64) bool {
		_, r, ok := x.initAt(off)
		return ok && a-r.Addr < uint64(r.Size) && b-r.Addr < uint64(r.Size)
	})
	if ok {
		return true
	}
	w, ok := x.Win(b)
	return ok && a-w.Addr < uint64(w.CodeSize)
}
