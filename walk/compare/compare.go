package compare

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind is a kind of difference.
type Kind string

// The kinds of differences, in the order of reports.
const (
	resultLost       Kind = "result-lost"   // only the first directory has the result
	resultGained     Kind = "result-gained" // only the second directory has the result
	crashChanged     Kind = "crash"         // another reason of the crash, or address of the fault
	signatureChanged Kind = "signature"     // another crash signature
	symbolsLost      Kind = "symbols-lost"  // a module has no symbols any more
	symbolsGained    Kind = "symbols-gained"
	threadLost       Kind = "thread-lost" // only the first result has the thread
	threadGained     Kind = "thread-gained"
	lost             Kind = "lost"          // a frame or an inlined call that only the first stack has
	gained           Kind = "gained"        // a frame or an inlined call that only the second stack has
	renamed          Kind = "renamed"       // a frame at the same address, of another function
	trustLowered     Kind = "trust-lowered" // a frame that was found by a less certain technique
	trustRaised      Kind = "trust-raised"  // a frame that was found by a more certain technique
	moved            Kind = "moved"         // a function of the same name that begins elsewhere
	lineChanged      Kind = "line"          // a frame or an inlined call at another line of source code
)

// Kinds returns all kinds, in the order of reports.
func Kinds() []Kind {
	return []Kind{resultLost, resultGained, crashChanged, signatureChanged, symbolsLost, symbolsGained, threadLost, threadGained,
		lost, gained, renamed, trustLowered, trustRaised, moved, lineChanged}
}

// place is the place of a difference.
type place struct {
	Result string // name of the result in its directory; empty for two files
	Thread int    // 0 for differences of no thread
	Frame  int    // number in the first stack, in the second of a frame that was gained; inlined calls count
	Addr   uint64 // 0 for differences of no frame
	// End is the reason why the stack that lacks the frame ends; empty: unknown.
	End string
}

// group stands for equal differences: Count is their number, Example is the first of them.
type group struct {
	Kind          Kind
	Module        string
	Before, After string
	// Scanned: the frame, which only one stack has, was found by scanning and can be wrong.
	Scanned bool
	Count   int
	Example place
}

// Differences collects the differences between pairs of results.
type Differences struct {
	// Results, Threads and Frames count the items that both sides have.
	Results, Threads, Frames int

	groups map[groupKey]*group
	counts map[Kind]int
}

// groupKey is the same for equal differences.
type groupKey struct {
	kind                  Kind
	module, before, after string
	scanned               bool
}

// newDifferences returns a collector without differences.
func newDifferences() *Differences {
	return &Differences{groups: map[groupKey]*group{}, counts: map[Kind]int{}}
}

// Count returns the number of differences of a kind.
func (d *Differences) Count(k Kind) int { return d.counts[k] }

// sorted returns the differences of a kind, the most frequent first.
func (d *Differences) sorted(k Kind) (out []*group) {
	for _, g := range d.groups {
		if g.Kind == k {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After), bools(a.Scanned, b.Scanned))
	})
	return out
}

// bools compares two values: false is first.
func bools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// note adds a difference.
func (d *Differences) note(k Kind, module, before, after string, at place) {
	d.add(groupKey{k, module, before, after, false}, at)
}

func (d *Differences) add(key groupKey, at place) {
	d.counts[key.kind]++
	g := d.groups[key]
	if g == nil {
		g = &group{Kind: key.kind, Module: key.module, Before: key.before, After: key.after, Scanned: key.scanned, Example: at}
		d.groups[key] = g
	}
	g.Count++
}

// compare adds the differences between two results of one crash. name is that of the
// results in their directories.
func (d *Differences) compare(name string, a, b *result) {
	d.Results++
	c := comparer{d: d, at: place{Result: name}, a: a, b: b, ranks: schemaRanks}
	if a.Extended && b.Extended {
		c.ranks = ranks
	}

	if a.Crash != b.Crash {
		d.note(crashChanged, "", orNone(a.Crash), orNone(b.Crash), c.at)
	}
	if a.Signature != b.Signature && a.Signature != "" && b.Signature != "" {
		d.note(signatureChanged, "", a.Signature, b.Signature, c.at)
	}
	c.symbols()
	c.threads()
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// comparer compares two results.
type comparer struct {
	d     *Differences
	a, b  *result
	at    place
	ranks map[string]int
}

// The trusts in ascending order of certainty. A result of another program has only those of
// rust-minidump's schema, where several of ours have one name.
var (
	ranks       = map[string]int{"scan": 1, "cfi_scan": 2, "frame_pointer": 3, "code": 4, "leaf": 5, "signal_frame": 6, "cfi": 7, "context": 8}
	schemaRanks = map[string]int{"scan": 1, "cfi_scan": 2, "frame_pointer": 3, "code": 3, "leaf": 3, "signal_frame": 7, "cfi": 7, "context": 8}
)

// symbols compares which modules have symbols.
func (c *comparer) symbols() {
	var names []string
	for name := range c.a.Symbols {
		names = append(names, name)
	}
	slices.Sort(names)

	// A module that only one result looked for is in no stack of the other.
	for _, name := range names {
		before := c.a.Symbols[name]
		after, known := c.b.Symbols[name]
		switch {
		case !known || before == after:
		case before:
			c.d.note(symbolsLost, name, "", "", c.at)
		default:
			c.d.note(symbolsGained, name, "", "", c.at)
		}
	}
}

// threadKey identifies a thread: ids can occur several times in a damaged dump.
type threadKey struct{ id, nth int }

// threads pairs the threads of both results by their ids.
func (c *comparer) threads() {
	others := map[threadKey]*thread{}
	nth := map[int]int{}
	for i := range c.b.Threads {
		t := &c.b.Threads[i]
		others[threadKey{t.ID, nth[t.ID]}] = t
		nth[t.ID]++
	}

	clear(nth)
	for i := range c.a.Threads {
		t := &c.a.Threads[i]
		key := threadKey{t.ID, nth[t.ID]}
		nth[t.ID]++
		c.at.Thread = t.ID
		other := others[key]
		delete(others, key)
		if other == nil {
			c.d.note(threadLost, "", "", "", c.at)
			continue
		}
		c.d.Threads++
		c.stacks(t, other)
	}

	// A thread of the second result that is still in others has no partner.
	for i := range c.b.Threads {
		t := &c.b.Threads[i]
		for key, other := range others {
			if other == t {
				c.at.Thread = t.ID
				c.d.note(threadGained, "", "", "", c.at)
				delete(others, key)
			}
		}
	}
}

// stacks compares two stacks of one thread. Frames are the same if their addresses are.
func (c *comparer) stacks(a, b *thread) {
	pairs := align(len(a.Frames), len(b.Frames), func(i int) uint64 { return a.Frames[i].Addr }, func(j int) uint64 { return b.Frames[j].Addr })
	before, after := 0, 0 // numbers of the frames, inlined calls included
	for _, p := range pairs {
		c.at.End = ""
		switch {
		case p.b < 0:
			f := &a.Frames[p.a]
			c.alone(lost, f, before, b.End)
			before += 1 + len(f.Inlines)
		case p.a < 0:
			f := &b.Frames[p.b]
			c.alone(gained, f, after, a.End)
			after += 1 + len(f.Inlines)
		default:
			f, g := &a.Frames[p.a], &b.Frames[p.b]
			c.d.Frames++
			c.at.Addr = f.Addr
			c.frames(f, g, before, after)
			before += 1 + len(f.Inlines)
			after += 1 + len(g.Inlines)
		}
	}
	c.at.Frame, c.at.Addr, c.at.End = 0, 0, ""
}

// alone adds a frame that only one stack has, with its inlined calls. end is the reason why
// the other stack ends.
func (c *comparer) alone(k Kind, f *frame, number int, end string) {
	c.at.Addr, c.at.End = f.Addr, end
	for _, in := range f.Inlines {
		c.at.Frame = number
		c.one(k, f, in.Function)
		number++
	}
	c.at.Frame = number
	c.one(k, f, f.name())
}

// one adds a frame or an inlined call that only one stack has.
func (c *comparer) one(k Kind, f *frame, name string) {
	key := groupKey{kind: k, module: f.Module, before: name, scanned: f.Trust == "scan" || f.Trust == "cfi_scan"}
	if k == gained {
		key.before, key.after = "", name
	}
	c.d.add(key, c.at)
}

// name returns the function, or the offset in the module where there is no symbol.
func (f *frame) name() string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Module != "":
		return fmt.Sprintf("+ %#x", f.Offset)
	}
	return fmt.Sprintf("%#x", f.Addr)
}

// frames compares two frames at one address. before and after are their numbers.
func (c *comparer) frames(f, g *frame, before, after int) {
	c.inlines(f, g, before, after)
	c.at.Frame = before + len(f.Inlines)

	switch {
	case f.Module != g.Module || f.Function != g.Function:
		from, to := f.name(), g.name()
		if f.Module != g.Module {
			to = orNone(g.Module) + "!" + to
		}
		c.d.note(renamed, f.Module, from, to, c.at)
	case f.Start != g.Start:
		c.d.note(moved, f.Module, c.start(f), c.start(g), c.at)
	}
	c.source(f.Module, f.Function, f.Source, g.Source)

	// A trust that is unknown here is less certain than any other.
	was, is := c.ranks[f.Trust], c.ranks[g.Trust]
	switch {
	case f.Trust == g.Trust || was == is && was > 0:
	case is < was:
		c.d.note(trustLowered, f.Module, f.Trust, g.Trust, c.at)
	default:
		c.d.note(trustRaised, f.Module, f.Trust, g.Trust, c.at)
	}
}

// start returns the function of f with the place in the module where it begins.
func (c *comparer) start(f *frame) string {
	return fmt.Sprintf("%s at %#x", f.Function, f.Start-f.Addr+f.Offset)
}

// source compares the lines of one function.
func (c *comparer) source(module, function string, a, b source) {
	if a != b {
		c.d.note(lineChanged, module, function+" "+a.String(), b.String(), c.at)
	}
}

// inlines compares the calls inlined into two frames. A lost and a gained call next to each
// other are one that was renamed.
func (c *comparer) inlines(f, g *frame, before, after int) {
	name := func(list []inline) func(int) string { return func(i int) string { return list[i].Function } }
	pairs := align(len(f.Inlines), len(g.Inlines), name(f.Inlines), name(g.Inlines))
	for i := 0; i < len(pairs); i++ {
		p := pairs[i]
		next := pair{-1, -1}
		if i+1 < len(pairs) {
			next = pairs[i+1]
		}

		c.at.Frame = before + p.a
		switch {
		case p.a >= 0 && p.b >= 0:
			c.source(f.Module, f.Inlines[p.a].Function, f.Inlines[p.a].Source, g.Inlines[p.b].Source)
		case p.a >= 0 && next.a < 0 && next.b >= 0:
			c.d.note(renamed, f.Module, f.Inlines[p.a].Function, g.Inlines[next.b].Function, c.at)
			i++
		case p.b >= 0 && next.b < 0 && next.a >= 0:
			c.at.Frame = before + next.a
			c.d.note(renamed, f.Module, f.Inlines[next.a].Function, g.Inlines[p.b].Function, c.at)
			i++
		case p.a >= 0:
			c.d.note(lost, f.Module, f.Inlines[p.a].Function, "", c.at)
		default:
			c.at.Frame = after + p.b
			c.d.note(gained, f.Module, "", g.Inlines[p.b].Function, c.at)
		}
	}
}
