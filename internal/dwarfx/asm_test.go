package dwarfx

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"symkit/located"
)

// enc is how a unit is encoded.
type enc struct {
	version int
	d64     bool // the 64-bit format
	addr    int  // address size
	big     bool // byte order
}

func (e enc) String() string {
	format, order := 32, "little"
	if e.d64 {
		format = 64
	}
	if e.big {
		order = "big"
	}
	return fmt.Sprintf("DWARF %d, %d-bit, %d-byte addresses, %s endian", e.version, format, e.addr, order)
}

// le4 and le5 are the usual encodings.
var (
	le4 = enc{version: 4, addr: 8}
	le5 = enc{version: 5, addr: 8}
)

// encodings are all that this package reads.
func encodings() (all []enc) {
	for version := 2; version <= 5; version++ {
		for _, d64 := range []bool{false, true} {
			for _, addr := range []int{4, 8} {
				for _, big := range []bool{false, true} {
					all = append(all, enc{version, d64, addr, big})
				}
			}
		}
	}
	return all
}

// buf is a section being written.
type buf struct {
	enc
	b []byte
}

func (w *buf) bytes(b ...byte) *buf { w.b = append(w.b, b...); return w }
func (w *buf) str(s string) *buf    { return w.bytes(append([]byte(s), 0)...) }

func (w *buf) uint(size int, v uint64) *buf {
	var b [8]byte
	if w.big {
		binary.BigEndian.PutUint64(b[:], v)
		return w.bytes(b[8-size:]...)
	}
	binary.LittleEndian.PutUint64(b[:], v)
	return w.bytes(b[:size]...)
}

func (w *buf) offset(v uint64) *buf  { return w.uint(w.offsetSize(), v) }
func (w *buf) address(v uint64) *buf { return w.uint(w.addr, v) }
func (w *buf) uleb(v uint64) *buf    { w.b = binary.AppendUvarint(w.b, v); return w }

func (w *buf) sleb(v int64) *buf {
	for ; v < -64 || v > 63; v >>= 7 {
		w.bytes(byte(v)&0x7f | 0x80)
	}
	return w.bytes(byte(v) & 0x7f)
}

// length writes the initial length of body and body itself.
func (w *buf) length(body []byte) *buf {
	if w.d64 {
		w.uint(4, 0xffffffff)
	}
	return w.offset(uint64(len(body))).bytes(body...)
}

func (e enc) offsetSize() int {
	if e.d64 {
		return 8
	}
	return 4
}

// lengthSize is the size of an initial length.
func (e enc) lengthSize() int {
	if e.d64 {
		return 12
	}
	return 4
}

func (e enc) buf() *buf { return &buf{enc: e} }

// forms names the forms as the assembler's texts do.
var forms = map[string]uint16{
	"addr": 0x01, "block2": 0x03, "block4": 0x04, "data2": 0x05, "data4": 0x06, "data8": 0x07, "string": 0x08,
	"block": 0x09, "block1": 0x0a, "data1": 0x0b, "flag": 0x0c, "sdata": 0x0d, "strp": 0x0e, "udata": 0x0f,
	"ref_addr": 0x10, "ref1": 0x11, "ref2": 0x12, "ref4": 0x13, "ref8": 0x14, "ref_udata": 0x15, "indirect": 0x16,
	"sec_offset": 0x17, "exprloc": 0x18, "flag_present": 0x19, "strx": 0x1a, "addrx": 0x1b, "ref_sup4": 0x1c,
	"strp_sup": 0x1d, "data16": 0x1e, "line_strp": 0x1f, "ref_sig8": 0x20, "implicit_const": 0x21, "loclistx": 0x22,
	"rnglistx": 0x23, "ref_sup8": 0x24, "strx1": 0x25, "strx2": 0x26, "strx3": 0x27, "strx4": 0x28, "addrx1": 0x29,
	"addrx2": 0x2a, "addrx3": 0x2b, "addrx4": 0x2c, "GNU_addr_index": 0x1f01, "GNU_str_index": 0x1f02,
	"GNU_ref_alt": 0x1f20, "GNU_strp_alt": 0x1f21, "LLVM_addrx_offset": 0x2001,
}

// tags and attrs are debug/dwarf's names of tags and attributes.
var tags, attrs = func() (map[string]uint64, map[string]uint64) {
	t, a := map[string]uint64{}, map[string]uint64{"MIPSLinkage": attrMIPSLinkage, "GNUAddrBase": attrGNUAddrBase}
	for i := range uint64(0x100) {
		t[dwarf.Tag(i).String()], a[dwarf.Attr(i).String()] = i, i
	}
	return t, a
}()

// asm assembles units from text:
//
//	unit partial
//	  CompileUnit Language:data1=4
//	    Subprogram @f Name:string=f Lowpc:addr=0x1000 Highpc:data4=0x10
//
// Deeper indentation makes children; "{}" makes an empty list of them. A
// reference takes a number, @label (with +1 after it for what is no DIE) or,
// for Sibling, "next". indirect takes another form after a slash:
// Name:indirect/string=f. Strings of .debug_str and the like are put there.
// The type of a type unit is labelled @type. Abbreviations number themselves; "#9" in front of the tag asks for a code.
type asm struct {
	enc
	code    CodeMap
	info    []byte
	abbrev  *buf
	str     []byte
	lineStr []byte
	strOffs []uint64
	addrs   []uint64
	sec     Sections // the sections a test writes itself
	labels  map[string]uint64
	fixups  []fixup
}

// fixup is a reference to a label, to be filled in at the end.
type fixup struct {
	at, size int
	unit     uint64 // what the reference counts from
	label    string
}

func (e enc) asm() *asm {
	return &asm{enc: e, abbrev: e.buf(), labels: map[string]uint64{}, code: CodeMap{{Lo: 0x1000, Hi: 0x100000}}}
}

type node struct {
	words []string
	kids  []*node
}

// units assembles text after what is there.
func (a *asm) units(text string) *asm {
	type open struct {
		indent int
		n      *node
	}
	var stack []open
	var roots []*node
	kinds := []string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if words[0] == "unit" {
			kinds = append(kinds, append(words, "compile")[1])
			roots, stack = append(roots, nil), nil
			continue
		}
		n := &node{words: words}
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			roots[len(roots)-1] = n
		} else {
			p := stack[len(stack)-1].n
			p.kids = append(p.kids, n)
		}
		stack = append(stack, open{indent, n})
	}
	for i, n := range roots {
		a.unit(kinds[i], n)
	}
	return a
}

var kindCodes = map[string]byte{"compile": 1, "type": 2, "partial": 3, "skeleton": 4, "split_compile": 5, "split_type": 6}

// unit assembles one unit and its abbreviation table.
func (a *asm) unit(kind string, root *node) {
	h := a.buf().uint(2, uint64(a.version))
	if a.version == 5 {
		h.bytes(kindCodes[kind], byte(a.addr)).offset(uint64(len(a.abbrev.b)))
		switch kind {
		case "skeleton", "split_compile":
			h.uint(8, 0x1122334455667788)
		case "type", "split_type":
			h.uint(8, 0x1122334455667788).offset(0)
		}
	} else {
		h.offset(uint64(len(a.abbrev.b))).bytes(byte(a.addr))
		if kind == "type" { // of .debug_types
			h.uint(8, 0x1122334455667788).offset(0)
		}
	}
	start := uint64(len(a.info))
	w := &dieWriter{asm: a, unit: start, w: a.buf(), shapes: map[string]uint64{}}
	w.base = start + uint64(a.lengthSize()+len(h.b))
	w.die(root)
	if _, ok := a.labels["@type"]; ok && strings.HasSuffix(kind, "type") {
		a.fixups = append(a.fixups, fixup{int(w.base) - a.offsetSize(), a.offsetSize(), start, "@type"})
	}
	a.abbrev.uleb(0)
	a.info = append(a.info, a.buf().length(append(h.b, w.w.b...)).b...)
}

// dieWriter writes the DIEs of one unit.
type dieWriter struct {
	*asm
	unit, base uint64 // .debug_info offsets of the unit and of its root
	w          *buf
	shapes     map[string]uint64 // abbreviation codes
}

func (d *dieWriter) pos() uint64 { return d.base + uint64(len(d.w.b)) }

func (d *dieWriter) die(n *node) {
	code, words := uint64(0), n.words
	if strings.HasPrefix(words[0], "#") {
		code, words = number(words[0][1:]), words[1:]
	}
	kids := len(n.kids) > 0
	var shape strings.Builder
	shape.WriteString(words[0])
	for _, w := range words[1:] {
		switch {
		case w == "{}":
			kids = true
		case w[0] == '@':
			d.labels[w] = d.pos()
		case strings.Contains(w, ":implicit_const="):
			shape.WriteString(" " + w)
		default:
			shape.WriteString(" " + strings.Split(w, "=")[0])
		}
	}
	shape.WriteString(strconv.FormatBool(kids) + strconv.FormatUint(code, 10))
	have, ok := d.shapes[shape.String()]
	if !ok {
		have = code
		if code == 0 {
			have = uint64(len(d.shapes)) + 1
		}
		d.shapes[shape.String()] = have
		d.abbreviation(have, words, kids)
	}
	d.w.uleb(have)
	next := fmt.Sprintf("@next of %d", d.pos())
	for _, w := range words[1:] {
		if w != "{}" && w[0] != '@' {
			d.attr(w, next)
		}
	}
	for _, k := range n.kids {
		d.die(k)
	}
	if kids {
		d.w.bytes(0)
	}
	d.labels[next] = d.pos()
}

// splitAttr parses Attr:form=value.
func splitAttr(w string) (attr uint64, form string, value string) {
	name, rest, _ := strings.Cut(w, ":")
	form, value, _ = strings.Cut(rest, "=")
	attr, ok := attrs[name]
	if !ok {
		attr = number(name)
	}
	return attr, form, value
}

func formCode(name string) uint64 {
	if f, ok := forms[name]; ok {
		return uint64(f)
	}
	return number(name)
}

func (d *dieWriter) abbreviation(code uint64, words []string, kids bool) {
	tag, ok := tags[words[0]]
	if !ok {
		tag = number(words[0])
	}
	d.abbrev.uleb(code).uleb(tag).bytes(0)
	if kids {
		d.abbrev.b[len(d.abbrev.b)-1] = 1
	}
	for _, w := range words[1:] {
		if w == "{}" || w[0] == '@' {
			continue
		}
		attr, form, value := splitAttr(w)
		form, _, _ = strings.Cut(form, "/")
		d.abbrev.uleb(attr).uleb(formCode(form))
		if form == "implicit_const" {
			d.abbrev.sleb(int64(number(value)))
		}
	}
	d.abbrev.uleb(0).uleb(0)
}

// attr writes one value.
func (d *dieWriter) attr(w, next string) {
	_, form, value := splitAttr(w)
	for {
		outer, inner, ok := strings.Cut(form, "/")
		if !ok {
			break
		}
		if outer != "indirect" {
			panic("assembler: " + w)
		}
		innermost, _, _ := strings.Cut(inner, "/")
		d.w.uleb(formCode(innermost))
		form = inner
	}
	if value == "next" {
		value = next
	}
	d.value(form, value)
}

func (d *dieWriter) value(form, value string) {
	w := d.w
	num := func() uint64 { return number(value) }
	switch form {
	case "flag_present", "implicit_const":
	case "string":
		w.str(value)
	case "strp", "strp_sup", "GNU_strp_alt":
		w.offset(poolString(&d.str, value))
	case "line_strp":
		w.offset(poolString(&d.lineStr, value))
	case "strx", "GNU_str_index":
		w.uleb(d.strIndex(value))
	case "strx1", "strx2", "strx3", "strx4":
		w.uint(int(form[4]-'0'), d.strIndex(value))
	case "addr":
		w.address(num())
	case "addrx1", "addrx2", "addrx3", "addrx4":
		w.uint(int(form[5]-'0'), num())
	case "data1", "flag":
		w.uint(1, num())
	case "data2":
		w.uint(2, num())
	case "data4", "ref_sup4":
		w.uint(4, num())
	case "data8", "ref_sig8", "ref_sup8":
		w.uint(8, num())
	case "data16":
		w.uint(8, num()).uint(8, num())
	case "sec_offset", "GNU_ref_alt":
		w.offset(num())
	case "udata", "addrx", "loclistx", "rnglistx", "GNU_addr_index":
		w.uleb(num())
	case "LLVM_addrx_offset":
		w.uleb(num()>>32).uint(4, num()&0xffffffff)
	case "sdata":
		w.sleb(int64(num()))
	case "block1":
		w.uint(1, uint64(len(value))).bytes([]byte(value)...)
	case "block2":
		w.uint(2, uint64(len(value))).bytes([]byte(value)...)
	case "block4":
		w.uint(4, uint64(len(value))).bytes([]byte(value)...)
	case "exprloc":
		if digits, ok := strings.CutPrefix(value, "0x"); ok {
			b, err := hex.DecodeString(digits)
			if err != nil {
				panic("assembler: " + value)
			}
			value = string(b)
		}
		w.uleb(uint64(len(value))).bytes([]byte(value)...)
	case "block":
		w.uleb(uint64(len(value))).bytes([]byte(value)...)
	case "ref1", "ref2", "ref4", "ref8", "ref_addr", "ref_udata":
		d.ref(form, value)
	default:
		panic("assembler: form " + form)
	}
}

// ref writes a reference; one to a label is filled in by sections.
func (d *dieWriter) ref(form, value string) {
	size, unit := 5, d.unit // ref_udata: a LEB128 padded to five bytes
	switch form {
	case "ref_addr":
		size, unit = d.offsetSize(), 0
		if d.version == 2 {
			size = d.addr
		}
	case "ref1", "ref2", "ref4", "ref8":
		size = int(form[3] - '0')
	}
	if value[0] == '@' {
		d.fixups = append(d.fixups, fixup{int(d.pos()), size, unit, value})
		d.w.bytes(make([]byte, size)...)
		return
	}
	if size == 5 {
		d.w.uleb(number(value))
		return
	}
	d.w.uint(size, number(value))
}

// poolString gives the offset of a string in a section of strings, appended
// where it is new.
func poolString(pool *[]byte, s string) uint64 {
	at := bytes.Index(*pool, append([]byte(s), 0))
	if at >= 0 {
		return uint64(at)
	}
	at = len(*pool)
	*pool = append(append(*pool, s...), 0)
	return uint64(at)
}

// strIndex gives the index of a string of .debug_str_offsets; a number stands
// for itself.
func (a *asm) strIndex(s string) uint64 {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n
	}
	a.strOffs = append(a.strOffs, poolString(&a.str, s))
	return uint64(len(a.strOffs) - 1)
}

func number(s string) uint64 {
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		panic("assembler: " + err.Error())
	}
	return v
}

// sections fills in the references and puts the sections together.
func (a *asm) sections() Sections {
	for _, f := range a.fixups {
		label, plus, _ := strings.Cut(f.label, "+")
		at, ok := a.labels[label]
		if !ok {
			panic("assembler: no label " + label)
		}
		v := at - f.unit
		if plus != "" {
			v += number(plus)
		}
		w := a.buf().uint(8, v)
		if f.size == 5 {
			for i := range 5 {
				a.info[f.at+i] = byte(v>>(7*i))&0x7f | 0x80
			}
			a.info[f.at+4] &= 0x7f
		} else if a.big {
			copy(a.info[f.at:], w.b[8-f.size:])
		} else {
			copy(a.info[f.at:f.at+f.size], w.b)
		}
	}
	s := a.sec
	s.BigEndian, s.AddrSize = a.big, a.addr
	s.Info, s.Abbrev, s.Str, s.LineStr = a.info, a.abbrev.b, a.str, a.lineStr
	s.StrOffsets = a.table(a.offsetSize(), a.strOffs, 0)
	s.Addr = a.table(a.addr, a.addrs, byte(a.addr))
	return s
}

// table writes .debug_addr or .debug_str_offsets: numbers, after a header in
// DWARF 5 (§7.26, §7.27) that ends in an address size or padding.
func (a *asm) table(size int, v []uint64, addrSize byte) []byte {
	w := a.buf()
	if len(v) == 0 {
		return nil
	}
	for _, n := range v {
		w.uint(size, n)
	}
	if a.version < 5 {
		return w.b
	}
	body := a.buf().uint(2, 5).bytes(addrSize, 0).bytes(w.b...)
	return a.buf().length(body.b).b
}

// open opens what was assembled; it must be faultless.
func (a *asm) open(t testing.TB) *Data {
	t.Helper()
	d, errs := Open(a.sections(), a.code)
	for _, err := range errs {
		t.Fatalf("Open: %v", err)
	}
	return d
}

// scan assembles text and scans all its units.
func (e enc) scan(t testing.TB, text string) (*asm, *Data, []Scan) {
	t.Helper()
	a := e.asm().units(text)
	d, scans := a.scan(t)
	return a, d, scans
}

func (a *asm) scan(t testing.TB) (*Data, []Scan) {
	t.Helper()
	d := a.open(t)
	scans := make([]Scan, len(d.Units))
	for i := range d.Units {
		if err := d.ScanUnit(d.Units[i], true, &scans[i]); err != nil {
			t.Fatalf("ScanUnit %d: %v", i, err)
		}
	}
	return d, scans
}

// checkErr checks that err is located where it should be. sentinel nil stands
// for an error without one.
func checkErr(t testing.TB, err, sentinel error, section string, offset int) {
	t.Helper()
	e, ok := errors.AsType[*located.Error](err)
	if !ok {
		t.Fatalf("error %v, want a *located.Error of %s+%#x: %v", err, section, offset, sentinel)
	}
	if sentinel != nil && !errors.Is(err, sentinel) {
		t.Errorf("error %v, want %v", err, sentinel)
	}
	if e.Section != section || e.Offset != offset {
		t.Errorf("error %v, want it at %s+%#x", err, section, offset)
	}
}

// nameOf reads the names of one DIE.
func nameOf(d *Data, ref Ref) (Naming, error) {
	var x Namer
	return x.NameOf(d, ref)
}
