package rank

import (
	"cmp"
	"context"
	"fmt"

	"symkit/check/internal/pcs"
	"symkit/emit"
	"symkit/internal/mem"
)

// Rank is what a symbol file knows of its module. Bytes are bytes of code, each counted once however many records
// cover it. Lines and inlined calls count inside their FUNC alone.
type Rank struct {
	// FunctionBytes is the code that FUNC records cover, NamedBytes that of functions with a name.
	FunctionBytes uint64 `json:"function_bytes"`
	NamedBytes    uint64 `json:"named_bytes"`
	// LineBytes is the code that has a line other than 0. LineRows is the number of stretches with one line: how
	// a tool cuts them into records does not matter.
	LineBytes uint64 `json:"line_bytes"`
	LineRows  uint64 `json:"line_rows"`
	// InlineBytes is the code in inlined calls, InlineRanges the number of stretches of calls of any depth.
	InlineBytes  uint64 `json:"inline_bytes"`
	InlineRanges uint64 `json:"inline_ranges"`
	// RuleBytes is the code that STACK CFI and STACK WIN records cover, of functions or not.
	RuleBytes uint64 `json:"rule_bytes"`
	// Publics is the number of addresses with a PUBLIC record that no FUNC covers.
	Publics uint64 `json:"publics"`
}

// Of reads a symbol file once. Records that the strict reader of package emit rejects do not count. The error reports
// a text without a MODULE record in its first line, memory of a file that was truncated, or the end of ctx. The memory
// is at most a few times that of the text, and mostly a hundredth.
func Of(ctx context.Context, sym []byte) (r Rank, err error) {
	guarded := mem.Guard(func() error {
		c := counter{}
		err = c.read(ctx, sym)
		r = c.rank()
		return nil
	})
	err = cmp.Or(guarded, err)
	if err != nil {
		return Rank{}, err
	}
	return r, nil
}

// counter counts while the records are read.
type counter struct {
	r                                   Rank
	funcs, named, lines, inlines, rules pcs.Set // as they come, joined where they touch
	publics                             []address

	in   pcs.Range // of the FUNC
	last emit.Line // of the FUNC
}

// address is the address of a PUBLIC record.
type address struct{ pcs.Range }

// checkEvery is the number of records after which the context is asked.
const checkEvery = 1 << 14

// read counts the records of a symbol file.
func (c *counter) read(ctx context.Context, sym []byte) error {
	records := 0
	module := false
	for rec, err := range emit.NewReader(sym).Records() {
		records++
		if records%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case err != nil && !module:
			return fmt.Errorf("not a symbol file: %w", err)
		case err != nil:
			continue
		}
		module = true // the strict reader accepts no other record as the first
		c.add(rec)
	}
	return nil
}

// add counts a record.
func (c *counter) add(rec emit.Record) {
	switch r := rec.(type) {
	case *emit.Func:
		c.in, c.last = span(r.Addr, r.Size), emit.Line{}
		join(&c.funcs, c.in)
		if !nameless(r.Name) {
			join(&c.named, c.in)
		}
	case *emit.Line:
		c.line(r)
	case *emit.Inline:
		c.inline(r)
	case *emit.Public:
		c.publics = append(c.publics, address{pcs.Range{Lo: r.Addr, Hi: r.Addr + 1}})
	case *emit.StackCFIInit:
		join(&c.rules, span(r.Addr, r.Size))
	case *emit.StackWin:
		join(&c.rules, span(r.Addr, r.CodeSize))
	}
}

// line counts a line record. A row continues the one before if they touch and have one line.
func (c *counter) line(r *emit.Line) {
	covered := c.clip(r.Addr, r.Size)
	if r.Line == 0 || covered.Lo == covered.Hi {
		return
	}
	before := &c.last
	if before.Size == 0 || r.Addr != before.Addr+uint64(before.Size) || r.Line != before.Line || r.File != before.File {
		c.r.LineRows++
	}
	c.last = *r
	join(&c.lines, covered)
}

// inline counts an INLINE record. Ranges of the record that touch are one stretch.
func (c *counter) inline(r *emit.Inline) {
	var end uint64
	for i, x := range r.Ranges {
		covered := c.clip(x.Addr, x.Size)
		if covered.Lo == covered.Hi {
			continue
		}
		if i == 0 || covered.Lo != end {
			c.r.InlineRanges++
		}
		end = covered.Hi
		join(&c.inlines, covered)
	}
}

// clip returns the part of a range that is in the FUNC, empty if none is.
func (c *counter) clip(addr uint64, size uint32) pcs.Range {
	x := span(addr, size)
	x.Lo, x.Hi = max(x.Lo, c.in.Lo), min(x.Hi, c.in.Hi)
	x.Hi = max(x.Lo, x.Hi)
	return x
}

// rank returns the result after the last record.
func (c *counter) rank() Rank {
	c.funcs = pcs.Union(c.funcs)
	c.r.FunctionBytes = c.funcs.Size()
	c.r.NamedBytes = pcs.Union(c.named).Size()
	c.r.LineBytes = pcs.Union(c.lines).Size()
	c.r.InlineBytes = pcs.Union(c.inlines).Size()
	c.r.RuleBytes = pcs.Union(c.rules).Size()

	c.publics = pcs.Sorted(c.publics)
	for i := range c.publics {
		at := c.publics[i].Lo
		if (i == 0 || at != c.publics[i-1].Lo) && !c.funcs.Contains(at) {
			c.r.Publics++
		}
	}
	return c.r
}

// span returns the addresses of a record.
func span(addr uint64, size uint32) pcs.Range { return pcs.Range{Lo: addr, Hi: addr + uint64(size)} }

// join adds a range to a set that pcs.Union sorts later. Ranges that touch are joined at once, so that the set stays
// small.
func join(set *pcs.Set, x pcs.Range) {
	n := len(*set) - 1
	if n >= 0 && x.Lo >= (*set)[n].Lo && x.Lo <= (*set)[n].Hi {
		(*set)[n].Hi = max((*set)[n].Hi, x.Hi)
		return
	}
	*set = append(*set, x)
}

// nameless reports whether a FUNC has a text in place of a name. An empty name is no record.
func nameless(name []byte) bool {
	switch string(name) {
	case "<name omitted>", "<unknown>", "<unknown function>", "??", "unknown":
		return true
	}
	return false
}
