package gsym

import (
	"slices"

	"symkit/internal/wire"
)

// Frame is a function that an address is in: the inlined one, or one that it is inlined into.
type Frame struct {
	// Name aliases the file, as do Dir and Base.
	Name []byte
	// Dir and Base are the directory and the name of the source file; both are empty if it is not known.
	Dir, Base []byte
	// Line is 0 if it is not known. In a frame that calls an inlined function it is the line of the call.
	Line uint32
}

// AppendPath appends the path of the source file.
func (f *Frame) AppendPath(dst []byte) []byte {
	if len(f.Dir) > 0 {
		dst = append(dst, f.Dir...)
		if len(f.Dir) > 1 || f.Dir[0] != '/' {
			dst = append(dst, '/')
		}
	}
	return append(dst, f.Base...)
}

// maxSame is how many functions of one address are looked at. Writers merge them to one, or to some.
const maxSame = 1 << 10

// Lookup finds the function at an address. It appends to dst a frame for each call that is inlined there, innermost
// first, and one for the function. Without a function it appends none.
func (f *File) Lookup(dst []Frame, addr uint64) (Symbol, []Frame, error) {
	from := f.find(addr)
	for i := from; i < min(f.count(), from+maxSame); i++ {
		c := f.info(i)
		s := f.symbol(i, &c)
		switch {
		case s.Addr > addr:
			return Symbol{}, dst, nil
		case c.Err() == nil && !s.contains(addr):
			continue // another function of the same address may be longer
		}
		frames := f.frames(dst, &c, &s, addr)
		if c.Err() != nil {
			return Symbol{}, dst, c.Err()
		}
		return s, frames, nil
	}
	return Symbol{}, dst, nil
}

// frames appends the frames at an address of s. The cursor is in the info of s.
func (f *File) frames(dst []Frame, c *wire.Cursor, s *Symbol, addr uint64) []Frame {
	line := Frame{Name: s.Name}
	var calls wire.Cursor
	for c.Err() == nil {
		kind, size := c.U32(), c.U32()
		part := c.Sub(uint64(size))
		switch {
		case c.Err() != nil || kind == endOfList:
			from := len(dst)
			if calls.Len() > 0 {
				dst = f.calls(dst, &calls, s.Addr, addr, &line)
				c.Inherit(&calls)
			}
			dst = append(dst, line)
			slices.Reverse(dst[from:])
			return dst
		case kind == lineTable:
			f.line(&part, addr-s.Addr, &line)
		case kind == inlineInfo:
			calls = part
		}
		c.Inherit(&part)
	}
	return dst
}

// line finds the row of a line table for an offset in a function, and gives its place to a frame.
func (f *File) line(c *wire.Cursor, off uint64, to *Frame) {
	r := rows{c: c}
	r.start()
	found, last := false, r.row
	for step, ok := r.next(); ok && step <= off; step, ok = r.next() {
		off -= step
		found, last = true, r.row
	}
	if found {
		to.Line = last.line
		to.Dir, to.Base = f.file(c, last.fileAt, last.file)
	}
}

// rows reads the rows of a line table.
type rows struct {
	c     *wire.Cursor
	low   int64  // the least difference of lines that an opcode of one byte has
	lines uint32 // how many differences it has, or 256 for more
	row          // the last one
}

// row is the place of some code.
type row struct {
	line   uint32
	fileAt int // where the file was set
	file   uint64
}

// start reads what comes before the rows.
func (r *rows) start() {
	at := r.c.Pos()
	r.low = r.c.SLEB()
	high := r.c.SLEB()
	if r.c.Err() == nil && high < r.low {
		r.c.Fail(at, errLineRange)
	}
	r.lines = uint32(min(uint64(high)-uint64(r.low), 255)) + 1
	r.row = row{uint32(r.c.ULEB()), at, 1}
}

// next reads a row. It returns how far its address is from that of the row before, or of the function.
func (r *rows) next() (step uint64, ok bool) {
	for r.c.Err() == nil {
		switch op := r.c.U8(); {
		case op >= firstSpecial:
			n := uint32(op - firstSpecial)
			r.line += uint32(r.low) + n%r.lines
			return uint64(n / r.lines), true
		case r.c.Err() != nil || op == endSequence:
			return 0, false
		case op == setFile:
			r.fileAt = r.c.Pos()
			r.file = r.c.ULEB()
		case op == advanceLine:
			r.line += uint32(r.c.SLEB())
		default: // advancePC
			step = r.c.ULEB()
			return step, r.c.Err() == nil
		}
	}
	return 0, false
}

// maxDepth is how many calls in each other are read: in real programs some dozens. Those that are inlined deeper are left
// out.
const maxDepth = 1 << 10

// calls appends a frame for each node of the tree that has an address, outermost first, but for the innermost, which is
// line afterwards. Until then line is the frame of the node around the current one.
func (f *File) calls(dst []Frame, c *wire.Cursor, base, addr uint64, line *Frame) []Frame {
	inner := *line // the place in the innermost function
	for depth := range maxDepth {
		root := depth == 0
		n, ok := f.node(c, base, addr)
		for ok && !n.has && !root {
			f.skip(c, n.children)
			n, ok = f.node(c, base, addr)
		}
		if !ok || !n.has {
			break
		}
		if !root {
			line.Dir, line.Base = f.file(c, n.at, n.file)
			line.Line = n.line
			dst = append(dst, *line)
			line.Name = f.text(c, n.at, n.name)
		}
		base = n.base
		if !n.children {
			break
		}
	}
	line.Dir, line.Base, line.Line = inner.Dir, inner.Base, inner.Line
	return dst
}

// node is a call in a tree of inlined calls, or the root.
type node struct {
	has      bool   // the address
	base     uint64 // of the ranges of its children: its lowest address
	children bool
	name     uint64
	file     uint64 // of the call
	line     uint32
	at       int // of the name
}

// node reads the next node, whose ranges are relative to base. It returns false at the end of a list of nodes.
func (f *File) node(c *wire.Cursor, base, addr uint64) (n node, ok bool) {
	count := c.ULEB()
	n.base = ^uint64(0)
	for i := uint64(0); i < count && c.Err() == nil; i++ {
		lo := base + c.ULEB()
		size := c.ULEB()
		if size > 0 {
			n.base = min(n.base, lo)
		}
		n.has = n.has || addr-lo < size
	}
	if count == 0 || c.Err() != nil {
		return node{}, false
	}
	n.children = c.U8() != 0
	n.at = c.Pos()
	n.name, n.file, n.line = c.Uint(f.ref), c.ULEB(), uint32(c.ULEB())
	return n, c.Err() == nil
}

// skip skips the children of a node.
func (f *File) skip(c *wire.Cursor, children bool) {
	depth := 0
	if children {
		depth = 1
	}
	for depth > 0 && c.Err() == nil {
		n, ok := f.node(c, 0, 0)
		switch {
		case !ok:
			depth--
		case n.children:
			depth++
		}
	}
}
