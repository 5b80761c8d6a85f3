package dwarfx

// The scan's way over DIEs by their hops. It reads the unit's bytes as a slice, which
// came out of a cursor: every index is compared with its length before.

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// pass moves on as far as there are hops in mode m, to where levels is 0. It reports
// false in front of a DIE that is for step: one that
// visit has to see, and one that is not as it should be, so that whoever reads
// attribute by attribute finds out, and says where.
func (x *scanner) pass(m mode, deepest int) bool {
	hops := x.h.hops[m]
	for {
		code := x.hops(hops, deepest)
		if x.levels == 0 {
			return true
		}
		if code >= uint(len(hops)) {
			return false
		}
		h, next := hops[code], x.pos+1
		if code >= 0x80 {
			next++
		}
		switch h.step {
		case stepMove:
			next = x.t.end(h.n, x.data, next)
		case stepMoveJump:
			next = x.jump(x.t.end(h.n, x.data, next) - 4)
		case stepBelow:
			next = x.below(next + int(h.size))
		case stepCall:
			if !x.call(&x.t.calls[h.n], next) {
				return false
			}
			if deepest = x.deepest - x.open; x.levels > deepest {
				return true // it has failed
			}
			continue
		default:
			return false
		}
		if next > len(x.data) || x.levels+int(h.opens) > deepest {
			return false
		}
		x.pos, x.levels = next, x.levels+int(h.opens)
	}
}

// none is no code that a table of hops has.
const none = math.MaxUint

// hops does hops of the simplest kinds up to one of another kind, whose code it
// returns; none where there is no hop, or levels is 0. Nearly all of a unit is
// passed over here: hence one function without calls, which keeps its variables
// in registers.
func (x *scanner) hops(hops []hop, deepest int) (code uint) {
	data, pos, levels := x.data, x.pos, x.levels
	for pos < len(data) && levels > 0 {
		code, next := uint(data[pos]), pos+1
		if code >= 0x80 { // two bytes; there are no hops for more
			if next >= len(data) {
				break
			}
			code = code&0x7f | uint(data[next])<<7
			next++
		}
		if code >= uint(len(hops)) {
			break
		}
		h := &hops[code]
		if h.step > stepJump {
			x.pos, x.levels = pos, levels
			return code
		}
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

// below returns where all that is below a DIE whose attributes end at next ends.
func (x *scanner) below(next int) int {
	at, levels := x.pos, x.levels
	x.pos, x.levels = next, 1
	end := outside
	if x.pass(modeSkip, math.MaxInt) {
		end = x.pos
	}
	x.pos, x.levels = at, levels
	return end
}

// outside is behind the end of any section.
const outside = math.MaxInt

// jump returns where the DW_AT_sibling at pos leads; outside where that is not
// forward.
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
