package dwarfx

// The scan skips most DIEs by their skipOps (see skip.go) instead of reading their
// attributes. For speed, the code here indexes the unit's bytes directly, without a
// cursor, and compares every index with the length of the slice first. At an unusual or
// damaged DIE the position stays at the DIE's start for step, which reads attribute by
// attribute and locates the damage.

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// pass skips DIEs as far as their skipOps of mode m allow, or until levels is 0. It
// returns false at a DIE that step must read: one that visit wants, or one that is
// damaged.
func (x *scanner) pass(m mode, deepest int) bool {
	skips := x.h.skips[m]
	for {
		code := x.skipSimple(skips, deepest)
		if x.levels == 0 {
			return true
		}
		if code >= uint(len(skips)) {
			return false
		}

		// skipSimple has checked that a second byte of the code is there.
		h, next := skips[code], x.pos+1
		if code >= 0x80 {
			next++
		}

		switch h.step {
		case stepProgram:
			next = x.t.end(h.n, x.data, next)
		case stepProgramJump:
			next = x.jump(x.t.end(h.n, x.data, next) - 4)
		case stepBelow:
			next = x.below(next + int(h.size))
		case stepCall:
			if !x.call(&x.t.calls[h.n], next) {
				return false
			}
			deepest = x.deepest - x.open // call may have changed open
			if x.levels > deepest || x.c.Err() != nil {
				return true // the tree is too deep, or has too many calls
			}
			continue
		default:
			return false
		}

		// This also covers outside.
		if next > len(x.data) || x.levels+int(h.opens) > deepest {
			return false
		}
		x.pos, x.levels = next, x.levels+int(h.opens)
	}
}

// none is a code that no table of skipOps has.
const none = math.MaxUint

// skipSimple executes skipOps of the kinds stepPass and stepJump up to one of another
// kind, whose code it returns; none if there is no skipOp, or levels is 0. Nearly
// all of a unit is skipped here: hence one function without calls, which keeps its
// variables in registers.
func (x *scanner) skipSimple(skips []skipOp, deepest int) (code uint) {
	data, pos, levels := x.data, x.pos, x.levels
	for pos < len(data) && levels > 0 {
		code, next := uint(data[pos]), pos+1
		if code >= 0x80 { // two bytes; longer codes have no skipOp
			if next >= len(data) {
				break
			}
			code = code&0x7f | uint(data[next])<<7
			next++
		}
		if code >= uint(len(skips)) {
			break
		}

		// Leave other kinds to pass.
		h := &skips[code]
		if h.step > stepJump {
			x.pos, x.levels = pos, levels
			return code
		}

		// The next DIE is after the attributes, or the sibling if that lies ahead.
		if h.step == stepPass {
			next += int(h.size)
		} else {
			next += int(h.n)
			if next > len(data)-4 {
				break
			}
			off := binary.LittleEndian.Uint32(data[next:])
			if x.d.BigEndian {
				off = bits.ReverseBytes32(off)
			}
			if int(off) < next+4 || int(off) >= len(data) {
				break
			}
			next = int(off)
		}

		opened := levels + int(h.opens)
		if next > len(data) || opened > deepest {
			break
		}
		pos, levels = next, opened
	}
	x.pos, x.levels = pos, levels
	return none
}

// below returns the end of everything below a DIE whose attributes end at next.
func (x *scanner) below(next int) int {
	at, levels := x.pos, x.levels

	// Damage and codes without a skipOp are for step.
	x.pos, x.levels = next, 1
	end := outside
	if x.pass(modeSkip, math.MaxInt) {
		end = x.pos
	}

	x.pos, x.levels = at, levels
	return end
}

// outside is a position after the end of any section.
const outside = math.MaxInt

// jump returns the sibling that DW_AT_sibling at pos refers to; outside if that
// does not lie ahead.
func (x *scanner) jump(pos int) int {
	if pos > len(x.data)-4 {
		return outside
	}
	off := binary.LittleEndian.Uint32(x.data[pos:])
	if x.d.BigEndian {
		off = bits.ReverseBytes32(off)
	}

	if to := int(off); to >= pos+4 && to < len(x.data) {
		return to
	}
	return outside
}

// maxSkips is one more than the largest code of two bytes.
const maxSkips = 1 << 14

// reset makes h the table of t. Codes that are not 1, 2, 3, … have no skipOps.
func (h *skipTable) reset(t *abbrevTable) {
	if h.of == t {
		return
	}
	h.of = t

	// Code 0 is the null entry.
	for m := range h.skips {
		h.skips[m] = append(h.skips[m][:0], skipOp{step: stepPass, opens: -1})
	}
	for _, i := range t.codes[:min(len(t.codes), maxSkips-1)] {
		for m, op := range &t.compiled.skips[i] {
			h.skips[m] = append(h.skips[m], op)
		}
	}
}

// skipOp returns how DIEs with a code, of at most two bytes, are skipped in a mode.
func (t *abbrevTable) skipOp(code uint, m mode) *skipOp {
	if i := code - 1; i < uint(min(len(t.codes), maxSkips-1)) {
		return &t.compiled.skips[t.codes[i]][m]
	}
	return &skipOp{step: stepVisit}
}

// end runs a skip program from pos of data. It returns where the skipped attributes
// end, or outside.
func (x *compiled) end(program uint32, data []byte, pos int) int {
	for _, i := range x.programs[program:] {
		switch i.kind {
		case instrEnd:
			return pos
		case instrBytes:
			pos += int(i.n)
			continue
		case instrString:
			for pos < len(data) && data[pos] != 0 {
				pos++
			}
		case instrLEB:
			for pos < len(data) && data[pos] >= 0x80 {
				pos++
			}
		case instrBlock:
			if pos >= len(data) || data[pos] >= 0x80 {
				return outside
			}
			pos += int(data[pos])
		}
		pos++
	}
	return outside
}
