package gosym

import (
	"cmp"
	"slices"
	"sort"

	"symkit/internal/wire"
)

// The Go linker describes inlined calls by two tables of a function: a pc-value table
// that has, for each address, the index of the innermost call there, and an inline
// tree that has, for each index, the called function and parentPC, an address that has
// the source position of the call. The call that encloses another one is the innermost
// call at parentPC, and the place of a call is the line at parentPC. The compiler numbers
// a call before those in it, which makes the parents free of cycles; a tree that breaks
// this is damaged.

// Indexes of the tables after a _func (internal/abi/symtab.go).
const (
	pcdataInlTree   = 2
	funcdataInlTree = 3
)

// Bounds far above what the compiler's budget for inlining allows, so that a
// made-up tree cannot cost quadratic time or memory.
const (
	maxDepth     = 256  // of calls
	partsPerRun  = 8    // ranges of calls for each change of the innermost call
	partsAtLeast = 4096 // ranges that any function may have
)

// Call is one inlined call.
type Call struct {
	// Name is the function that was called, for Table.Name.
	Name uint32
	// File (for Table.File, or Unknown) and Line are the place of the call, in
	// the caller. The linker does not write the place of every call.
	File uint32
	Line uint32
	// StartLine is the line of the called function's func keyword; 0 if it is
	// not known (before Go 1.20).
	StartLine uint32
	// Depth is 0 for a call in the function itself, 1 for a call in such a call, etc.
	Depth uint32
	// Parent is the index in Calls of the call that encloses this one, or -1. It
	// is smaller than the call's own index.
	Parent int32
	// First and Last delimit the call's ranges: Ranges[First:Last].
	First, Last uint32

	index    int32  // in the inline tree
	open     int32  // the part that may still grow, or -1
	parentPC uint64 // address that has the position of the call
	nowhere  bool   // neither the position nor the enclosing call is known
}

// Inlines holds the inlined calls of one function. Reusing one for the next
// function reuses its memory.
type Inlines struct {
	// MaxRuns bounds the changes of the innermost call in one function, each of which takes up to
	// 216 bytes of memory. 0 means no bound.
	MaxRuns int

	// Calls are in the order of the compiler: a call comes after the one that
	// encloses it, but not always right after. See Nested.
	Calls []Call
	// Ranges are the code of the calls, each with the calls inlined into it.
	// Those of one call are sorted and not empty, and have gaps between them.
	Ranges []Range

	runs  []inlineRun
	parts []part
	order []int32 // of Calls, by parentPC
	child []int32 // of Calls: see link
	next  []int32
}

// inlineRun is code with one innermost call. call is the index of that call in the
// inline tree and, after inlineCalls, in Calls.
type inlineRun struct {
	Range
	call int32
}

// part is a range of a call, up to the next gap.
type part struct {
	Range
	call int32
}

// Inlines replaces the contents of in by the inlined calls of f. There are none if
// HasInlines is false. After an error in has none.
func (t *Table) Inlines(f Func, in *Inlines) error {
	in.Calls, in.Ranges = in.Calls[:0], in.Ranges[:0]
	in.runs, in.parts = in.runs[:0], in.parts[:0]
	if !t.HasInlines() {
		return nil
	}
	r, err := t.record(0, uint64(f.record))
	if err != nil {
		return err
	}
	pcs, tree, ok, err := t.inlineTables(&r)
	if err != nil || !ok {
		return err
	}

	err = t.inlineRuns(f, pcs, in)
	if err == nil {
		err = t.inlineCalls(f, tree, in)
	}
	if err == nil {
		err = t.inlineParents(f, in)
	}
	if err == nil {
		err = t.callLines(f, &r, in)
	}
	if err == nil && !in.spread() {
		err = t.fail(t.funcs+uint64(f.record), ErrDepth)
	}
	if err != nil {
		in.Calls, in.Ranges = in.Calls[:0], in.Ranges[:0]
	}
	return err
}

// inlineTables finds the two tables of a function: pcs gives the index of the
// tree per address, tree is the address of the tree. ok is false without them.
func (t *Table) inlineTables(r *record) (pcs uint32, tree uint64, ok bool, err error) {
	if r.npcdata <= pcdataInlTree || r.nfuncdata <= funcdataInlTree {
		return 0, 0, false, nil
	}

	// The arrays pcdata and funcdata follow the fields of a _func.
	c := t.at(r.pcdata + 4*pcdataInlTree)
	pcs = c.U32()
	funcdata := r.pcdata + 4*uint64(r.npcdata)
	if t.version < Go118 { // pointers, aligned in memory
		funcdata += -(t.addr + funcdata) & uint64(t.ptrSize-1)
		c.Seek(funcdata + funcdataInlTree*uint64(t.ptrSize))
		tree = c.Uint(t.ptrSize)
		return pcs, tree, c.Err() == nil && pcs != 0 && tree != 0, c.Err()
	}
	c.Seek(funcdata + 4*funcdataInlTree)
	off := c.U32()
	if c.Err() != nil || pcs == 0 || off == ^uint32(0) {
		return 0, 0, false, c.Err()
	}
	return pcs, t.module.gofunc + uint64(off), true, nil
}

// callEntry is an entry of an inline tree: inlinedCall of runtime/symtabinl.go.
type callEntry struct {
	padding   uint32 // 0 in every entry that a linker wrote
	name      uint32
	parentPC  uint32
	startLine uint32 // 0 before Go 1.20
}

// callSize is the size of a callEntry.
func (t *Table) callSize() uint64 {
	if t.version < Go120 {
		return 20
	}
	return 16
}

// readCall reads an entry. The fields funcID and, before Go 1.20, parent, file
// and line are not needed: parentPC determines them.
func (t *Table) readCall(c *wire.Cursor) (e callEntry) {
	if t.version < Go120 {
		c.Skip(3) // parent, funcID
		e.padding = uint32(c.U8())
		c.Skip(8) // file, line
		e.name, e.parentPC = c.U32(), c.U32()
		return e
	}
	c.Skip(1) // funcID
	for range 3 {
		e.padding |= uint32(c.U8())
	}
	e.name, e.parentPC, e.startLine = c.U32(), c.U32(), c.U32()
	return e
}

// inlineRuns collects the inlined code, in the order of addresses.
func (t *Table) inlineRuns(f Func, pcs uint32, in *Inlines) error {
	w := t.pcTable(pcs, f.Entry)
	for w.end < f.End && w.next() {
		if w.value >= 0 && w.start < f.End {
			if in.MaxRuns > 0 && len(in.runs) >= in.MaxRuns {
				return t.fail(t.funcs+uint64(f.record), ErrDepth)
			}
			in.runs = append(in.runs, inlineRun{Range{Lo: w.start, Hi: min(w.end, f.End)}, w.value})
		}
	}
	return w.c.Err()
}

// inlineCalls reads the entries of the tree that the runs refer to, and turns the
// indexes of the runs into those of Calls.
func (t *Table) inlineCalls(f Func, tree uint64, in *Inlines) error {
	for _, r := range in.runs {
		in.Calls = append(in.Calls, Call{index: r.call, Parent: -1})
	}
	slices.SortFunc(in.Calls, func(a, b Call) int { return cmp.Compare(a.index, b.index) })
	in.Calls = slices.CompactFunc(in.Calls, func(a, b Call) bool { return a.index == b.index })

	// Read only the entries that the code refers to.
	size := t.callSize()
	for i := range in.Calls {
		call := &in.Calls[i]
		data := t.read(tree+uint64(call.index)*size, size)
		if uint64(len(data)) != size {
			return t.fail(t.funcs+uint64(f.record), ErrInline)
		}

		c := wire.New("inline tree", data, t.big)
		e := t.readCall(&c)
		call.Name, call.StartLine = e.name, e.startLine
		call.parentPC = f.Entry + uint64(e.parentPC)
		if _, ok := t.cstring(t.names, uint64(call.Name)); !ok {
			return t.fail(t.funcs+uint64(f.record), ErrName)
		}
	}

	for i := range in.runs {
		r := &in.runs[i]
		r.call = int32(in.callIndex(r.call))
	}
	return nil
}

// callIndex returns the index in Calls of the call with an index of the tree.
func (in *Inlines) callIndex(index int32) int {
	i, _ := slices.BinarySearchFunc(in.Calls, index, func(c Call, index int32) int { return cmp.Compare(c.index, index) })
	return i
}

// callAt returns the innermost call at pc, or -1.
func (in *Inlines) callAt(pc uint64) int32 {
	i := sort.Search(len(in.runs), func(i int) bool { return in.runs[i].Hi > pc })
	if i < len(in.runs) && in.runs[i].Lo <= pc {
		return in.runs[i].call
	}
	return -1
}

// inlineParents sets the parents: the innermost call at parentPC.
func (t *Table) inlineParents(f Func, in *Inlines) error {
	for i := range in.Calls {
		call := &in.Calls[i]
		if call.parentPC < f.Entry || call.parentPC >= f.End {
			return t.fail(t.funcs+uint64(f.record), ErrInline)
		}
		call.Parent = in.callAt(call.parentPC)

		// If no instruction has the position of the call, as in functions that set
		// variables, parentPC is the first instruction of the function. That one may be
		// in a call with the same parentPC, which never encloses another call.
		if p := call.Parent; p >= 0 && in.Calls[p].parentPC == call.parentPC {
			call.Parent, call.nowhere = -1, true
		}
		if call.Parent >= 0 {
			// The compiler numbers a call before those in it; anything else
			// could be a cycle.
			if call.Parent >= int32(i) {
				return t.fail(t.funcs+uint64(f.record), ErrInline)
			}
			call.Depth = in.Calls[call.Parent].Depth + 1
		}
		if call.Depth >= maxDepth {
			return t.fail(t.funcs+uint64(f.record), ErrDepth)
		}
	}
	return nil
}

// callLines gives each call the position of its parentPC.
func (t *Table) callLines(f Func, r *record, in *Inlines) error {
	in.order = in.order[:0]
	for i := range in.Calls {
		in.order = append(in.order, int32(i))
	}
	slices.SortFunc(in.order, func(a, b int32) int { return cmp.Compare(in.Calls[a].parentPC, in.Calls[b].parentPC) })

	files, lines := t.pcTable(r.pcfile, f.Entry), t.pcTable(r.pcln, f.Entry)
	for _, i := range in.order {
		call := &in.Calls[i]
		call.File, call.Line = Unknown, 0
		if !call.nowhere && files.seek(call.parentPC) && lines.seek(call.parentPC) && files.value >= 0 && lines.value >= 0 {
			call.File, call.Line = t.file(r, uint32(files.value)), uint32(lines.value)
		}
	}
	if err := files.c.Err(); err != nil {
		return err
	}
	return lines.c.Err()
}

// spread gives every call the code of its runs and of the calls in it. It returns
// false if the ranges are too many to be real.
func (in *Inlines) spread() bool {
	for i := range in.Calls {
		in.Calls[i].open = -1
	}

	// A run belongs to its call and to all that enclose it; it extends their last part
	// or begins a new one.
	limit := partsPerRun*len(in.runs) + partsAtLeast
	for _, run := range in.runs {
		for i := run.call; i >= 0; i = in.Calls[i].Parent {
			call := &in.Calls[i]
			if call.open >= 0 && in.parts[call.open].Hi == run.Lo {
				in.parts[call.open].Hi = run.Hi
				continue
			}
			if len(in.parts) >= limit {
				return false
			}
			call.open = int32(len(in.parts))
			call.Last++
			in.parts = append(in.parts, part{run.Range, i})
		}
	}

	// Parts are in the order of addresses; sort them by call, too.
	n := uint32(0)
	for i := range in.Calls {
		call := &in.Calls[i]
		n += call.Last
		call.First, call.Last = n-call.Last, n-call.Last
	}
	in.Ranges = slices.Grow(in.Ranges, len(in.parts))[:len(in.parts)]
	for _, p := range in.parts {
		call := &in.Calls[p.call]
		in.Ranges[call.Last] = p.Range
		call.Last++
	}
	return true
}
