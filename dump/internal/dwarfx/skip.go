package dwarfx

import (
	"math"
	"slices"
)

// Nine of ten DIEs hold nothing that the scan wants. Their abbreviation mostly determines
// their length, so it is compiled, once for each mode of the scan, into a skipOp: add a
// size, follow DW_AT_sibling, or run a short skip program over attributes of variable
// size. A skipOp ends at the same byte as reading attribute by attribute. A DIE for which
// this is not certain has stepVisit.

// skipOp is the operation that skips a DIE.
type skipOp struct {
	step  step
	opens int8   // 1 for a DIE with children, -1 for the null entry after the children
	size  uint16 // of the attributes in bytes
	n     uint32 // operand of step
}

// step is the kind of a skipOp.
type step uint8

const (
	stepPass        step = iota // the DIE ends after size bytes
	stepJump                    // seek the sibling, after the children; DW_AT_sibling is at offset n
	stepProgram                 // the DIE ends where skip program n ends
	stepProgramJump             // run skip program n, then seek the sibling; DW_AT_sibling comes last
	stepBelow                   // skip size bytes and, one by one, all DIEs below
	stepCall                    // read the DIE by callForm n
	stepVisit                   // the DIE cannot be skipped
)

// mode selects the DIEs that the scan looks for.
type mode uint8

const (
	modeOutside mode = iota // functions, but no inlined calls
	modeInside              // functions and inlined calls
	modeSkip                // nothing
	numModes
)

// skipTable holds the skipOps of an abbreviation table by code. It belongs to one
// scan at a time: a skipTable in each abbrevTable would take much memory.
type skipTable struct {
	of    *abbrevTable
	skips [numModes][]skipOp
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

// addSkips adds the skipOps of a, whose attribute program is complete.
func (x *compiled) addSkips(d *Data, u *Unit, a *abbrev) {
	w := x.layoutOf(d, u, a)
	var skips [numModes]skipOp
	for m := range numModes {
		skips[m] = w.skipOp(m)
	}
	x.skips = append(x.skips, skips)
}

// layout has the sizes and offsets of attributes that an abbreviation determines.
type layout struct {
	*abbrev
	size    int  // of the attributes in bytes, -1 if their values decide
	sibling int  // offset of a DW_FORM_ref4 to the sibling, -1 without one
	last    bool // that reference comes last
	program int  // the skip program over the attributes, -1 without one
	call    int  // the callForm, -1 without one
	// code states that a function has attributes with the addresses of its code,
	// declared that it has DW_AT_declaration.
	code, declared bool
}

// layoutOf reads the attribute program of a.
func (x *compiled) layoutOf(d *Data, u *Unit, a *abbrev) layout {
	w := layout{abbrev: a, sibling: -1, program: len(x.programs)}
	var fields [scanSlots]field

	// w.size is the offset of the current attribute, while that is known.
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
		x.addInstr(o, size)
		if size < 0 || w.size < 0 {
			w.size = -1
		} else {
			w.size += size
		}
	}

	// Without these attributes a function has no code, and the scan does not want it.
	has := func(s slot) bool { return fields[s].form != 0 }
	w.code = has(slotRanges) || has(slotLowPC) && has(slotHighPC)
	w.declared = has(slotDeclaration)

	// A fixed size needs no program; a form without an instruction allows none.
	program := x.programs[w.program:]
	if w.size >= 0 || slices.ContainsFunc(program, func(i skipInstr) bool { return i.kind == instrNone }) {
		x.programs, w.program = x.programs[:w.program], -1
	} else {
		x.programs = append(x.programs, skipInstr{})
	}
	w.call = x.addCall(d, &w, &fields)
	return w
}

// size is the size of the values that o reads or skips, -1 if the value decides.
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

// skipOp returns how the DIEs are skipped in mode m: to where the scanner's visit
// and skip end.
func (w *layout) skipOp(m mode) skipOp {
	visit := skipOp{step: stepVisit}
	if w.size < 0 && w.program < 0 || w.size > math.MaxUint16 {
		return visit
	}

	// The mode and the DIE's class decide whether its children are skipped, too.
	over := true // the children are skipped, too
	switch {
	case m == modeSkip:
		over = w.hasSibling
	case w.class == classScope:
		over = false
	case w.class == classInline && m == modeInside && w.call >= 0:
		return skipOp{step: stepCall, n: uint32(w.call)}
	case w.class == classFunc && (m == modeInside || w.code), w.class == classInline && m == modeInside:
		return visit
	case w.class == classFunc:
		over = w.declared && w.hasSibling
	}

	// The known sizes decide the operation.
	known := w.size >= 0
	switch {
	case known && w.children && over && w.sibling >= 0:
		return skipOp{step: stepJump, size: uint16(w.size), n: uint32(w.sibling)}
	case known && w.children && over && !w.hasSibling:
		return skipOp{step: stepBelow, size: uint16(w.size)}
	case w.children && over && w.last:
		return skipOp{step: stepProgramJump, n: uint32(w.program)}
	case w.children && over:
		return visit
	}
	h := skipOp{step: stepPass, size: uint16(w.size)}
	if !known {
		h = skipOp{step: stepProgram, n: uint32(w.program)}
	}
	if w.children {
		h.opens = 1
	}
	return h
}

// skipInstr is an instruction of a skip program.
type skipInstr struct {
	kind instrKind
	n    uint16
}

type instrKind uint8

const (
	instrEnd    instrKind = iota // the end of the program
	instrBytes                   // skip n bytes
	instrLEB                     // skip a LEB128
	instrBlock                   // skip a LEB128 and as many bytes
	instrString                  // skip bytes up to and with a NUL
	instrNone                    // no instruction skips the form
)

// addInstr adds the instruction that skips the value of an op, of a size.
func (x *compiled) addInstr(o op, size int) {
	i := skipInstr{kind: instrNone}
	if size >= 0 {
		i = skipInstr{instrBytes, uint16(size)}
	} else {
		switch o.n {
		case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
			i.kind = instrLEB
		case formBlock, formExprloc:
			i.kind = instrBlock
		case formString:
			i.kind = instrString
		case formLLVMAddrxOffset:
			x.programs = append(x.programs, skipInstr{kind: instrLEB})
			i = skipInstr{instrBytes, 4}
		}
	}
	x.programs = append(x.programs, i)
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
