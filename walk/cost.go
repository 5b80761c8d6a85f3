package walk

import (
	"sync/atomic"

	"symkit/internal/limitof"
	"symkit/limits"
)

// cost counts the work and memory that symbols cost, of all stacks together: a small dump can
// have half a million frames, and each of them can have the longest rules, functions and chains
// of inlined calls that a symbol file holds. What was kept from an earlier frame costs nothing.
type cost struct {
	limits limits.Limits
	rules  atomic.Int64 // terms of unwind rules
	text   atomic.Int64 // bytes of symbol files that lookups go through
	calls  atomic.Int64 // inlined calls of the places
}

func (c *cost) terms(n int) { c.rules.Add(int64(n)) }

func (c *cost) reset() {
	c.rules.Store(0)
	c.text.Store(0)
	c.calls.Store(0)
}

// over returns the error of the limit that is exceeded, or nil.
func (c *cost) over() error {
	for _, x := range [...]struct {
		limit string
		n     *atomic.Int64
	}{{limitof.RuleTerms, &c.rules}, {limitof.SymbolText, &c.text}, {limitof.InlinedCalls, &c.calls}} {
		if uint64(x.n.Load()) > c.limits.Max(x.limit, 0) {
			return c.limits.Exceeded(x.limit, 0)
		}
	}
	return nil
}
