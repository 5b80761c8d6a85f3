package cfi

import "math/bits"

// Bounds of a phrasebook: when it is full, rows that are not in it are put into
// words each time. vmlinux has 900 states and 2,800 phrases.
const (
	maxStates   = 1 << 12
	maxPhrases  = 1 << 14
	maxSaid     = 1 << 20 // bytes of text
	maxRegs     = 32      // of a state
	firstTable  = 1 << 9
	maxProbes   = 8
	hashFactor  = 0x9e3779b97f4a7c15
	hashFactor2 = 0xd6e8feb86659fd93
)

// phrasebook is what a Text has said before. The rows of a program are a few
// hundred states, and what is written where one follows another is the same each
// time: of python3.11's 92,000 rows all but one in a hundred are in the book.
// Rows with expressions, whose text may depend on the PC, are not.
type phrasebook struct {
	states  []state           // from 1 on
	byHash  map[uint64]uint32 // of states
	regs    []RegRule         // of states
	phrases []phrase          // from 1 on
	table   []uint32          // of phrases, by hash; 0 is free
	text    []byte            // of phrases
}

// state is a row without addresses, and the column of the return address.
type state struct {
	cfa        Rule
	ra         Reg
	from, upto uint32 // of phrasebook.regs
}

// phrase is the text of the row next behind the row last, which is 0 where a
// range begins.
type phrase struct {
	hash       uint64 // of next
	last, next uint32 // of phrasebook.states
	from, upto uint32 // of phrasebook.text
}

// hash is that of row's state; ok is false if phrasebooks have no such states.
func (b *phrasebook) hash(row *Row, ra Reg) (h uint64, ok bool) {
	kind := row.CFA.Kind
	h = (uint64(row.CFA.Off) ^ uint64(row.CFA.Kind)<<56 ^ uint64(row.CFA.Reg)<<24 ^ uint64(ra)<<40) * hashFactor
	for i := range row.Regs {
		r := &row.Regs[i]
		kind = max(kind, r.Kind)
		x := uint64(r.Off)*hashFactor2 ^ uint64(r.Reg)<<32 ^ uint64(r.Rule.Reg)<<8 ^ uint64(r.Kind)
		h = (bits.RotateLeft64(h, 29) ^ x) * hashFactor
	}
	return h, kind < KindExpr && len(row.Regs) <= maxRegs
}

// is tells whether state s is that of row.
func (b *phrasebook) is(s uint32, row *Row, ra Reg) bool {
	st := &b.states[s]
	if st.cfa != row.CFA || st.ra != ra || int(st.upto-st.from) != len(row.Regs) {
		return false
	}
	for i, r := range b.regs[st.from:st.upto] {
		if r != row.Regs[i] {
			return false
		}
	}
	return true
}

// slot is where the table begins to look for a phrase.
func (b *phrasebook) slot(hash uint64, last uint32) uint64 {
	return (hash ^ uint64(last)) * hashFactor >> 20 & uint64(len(b.table)-1)
}

// find returns the number of what is said of row, whose hash is given, behind the
// state last, or 0.
func (b *phrasebook) find(hash uint64, last uint32, row *Row, ra Reg) int {
	if len(b.table) == 0 {
		return 0
	}
	at := b.slot(hash, last)
	for range maxProbes {
		n := b.table[at]
		if n == 0 {
			return 0
		}
		if s := &b.phrases[n]; s.hash == hash && s.last == last && b.is(s.next, row, ra) {
			return int(n)
		}
		at = (at + 1) & uint64(len(b.table)-1)
	}
	return 0
}

// state returns the number of row's state, which may be new, or 0 if there is no
// room for it.
func (b *phrasebook) state(hash uint64, row *Row, ra Reg) uint32 {
	if s, ok := b.byHash[hash]; ok {
		if b.is(s, row, ra) {
			return s
		}
		return 0
	}
	if b.byHash == nil {
		b.byHash = map[uint64]uint32{}
		b.states = make([]state, 1)
	}
	if len(b.states) == maxStates {
		return 0
	}
	from := uint32(len(b.regs))
	b.regs = append(b.regs, row.Regs...)
	n := uint32(len(b.states))
	b.states = append(b.states, state{row.CFA, ra, from, uint32(len(b.regs))})
	b.byHash[hash] = n
	return n
}

// learn remembers what is said and returns its number, or 0 if there is no room
// for it.
func (b *phrasebook) learn(hash uint64, last, next uint32, text []byte) int {
	if len(b.phrases) == 0 {
		b.phrases = make([]phrase, 1)
		b.table = make([]uint32, firstTable)
	}
	if len(b.phrases) == maxPhrases || len(b.text) > maxSaid {
		return 0
	}
	if 2*len(b.phrases) > len(b.table) {
		b.grow()
	}
	from := uint32(len(b.text))
	s := phrase{hash, last, next, from, from + uint32(len(text))}
	if !b.place(&s, uint32(len(b.phrases))) {
		return 0
	}
	b.phrases = append(b.phrases, s)
	b.text = append(b.text, text...)
	return len(b.phrases) - 1
}

// place enters a phrase into the table, unless its place is too crowded.
func (b *phrasebook) place(s *phrase, n uint32) bool {
	at := b.slot(s.hash, s.last)
	for range maxProbes {
		if b.table[at] == 0 {
			b.table[at] = n
			return true
		}
		at = (at + 1) & uint64(len(b.table)-1)
	}
	return false
}

// grow makes the table larger. A phrase that finds no place is forgotten.
func (b *phrasebook) grow() {
	b.table = make([]uint32, 2*len(b.table))
	for n := 1; n < len(b.phrases); n++ {
		b.place(&b.phrases[n], uint32(n))
	}
}

// load makes row what state s is.
func (b *phrasebook) load(row *Row, s uint32) {
	st := &b.states[s]
	row.CFA, row.Exprs = st.cfa, nil
	row.Regs = append(row.Regs[:0], b.regs[st.from:st.upto]...)
}
