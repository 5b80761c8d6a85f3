package dwarfx

import (
	"encoding/binary"
	"math"
	"slices"
)

// Nine of ten DIEs hold nothing that the scan wants. Their abbreviation mostly determines
// their length, so it is compiled, once for each mode of the scan, into a skipOp: add a
// size, follow DW_AT_sibling, or run a short skip program over attributes of variable
// size. A skipOp ends at the same byte as reading attribute by attribute. A DIE for which
// this is not certain has stepVisit.

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

func (f *field) in(attrs []byte) uint64 {
	return binary.LittleEndian.Uint64(attrs[f.at:])&f.mask + uint64(f.add)
}

// fieldAt returns the field of size bytes at offset at; either is -1 if not known.
func fieldAt(at, size int, form uint16) field {
	if size > 0 && size <= 8 && at >= 0 && at <= math.MaxUint16 {
		return field{mask: 1<<(8*size) - 1, at: uint16(at), form: form}
	}
	return field{form: formIndirect} // never part of a callForm
}

// constField returns the field of a DW_FORM_implicit_const.
func constField(v int64) field {
	if v == int64(uint32(v)) {
		return field{add: uint32(v), form: formImplicitConst}
	}
	return field{form: formIndirect}
}

// isNumber reports whether f is a number of fixed size.
func (f *field) isNumber() bool {
	switch f.form {
	case formData1, formData2, formData4, formData8, formImplicitConst:
		return true
	}
	return false
}

// addCall adds the callForm of an abbreviation whose wanted attributes are f. It
// returns the number of the callForm, or -1 if there can be none. Files of big-endian
// machines have none.
func (x *compiled) addCall(d *Data, w *layout, f *[scanSlots]field) int {
	ranges, file, line := &f[slotRanges], &f[slotCallFile], &f[slotCallLine]
	column, discr := &f[slotCallColumn], &f[slotDiscriminator]
	switch {
	case d.BigEndian, w.class != classInline, w.size < 0, w.size > math.MaxUint16,
		f[slotOrigin].form != formRef4,
		file.form != 0 && !file.isNumber(), line.form != 0 && !line.isNumber(),
		column.form != 0 && !column.isNumber(), discr.form != 0 && !discr.isNumber(),
		ranges.form == 0 && (f[slotLowPC].form != formAddr || !f[slotHighPC].isNumber()),
		ranges.form != 0 && ranges.form != formSecOffset && ranges.form != formData4:
		return -1
	}

	x.calls = append(x.calls, callForm{
		origin: f[slotOrigin], ranges: *ranges, low: f[slotLowPC], high: f[slotHighPC],
		file: *file, line: *line, column: *column, discr: *discr, size: uint16(w.size), children: w.children,
	})
	return len(x.calls) - 1
}
