package walk

import (
	"symkit/walk/internal/cpu"
	"symkit/walk/internal/rules"
)

// A frame ends at its CFA, the lowest address that its caller's stack pointer can have. The CFA is
// often known where the return address is not: the stack is cut, the dump lacks a page, or the
// return address was overwritten. What lies below the CFA are then the frame's own variables and
// words that earlier calls left behind, and no technique may take them for the frame's caller.

// extent is what a technique that failed found out about the end of a frame.
type extent struct {
	// least is an address that the caller's stack pointer is above: the frame ends there, and the
	// dump lacks its return address, so that a scan could only find words of other frames. 0:
	// unknown.
	least uint64
	// scan is the address of the first word that a scan may take for a return address; 0: the
	// stack pointer.
	scan uint64
	// lossy: the dump lacks words of this frame or of one that it called.
	lossy bool
}

// reaches records that the frame ends at cfa. lost reports that the dump lacks the word with the
// return address. Otherwise the return address may turn out to be none, and a scan begins at cfa.
func (c *callee) reaches(v *view, cfa uint64, lost bool) {
	if !v.sameMapping(v.SP(c.regs), cfa) {
		return
	}
	if lost {
		c.lossy = true
		c.least = max(c.least, cfa)
	}
	c.scan = max(c.scan, cfa)
}

// loses records that the dump lacks the word at an address, in which the frame saved a register.
func (c *callee) loses(v *view, at uint64) {
	word := v.WordSize()
	c.lossy = c.lossy || v.sameMapping(v.SP(c.regs), at&^(word-1)+word)
}

// ruleExtent records what the rules of a frame say about its end: cfa is the value of the rule
// for the CFA, err that of evaluating the rule for the return address. A return address that was
// read and is no code can also mean that the rules are wrong: those of a frame that a scan found, or
// of the innermost one where they hold only at calls.
func (c *callee) ruleExtent(v *view, rule *rules.Rule, cfa uint64, err error) {
	if !c.follows(v, rule) {
		return
	}
	switch {
	case err == cpu.ErrMemory:
		c.reaches(v, cfa, true)
	case err == rules.ErrUndefined && !v.hasLR(): // a call puts the return address below the CFA
		c.reaches(v, cfa-v.WordSize(), false)
	case err == nil && c.Trust > TrustCFIScan && !(c.Exact && v.CallTables):
		c.reaches(v, cfa, false)
	}
}

// follows reports whether a rule for the CFA can be relied on: a scan recovers only the stack
// pointer, so that other registers may be those of another frame.
func (c *callee) follows(v *view, rule *rules.Rule) bool {
	return c.Trust > TrustCFIScan || !rule.Reads(v.Arch.SP)
}
