package dwarfx

import (
	"math"
	"slices"
)

// A hop is how to pass over a DIE from which the scan wants nothing: that is nine
// of ten, and mostly the abbreviation tells how long they are.
type hop struct {
	step  step
	opens int8   // 1 for a DIE with children, -1 for the null entry behind them
	size  uint16 // bytes of its attributes
	n     uint32 // as the step tells
}

// step tells how a hop is done.
type step uint8

const (
	stepPass     step = iota // size tells its end
	stepJump                 // to its sibling, over its children; DW_AT_sibling is at offset n
	stepMove                 // moves n and following tell its end
	stepMoveJump             // the same, then to its sibling; DW_AT_sibling comes last
	stepBelow                // over it by its size and, one by one, all below it
	stepCall                 // by callForm n
	stepVisit                // not at all
)

// mode tells what is looked for.
type mode uint8

const (
	modeOutside mode = iota // functions: inlined calls do not count here
	modeInside              // inlined calls, too
	modeSkip                // nothing
	numModes
)

// hopTable holds the hops of an abbreviation table by code. They are for one scan
// at a time: kept with each table they would take much memory.
type hopTable struct {
	of   *abbrevTable
	hops [numModes][]hop
}

// maxHops is one more than the largest code of two bytes.
const maxHops = 1 << 14

// reset makes h the table of t. Codes that are not 1, 2, 3, … have no hops.
func (h *hopTable) reset(t *abbrevTable) {
	if h.of == t {
		return
	}
	h.of = t
	for m := range h.hops {
		h.hops[m] = append(h.hops[m][:0], hop{step: stepPass, opens: -1})
	}
	for _, i := range t.codes[:min(len(t.codes), maxHops-1)] {
		for m, hop := range &t.compiled.hops[i] {
			h.hops[m] = append(h.hops[m], hop)
		}
	}
}

// hop returns the hop over DIEs with a code, of at most two bytes, in a mode.
func (t *abbrevTable) hop(code uint, m mode) *hop {
	if i := code - 1; i < uint(min(len(t.codes), maxHops-1)) {
		return &t.compiled.hops[t.codes[i]][m]
	}
	return &hop{step: stepVisit}
}

// addHops adds the hops of a, whose program is read already.
func (x *compiled) addHops(d *Data, u *Unit, a *abbrev) {
	w := x.wayOver(d, u, a)
	var hops [numModes]hop
	for m := range numModes {
		hops[m] = w.hop(m)
	}
	x.hops = append(x.hops, hops)
}

// way is what an abbreviation tells about the way over its DIEs.
type way struct {
	*abbrev
	size    int  // of the attributes in bytes, -1 where their values tell
	sibling int  // offset of a DW_FORM_ref4 to the sibling, -1 without
	last    bool // that comes last
	moves   int  // the first of those that lead over the attributes, -1 without
	call    int  // the callForm, -1 without
	// code and declared tell, of a function, whether it has the attributes that
	// tell where its code is, and DW_AT_declaration.
	code, declared bool
}

// wayOver reads the program of a.
func (x *compiled) wayOver(d *Data, u *Unit, a *abbrev) way {
	w := way{abbrev: a, sibling: -1, moves: len(x.moves)}
	var fields [scanSlots]field
	for _, o := range x.ops[a.ops:][:a.nops] {
		size := o.size(u)
		w.last = o.kind == opSibling4
		switch o.kind {
		case opSibling4:
			w.sibling = w.size
		case opConst:
			fields[o.slot] = constField(x.consts[a.consts+uint32(o.n)])
		case opValue, opValue4, opValue8:
			fields[o.slot] = fieldAt(w.size, size, o.n)
		}
		if x.move(o, size); size < 0 || w.size < 0 {
			w.size = -1
		} else {
			w.size += size
		}
	}
	has := func(s slot) bool { return fields[s].form != 0 }
	w.code = has(slotRanges) || has(slotLowPC) && has(slotHighPC)
	w.declared = has(slotDeclaration)
	moves := x.moves[w.moves:]
	if w.size >= 0 || slices.ContainsFunc(moves, func(m move) bool { return m.kind == moveNo }) {
		x.moves, w.moves = x.moves[:w.moves], -1
	} else {
		x.moves = append(x.moves, move{})
	}
	w.call = x.addCall(d, &w, &fields)
	return w
}

// size is the size of what o passes over, -1 where its value tells.
func (o op) size(u *Unit) int {
	switch o.kind {
	case opSkip:
		return int(o.n)
	case opConst:
		return 0
	}
	size, _ := formSize(u, o.n)
	return size
}

// hop is the hop in mode m. It comes out where the scanner's visit and skip do.
func (w *way) hop(m mode) hop {
	visit := hop{step: stepVisit}
	if w.size < 0 && w.moves < 0 || w.size > math.MaxUint16 {
		return visit
	}
	over := true // over its children, too
	switch {
	case m == modeSkip:
		over = w.hasSibling
	case w.class == classScope:
		over = false
	case w.class == classInline && m == modeInside && w.call >= 0:
		return hop{step: stepCall, n: uint32(w.call)}
	case w.class == classFunc && (m == modeInside || w.code), w.class == classInline && m == modeInside:
		return visit
	case w.class == classFunc:
		over = w.declared && w.hasSibling
	}
	known := w.size >= 0
	switch {
	case known && w.children && over && w.sibling >= 0:
		return hop{step: stepJump, size: uint16(w.size), n: uint32(w.sibling)}
	case known && w.children && over && !w.hasSibling:
		return hop{step: stepBelow, size: uint16(w.size)}
	case w.children && over && w.last:
		return hop{step: stepMoveJump, n: uint32(w.moves)}
	case w.children && over:
		return visit
	}
	h := hop{step: stepPass, size: uint16(w.size)}
	if !known {
		h = hop{step: stepMove, n: uint32(w.moves)}
	}
	if w.children {
		h.opens = 1
	}
	return h
}

// move is a part of the way over attributes of variable size.
type move struct {
	kind moveKind
	n    uint16
}

type moveKind uint8

const (
	moveEnd    moveKind = iota
	moveBy              // n bytes
	moveLEB             // over a LEB128
	moveBlock           // over a LEB128 and as many bytes
	moveString          // over a NUL
	moveNo              // no way
)

// move adds what an op passes over, of a size, to the moves.
func (x *compiled) move(o op, size int) {
	m := move{kind: moveNo}
	if size >= 0 {
		m = move{moveBy, uint16(size)}
	} else {
		switch o.n {
		case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
			m.kind = moveLEB
		case formBlock, formExprloc:
			m.kind = moveBlock
		case formString:
			m.kind = moveString
		}
	}
	x.moves = append(x.moves, m)
}

// end runs moves from pos of data; it returns where they end, or outside.
func (x *compiled) end(moves uint32, data []byte, pos int) int {
	for _, m := range x.moves[moves:] {
		switch m.kind {
		case moveEnd:
			return pos
		case moveBy:
			pos += int(m.n)
			continue
		case moveString:
			for pos < len(data) && data[pos] != 0 {
				pos++
			}
		case moveLEB:
			for pos < len(data) && data[pos] >= 0x80 {
				pos++
			}
		case moveBlock:
			if pos >= len(data) || data[pos] >= 0x80 {
				return outside
			}
			pos += int(data[pos])
		}
		pos++
	}
	return outside
}
