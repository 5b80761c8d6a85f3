package report

import (
	"fmt"
	"strings"

	"symkit/internal/page"
	"symkit/internal/quantity"
	"symkit/lookup/source"
	"symkit/walk"
	"symkit/walk/internal/shown"
)

// groupView is one or more threads whose stacks are equal.
type groupView struct {
	Title   string
	Waits   string // the function that the threads are in, and its caller
	Threads []threadView
	Chunks  chunkList
	Frames  int // of the first stack
	Least   int // frames of the shortest stack
	Most    int // and of the longest
	Left    int // frames that the page does not have
	End     string
	Done    bool // the stack ends with the outermost function
	Known   bool // some frame has a name
}

// threadView is a thread of a group.
type threadView struct {
	ID     int
	Name   string
	Number int
}

// chunkList is the lists of a stack. Of a long stack only the head is open.
type chunkList [][]itemView

// Head returns what is open.
func (c chunkList) Head() chunkList {
	const open = 2
	if len(c) > open {
		return c[:1]
	}
	return c
}

// Tail returns what is folded.
func (c chunkList) Tail() chunkList { return c[len(c.Head()):] }

// Items returns the number of frames and folded recursions.
func (c chunkList) Items() (n int) {
	for _, items := range c {
		n += len(items)
	}
	return n
}

// itemView is a frame, or a run of frames that repeat.
type itemView struct {
	Frame  *frameView
	Repeat *repeatView
}

// repeatView is the rest of a recursion: the frames before it, over and over.
type repeatView struct {
	Period, Times int
	First, Last   int
	Chunks        chunkList
}

// frameView is a frame, derived from its JSON.
type frameView struct {
	*jsonFrame
	Rows      []rowView // inlined calls, the innermost first, then the function
	Trust     *trustView
	Details   bool
	Registers []walk.NamedRegister
	Memory    string // a hex dump of the frame's stack
	Pointers  []pointerView
	Digits    int
}

// rowView is a function of a frame.
type rowView struct {
	Func    string
	Module  string
	Offset  string
	File    string
	Short   string // the file's base name
	Line    uint32
	Link    string
	Inlined bool
	Unnamed bool            // Func is an address
	Folded  bool            // the row unfolds the details, which have the link
	Code    *source.Excerpt // the lines around, in the details
}

// pointerView is a word of the stack that points to a function.
type pointerView struct{ At, Value, Func string }

// top returns the function that the stack ends in: the innermost inlined call.
func (g *groupView) top() *rowView { return &g.Chunks[0][0].Frame.Rows[0] }

// equalStacks groups the stacks of threads that did not crash: those with the same code
// addresses are one group, at the place of the first. A recursion has any depth.
func equalStacks(r *walk.Result) (groups [][]*walk.Stack) {
	index := map[string]int{}
	var key strings.Builder
	crashed := r.Crashed()
	for _, s := range shown.Ordered(r) {
		if crashed >= 0 && s == &r.Stacks[crashed] {
			continue
		}

		key.Reset()
		writeKey(&key, s)
		i, known := index[key.String()]
		if !known {
			i = len(groups)
			index[key.String()] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// writeKey writes the address and trust of each frame, of a recursion only the innermost round, and
// the end. So a stack that is in the first round has the key of those that are deeper.
func writeKey(key *strings.Builder, s *walk.Stack) {
	for i := 0; i < len(s.Frames); {
		period, times := recursion(s.Frames[i:])
		for k := range period {
			fmt.Fprintf(key, "%x/%d ", s.Frames[i+k].PC, s.Frames[i+k].Trust)
		}
		i += period * times
	}
	fmt.Fprint(key, s.End)
}

// recursion returns how many functions at the start of a stack repeat, and how many times they are
// there: one frame, once, if none repeats. Unlike in repeats, two rounds are enough, and the calls of a
// function may be at different addresses: the innermost round calls what is outside of the recursion.
func recursion(frames []walk.Frame) (period, times int) {
	for period = 1; period <= min(maxPeriod, len(frames)/2); period++ {
		run := 0
		for run+period < len(frames) && sameFunc(&frames[run], &frames[run+period]) {
			run++
		}
		if run >= period {
			return period, run/period + 1
		}
	}
	return 1, 1
}

// sameFunc reports whether two frames are of one function.
func sameFunc(a, b *walk.Frame) bool {
	if a.Place.Func == "" || b.Place.Func == "" {
		return a.PC == b.PC
	}
	return a.Module == b.Module && a.Place.FuncAddr == b.Place.FuncAddr && a.Place.Func == b.Place.Func
}

// group returns the view of threads with equal stacks. The stack is that of the first.
func (b *pageBuilder) group(stacks []*walk.Stack, crashed bool) *groupView {
	s := stacks[0]
	g := &groupView{Frames: len(s.Frames), End: s.End, Done: s.Complete}
	g.Least, g.Most = g.Frames, g.Frames
	for _, s := range stacks {
		g.Least, g.Most = min(g.Least, len(s.Frames)), max(g.Most, len(s.Frames))
		g.Threads = append(g.Threads, threadView{s.Thread.ID, s.Thread.Name, b.number[s.Thread]})
	}

	g.Title = fmt.Sprintf("Thread %d", s.Thread.ID)
	if s.Thread.Name != "" {
		g.Title += " " + s.Thread.Name
	}
	if len(stacks) > 1 {
		g.Title = quantity.Count(len(stacks), "thread", "threads") + " wait here"
	}

	items := b.items(s, crashed)
	g.Left = b.leftOf(s, items)
	g.Chunks = chunks(items)
	for i := range s.Frames {
		g.Known = g.Known || s.Frames[i].Place.Func != ""
	}
	g.Waits = waits(items)
	return g
}

// leftOf counts the frames of s that are not among its items.
func (b *pageBuilder) leftOf(s *walk.Stack, items []itemView) int {
	shown := 0
	for i := range items {
		if r := items[i].Repeat; r != nil {
			for _, c := range r.Chunks {
				shown += len(c)
			}
		} else {
			shown++
		}
	}

	b.left += len(s.Frames) - shown
	return len(s.Frames) - shown
}

// waits returns the innermost function of a stack and the first one of another module,
// which is closer to the reason why the thread is there.
func waits(items []itemView) string {
	var first, second string
	var module string
	for i := range items {
		f := items[i].Frame
		if f == nil {
			continue
		}

		row := &f.Rows[len(f.Rows)-1]
		switch {
		case first == "":
			first, module = row.Func, row.Module
		case second == "" && row.Module != module && !row.Unnamed:
			second = row.Func
		}
	}
	if second != "" {
		first += " ← " + second
	}
	return first
}

// chunkSize is the number of frames of a list. A browser lays out only the lists that are
// seen.
const chunkSize = 50

// chunks divides items into lists.
func chunks(items []itemView) (out [][]itemView) {
	for len(items) > 0 {
		n := min(len(items), chunkSize)
		out = append(out, items[:n])
		items = items[n:]
	}
	return out
}

// items returns the frames of a stack, with recursions folded, as far as the page has
// space for them.
func (b *pageBuilder) items(s *walk.Stack, crashed bool) (out []itemView) {
	for i := 0; i < len(s.Frames) && b.budget > 0; {
		period, times := repeats(s.Frames[i:])
		if times == 0 {
			out = append(out, itemView{Frame: b.frame(s, i, crashed)})
			i++
			continue
		}

		// The first round is shown, and the others are folded.
		for range period {
			out = append(out, itemView{Frame: b.frame(s, i, crashed)})
			i++
		}
		r := &repeatView{Period: period, Times: times - 1, First: i, Last: i + period*(times-1) - 1}
		out = append(out, itemView{Repeat: r})
		var inner []itemView
		for ; i <= r.Last && b.budget > 0; i++ {
			inner = append(inner, itemView{Frame: b.plainFrame(s, i)})
		}
		r.Chunks = chunks(inner)
		i = r.Last + 1
	}
	return out
}

// Limits of a recursion that is folded.
const (
	maxPeriod  = 40 // frames that repeat
	minRepeats = 3
	minFolded  = 12 // frames of all rounds
)

// repeats returns how many frames at the start of a stack repeat, and how many times they
// are there; 0 times if no frames repeat.
func repeats(frames []walk.Frame) (period, times int) {
	for period = 1; period <= min(maxPeriod, len(frames)/minRepeats); period++ {
		run := 0
		for run+period < len(frames) && frames[run].PC == frames[run+period].PC {
			run++
		}
		times = run/period + 1
		if times >= minRepeats && times*period >= minFolded {
			return period, times
		}
	}
	return 0, 0
}

// frame returns the view of frame i. Frames of the crashed stack have registers and memory.
func (b *pageBuilder) frame(s *walk.Stack, i int, crashed bool) *frameView {
	v := b.plainFrame(s, i)
	if b.detail <= 0 {
		return v
	}
	b.detail--

	f := &s.Frames[i]
	v.Details = true
	for k := range v.Rows {
		row := &v.Rows[k]
		row.Folded, row.Code = true, b.code(f.Module, row.File, row.Line)
	}
	if crashed || i == 0 {
		v.Registers = f.Registers
		b.budget -= 80 * len(f.Registers)
	}
	if crashed && i+1 < len(s.Frames) {
		v.Memory = b.memory(f.SP, s.Frames[i+1].SP)
		b.budget -= len(v.Memory)
		for k := range min(len(f.Pointers), maxPointers) {
			p := &f.Pointers[k]
			v.Pointers = append(v.Pointers, pointerView{b.json.hex(p.Addr), b.json.hex(p.Value),
				fmt.Sprintf("%s!%s + %#x", p.Module.File(), p.Place.Name(), p.Value-p.Place.FuncAddr)})
			b.budget -= 200
		}
	}
	return v
}

// plainFrame returns the view of frame i without details.
func (b *pageBuilder) plainFrame(s *walk.Stack, i int) *frameView {
	f := &s.Frames[i]
	j := b.json.frame(f, i)
	v := &frameView{jsonFrame: &j, Trust: trustOf(f.Trust), Digits: 2 * b.r.Process.WordSize()}
	for _, in := range f.Place.Inlines {
		v.Rows = append(v.Rows, b.row(f, in.Func, in.File, in.Line))
	}
	for k := range v.Rows {
		v.Rows[k].Inlined = true
	}

	// Offsets count from the nearest start that is known.
	row := b.row(f, f.Place.Name(), f.Place.File, f.Place.Line)
	at := f.Lookup()
	switch {
	case f.Place.Func != "":
		row.Offset = fmt.Sprintf("+ %#x", at-f.Place.FuncAddr)
	case f.Module != nil:
		row.Func, row.Unnamed = fmt.Sprintf("%s + %#x", f.Module.File(), at-f.Module.Base), true
	default:
		row.Func, row.Unnamed = fmt.Sprintf("%#x", at), true
	}
	v.Rows = append(v.Rows, row)

	// The estimate covers the tags of a frame and its texts.
	const tags = 330
	b.budget -= tags + len(f.Why)
	for _, row := range v.Rows {
		b.budget -= min(len(row.Func), page.MaxText) + 2*min(len(row.File), page.MaxText) + len(row.Link) + tags/2
	}
	return v
}

// row returns a function of a frame.
func (b *pageBuilder) row(f *walk.Frame, name, file string, line uint32) rowView {
	row := rowView{Func: name, File: file, Short: walk.BaseName(file), Line: line, Link: sourceLink(b.opt.SourceLink, file, line)}
	if f.Module != nil {
		row.Module = f.Module.File()
	}
	return row
}

// code returns the lines around a place, nil if there is no text.
func (b *pageBuilder) code(m *walk.Module, file string, line uint32) *source.Excerpt {
	found, ok := b.opt.Sources[m][file]
	if !ok {
		return nil
	}
	x := found.Excerpt(line)
	if x != nil {
		b.budget -= x.Size()
	}
	return x
}
