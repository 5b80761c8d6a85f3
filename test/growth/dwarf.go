package main

import (
	"debug/dwarf"
	"encoding/binary"
)

var le = binary.LittleEndian

// Codes of abbreviations. All units of a file share one table.
const (
	_ = iota
	rootCode
	emptyRootCode
	rangedRootCode
	functionCode
	parentCode // a function with children
	linkedCode // a function with a linkage name
	partsCode  // a function with a list of ranges
	abstractCode
	callCode  // an inlined call with children
	leafCode  // an inlined call without children
	typeCode  // a structure with children
	fieldCode // a member of a structure
	declaredCode
	typeRootCode
	partialRootCode
	importCode
	memberCode  // a function of a declaration
	outsideCode // a function whose abstract instance is in another unit
	skeletonCode
	splitRootCode
	splitCode // a function of a split unit
	otherCode // a function whose abstract instance is in a supplementary file
	spaceCode // a namespace
	blockCode // a block with children
)

// Forms (DWARF 5, §7.5.6).
const (
	formAddr, formData2, formData4, formString, formData1, formStrp                      = 0x01, 0x05, 0x06, 0x08, 0x0b, 0x0e
	formUdata, formRefAddr, formRef4, formSecOffset, formPresent, formAddrx, formRefSup4 = 0x0f, 0x10, 0x13, 0x17, 0x19, 0x1b, 0x1c
)

// attribute is an attribute and its form.
type attribute struct {
	name dwarf.Attr
	form byte
}

var body = []attribute{{dwarf.AttrLowpc, formAddr}, {dwarf.AttrHighpc, formData4}}

// abbreviations are in the order of their codes.
var abbreviations = []struct {
	tag      dwarf.Tag
	children bool
	attrs    []attribute
}{
	{dwarf.TagCompileUnit, true, append([]attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrCompDir, formStrp}, {dwarf.AttrLanguage, formData1}, {dwarf.AttrStmtList, formSecOffset}}, body...)},
	{dwarf.TagCompileUnit, false, nil},
	{dwarf.TagCompileUnit, true, []attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrStmtList, formSecOffset}, {dwarf.AttrLowpc, formAddr}, {dwarf.AttrRanges, formSecOffset}}},
	{dwarf.TagSubprogram, false, append([]attribute{{dwarf.AttrName, formStrp}}, body...)},
	{dwarf.TagSubprogram, true, append([]attribute{{dwarf.AttrName, formStrp}}, body...)},
	{dwarf.TagSubprogram, false, append([]attribute{{dwarf.AttrLinkageName, formStrp}}, body...)},
	{dwarf.TagSubprogram, false, []attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrRanges, formSecOffset}}},
	{dwarf.TagSubprogram, false, []attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrInline, formData1}}},
	{dwarf.TagInlinedSubroutine, true, append([]attribute{{dwarf.AttrAbstractOrigin, formRef4}, {dwarf.AttrCallFile, formData1}, {dwarf.AttrCallLine, formData2}}, body...)},
	{dwarf.TagInlinedSubroutine, false, append([]attribute{{dwarf.AttrAbstractOrigin, formRef4}, {dwarf.AttrCallFile, formData1}, {dwarf.AttrCallLine, formData2}}, body...)},
	{dwarf.TagStructType, true, []attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrByteSize, formData1}, {dwarf.AttrDeclFile, formData1}, {dwarf.AttrDeclLine, formData2}}},
	{dwarf.TagMember, false, []attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrType, formRef4}, {dwarf.AttrDataMemberLoc, formData1}}},
	{dwarf.TagSubprogram, false, []attribute{{dwarf.AttrName, formStrp}, {dwarf.AttrDeclaration, formPresent}}},
	{dwarf.TagTypeUnit, true, []attribute{{dwarf.AttrLanguage, formData1}}},
	{dwarf.TagPartialUnit, true, nil},
	{dwarf.TagImportedUnit, false, []attribute{{dwarf.AttrImport, formRefAddr}}},
	{dwarf.TagSubprogram, false, append([]attribute{{dwarf.AttrSpecification, formRef4}}, body...)},
	{dwarf.TagSubprogram, false, append([]attribute{{dwarf.AttrAbstractOrigin, formRefAddr}}, body...)},
	{dwarf.TagSkeletonUnit, false, append([]attribute{{dwarf.AttrDwoName, formStrp}, {dwarf.AttrStmtList, formSecOffset}, {dwarf.AttrAddrBase, formSecOffset}}, body...)},
	{dwarf.TagCompileUnit, true, []attribute{{dwarf.AttrName, formString}, {dwarf.AttrLanguage, formData1}}},
	{dwarf.TagSubprogram, false, []attribute{{dwarf.AttrName, formString}, {dwarf.AttrLowpc, formAddrx}, {dwarf.AttrHighpc, formData4}}},
	{dwarf.TagSubprogram, false, append([]attribute{{dwarf.AttrAbstractOrigin, formRefSup4}}, body...)},
	{dwarf.TagNamespace, true, []attribute{{dwarf.AttrName, formStrp}}},
	{dwarf.TagLexDwarfBlock, true, body},
}

// abbrevTable returns the .debug_abbrev of all files.
func abbrevTable() (b []byte) {
	for i, a := range abbreviations {
		b = binary.AppendUvarint(append(b, byte(i+1)), uint64(a.tag))
		b = append(b, 0)
		if a.children {
			b[len(b)-1] = 1
		}
		for _, attr := range a.attrs {
			b = binary.AppendUvarint(b, uint64(attr.name))
			b = append(b, attr.form)
		}
		b = append(b, 0, 0)
	}
	return append(b, 0)
}

// Types of units (DWARF 5, §7.5.1).
const compileUnit, typeUnit, partialUnit, skeletonUnit, splitUnit = 1, 2, 3, 4, 5

// debug has the DWARF 5 sections of a file while they are written.
type debug struct {
	info, strings, lines, lists, tuples, types []byte

	tables int    // equal abbreviation tables; 0 means 1
	codes  []byte // abbreviations at the end of the table
}

// name adds a string and returns its offset.
func (d *debug) name(s string) uint32 {
	at := len(d.strings)
	d.strings = append(append(d.strings, s...), 0)
	return uint32(at)
}

// begin begins a unit and returns its offset. more follows the header.
func (d *debug) begin(kind byte, more ...byte) int {
	start := len(d.info)
	d.info = append(d.info, 0, 0, 0, 0, 5, 0, kind, 8, 0, 0, 0, 0)
	d.info = append(d.info, more...)
	return start
}

// end ends the children of a unit's root, and the unit.
func (d *debug) end(start int) {
	d.info = append(d.info, 0)
	le.PutUint32(d.info[start:], uint32(len(d.info)-start-4))
}

// die begins a DIE, and returns its offset.
func (d *debug) die(code byte) int {
	d.info = append(d.info, code)
	return len(d.info) - 1
}

func (d *debug) u8(v byte)    { d.info = append(d.info, v) }
func (d *debug) u16(v uint16) { d.info = le.AppendUint16(d.info, v) }
func (d *debug) u32(v uint32) { d.info = le.AppendUint32(d.info, v) }
func (d *debug) u64(v uint64) { d.info = le.AppendUint64(d.info, v) }

// body adds low_pc and high_pc.
func (d *debug) body(low uint64, size uint32) {
	d.u64(low)
	d.u32(size)
}

// root begins a compilation unit in C of the code from low on, and returns its offset.
func (d *debug) root(name, dir uint32, low uint64, size, lines uint32) int {
	start := d.begin(compileUnit)
	d.die(rootCode)
	d.covers(start, low, uint64(size))
	d.u32(name)
	d.u32(dir)
	d.u8(0x0c) // C99
	d.u32(lines)
	d.body(low, size)
	return start
}

// covers adds to .debug_aranges that a unit has the code from low on.
func (d *debug) covers(unit int, low, size uint64) {
	d.tuples = append(d.tuples, 44, 0, 0, 0, 2, 0)
	d.tuples = le.AppendUint32(d.tuples, uint32(unit))
	d.tuples = append(d.tuples, 8, 0, 0, 0, 0, 0)
	d.tuples = le.AppendUint64(le.AppendUint64(d.tuples, low), size)
	d.tuples = append(d.tuples, make([]byte, 16)...)
}

// function adds a function; code is functionCode, parentCode or linkedCode.
func (d *debug) function(code byte, name uint32, low uint64, size uint32) {
	d.die(code)
	d.u32(name)
	d.body(low, size)
}

// call adds an inlined call of the DIE at origin in the unit at start; code is callCode or leafCode.
func (d *debug) call(code byte, start, origin int, low uint64, size uint32, line int) {
	d.die(code)
	d.u32(uint32(origin - start))
	d.u8(1)
	d.u16(uint16(line))
	d.body(low, size)
}

// program adds a line program of sequences, each of rows of step bytes from an address on, and returns its offset.
// The lines go on by one from row to row, and begin again at 1 in each sequence.
func (d *debug) program(step int, sequences ...sequence) uint32 {
	start := len(d.lines)
	b := append(d.lines, 0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0)
	header := len(b)
	b = append(b, 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)
	b = append(b, 1, 1, formString, 1)          // one directory, as a string
	b = append(b, "/src\x00"...)                //
	b = append(b, 2, 1, formString, 2, 0x0b, 2) // two files: a string, and a directory's number of one byte
	b = append(b, "a.c\x00\x00b.h\x00\x00"...)
	le.PutUint32(b[header-4:], uint32(len(b)-header))
	for _, s := range sequences {
		b = le.AppendUint64(append(b, 0, 9, 2), s.low) // DW_LNE_set_address
		b = append(b, 1)                               // DW_LNS_copy: line 1
		for range s.rows - 1 {
			b = append(b, byte(1+5+14*step+13)) // a special opcode
		}
		b = append(b, 2, byte(step), 0, 1, 1) // DW_LNS_advance_pc, DW_LNE_end_sequence
	}
	le.PutUint32(b[start:], uint32(len(b)-start-4))
	d.lines = b
	return uint32(start)
}

// sequence is a number of rows from an address on.
type sequence struct {
	low  uint64
	rows int
}

// ranges adds a list of ranges of size bytes, one every step bytes from low on, and returns its offset.
func (d *debug) ranges(low uint64, count int, step, size uint64) uint32 {
	if len(d.lists) == 0 {
		d.lists = append(d.lists, 0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0) // the header of .debug_rnglists
	}
	at := len(d.lists)
	for i := range uint64(count) {
		d.lists = append(d.lists, 7) // DW_RLE_start_length
		d.lists = le.AppendUint64(d.lists, low+i*step)
		d.lists = binary.AppendUvarint(d.lists, size)
	}
	d.lists = append(d.lists, 0)
	le.PutUint32(d.lists, uint32(len(d.lists)-4))
	return uint32(at)
}
