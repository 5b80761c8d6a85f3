package cfi

import "math/bits"

// Bounds of a ruleCache. A full cache takes no new rows; their text is made each time
// they occur. vmlinux has 900 states and 2,800 texts.
const (
	maxStates    = 1 << 12
	maxTexts     = 1 << 14
	maxTextBytes = 1 << 20 // bytes of text
	maxRegs      = 32      // of a state
	firstTable   = 1 << 9
	maxProbes    = 8
	hashFactor   = 0x9e3779b97f4a7c15
	hashFactor2  = 0xd6e8feb86659fd93
)

// ruleCache maps a pair of rows to the STACK CFI text of their difference. The rows of a
// program have a few hundred states, and the text where one state follows another is
// the same each time: 99 % of python3.11's 92,000 rows are found in the cache. Rows with
// expressions, whose text may depend on the PC, are not cached.
type ruleCache struct {
	states []state           // numbered from 1
	byHash map[uint64]uint32 // of states
	regs   []RegRule         // of all states
	texts  []ruleText        // numbered from 1
	table  []uint32          // numbers of texts by hash; 0 is a free slot
	text   []byte            // of all texts
}

// state is a row without addresses, and the column of the return address.
type state struct {
	cfa        Rule
	ra         Reg
	from, upto uint32 // of ruleCache.regs
}

// ruleText is the text of a row with state next after a row with state last; last is 0
// at the start of a range.
type ruleText struct {
	hash       uint64 // of next
	last, next uint32 // of ruleCache.states
	from, upto uint32 // of ruleCache.text
}

// hash returns the hash of row's state; ok is false if such states are not cached.
func (c *ruleCache) hash(row *Row, ra Reg) (h uint64, ok bool) {
	// The hash covers the CFA rule, the column of the return address, and every register
	// rule in order.
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

// is reports whether state s is the state of row.
func (c *ruleCache) is(s uint32, row *Row, ra Reg) bool {
	st := &c.states[s]
	if st.cfa != row.CFA || st.ra != ra || int(st.upto-st.from) != len(row.Regs) {
		return false
	}

	for i, r := range c.regs[st.from:st.upto] {
		if r != row.Regs[i] {
			return false
		}
	}
	return true
}

// slot returns the first index of the table to probe for a text.
func (c *ruleCache) slot(hash uint64, last uint32) uint64 {
	return (hash ^ uint64(last)) * hashFactor >> 20 & uint64(len(c.table)-1)
}

// find returns the number of the text of row, whose hash is given, after the state last,
// or 0.
func (c *ruleCache) find(hash uint64, last uint32, row *Row, ra Reg) int {
	if len(c.table) == 0 {
		return 0
	}

	// Linear probing: an empty slot ends the search.
	at := c.slot(hash, last)
	for range maxProbes {
		n := c.table[at]
		if n == 0 {
			return 0
		}

		// The hash can collide, so the state is compared.
		if s := &c.texts[n]; s.hash == hash && s.last == last && c.is(s.next, row, ra) {
			return int(n)
		}
		at = (at + 1) & uint64(len(c.table)-1)
	}
	return 0
}

// state returns the number of row's state, which may be new, or 0 if the cache is full.
func (c *ruleCache) state(hash uint64, row *Row, ra Reg) uint32 {
	// Of two states with the same hash, only the first has a number.
	if s, ok := c.byHash[hash]; ok {
		if c.is(s, row, ra) {
			return s
		}
		return 0
	}

	// State 0 means no state, so numbers start at 1.
	if c.byHash == nil {
		c.byHash = map[uint64]uint32{}
		c.states = make([]state, 1)
	}
	if len(c.states) == maxStates {
		return 0
	}

	// All states share one slice of register rules.
	from := uint32(len(c.regs))
	c.regs = append(c.regs, row.Regs...)
	n := uint32(len(c.states))
	c.states = append(c.states, state{row.CFA, ra, from, uint32(len(c.regs))})
	c.byHash[hash] = n
	return n
}

// add adds a text and returns its number, or 0 if the cache is full.
func (c *ruleCache) add(hash uint64, last, next uint32, text []byte) int {
	// Text 0 means no text, so numbers start at 1.
	if len(c.texts) == 0 {
		c.texts = make([]ruleText, 1)
		c.table = make([]uint32, firstTable)
	}
	if len(c.texts) == maxTexts || len(c.text) > maxTextBytes {
		return 0
	}

	// The table stays at most half full, so that few slots are probed.
	if 2*len(c.texts) > len(c.table) {
		c.grow()
	}

	// The text is kept only if the table has a slot for it.
	from := uint32(len(c.text))
	s := ruleText{hash, last, next, from, from + uint32(len(text))}
	if !c.insert(&s, uint32(len(c.texts))) {
		return 0
	}

	c.texts = append(c.texts, s)
	c.text = append(c.text, text...)
	return len(c.texts) - 1
}

// insert enters a text into the table; it returns false if none of the maxProbes slots
// from the text's own on is free.
func (c *ruleCache) insert(s *ruleText, n uint32) bool {
	at := c.slot(s.hash, s.last)
	for range maxProbes {
		if c.table[at] == 0 {
			c.table[at] = n
			return true
		}
		at = (at + 1) & uint64(len(c.table)-1)
	}
	return false
}

// grow doubles the table. A text without a free slot is lost.
func (c *ruleCache) grow() {
	c.table = make([]uint32, 2*len(c.table))
	for n := 1; n < len(c.texts); n++ {
		c.insert(&c.texts[n], uint32(n))
	}
}

// load sets row to state s.
func (c *ruleCache) load(row *Row, s uint32) {
	st := &c.states[s]
	row.CFA, row.Exprs = st.cfa, nil
	row.Regs = append(row.Regs[:0], c.regs[st.from:st.upto]...)
}
