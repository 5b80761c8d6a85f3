package dwarfx

import (
	"debug/dwarf"
	"fmt"

	"symkit/internal/limits"
	"symkit/internal/wire"
)

// An abbreviation is compiled into a program of ops that passes over a DIE's
// attributes: runs of attributes of fixed size that nobody asks for become one
// opSkip. Wanted attributes are opValue; their values land in slots.
type opKind uint8

const (
	opSkip     opKind = iota // n bytes
	opSkipForm               // a value of form n, of variable size
	opValue                  // a value of form n, into slot
	opValue4                 // the same of 4 bytes: most references and offsets
	opValue8                 // the same of 8 bytes: most addresses
	opConst                  // DW_FORM_implicit_const number n of the table, into slot
	opSibling                // a reference of form n to the next sibling
	opSibling4               // DW_FORM_ref4 to the next sibling
)

type op struct {
	kind opKind
	slot slot
	n    uint16
}

// class tells what the scan does with a DIE.
type class uint8

const (
	classSkip   class = iota // neither it nor its children are of interest
	classScope               // its children may be of interest
	classFunc                // a function
	classInline              // an inlined call
)

// abbrev is a compiled abbreviation.
type abbrev struct {
	specs      uint32 // .debug_abbrev offset of its attribute specifications
	ops, nops  uint32 // its program: table.ops[ops:][:nops]
	tag        uint16
	class      class
	children   bool
	hasSibling bool
}

// abbrevTable is one compiled abbreviation table.
type abbrevTable struct {
	abbrevs []abbrev
	sparse  map[uint64]uint32 // code to index, where codes are not 1, 2, 3, …
	ops     []op
	consts  []int64
	// crossing tells that it has a form that can refer to another unit.
	crossing bool
}

// tableKey names everything that the compiled form depends on.
type tableKey struct {
	off      uint64
	version  uint16
	addrSize uint8
	dwarf64  bool
	family   family
}

// family is what a language means for the scan: where functions can hide.
type family uint8

const (
	familyAny family = iota // in any type
	familyCxx               // in classes, not in enumerations
	familyC                 // in no type
)

func familyOf(l Language) family {
	switch {
	case l.IsC():
		return familyC
	case l.IsCxx():
		return familyCxx
	}
	return familyAny
}

// lookup returns the abbreviation of a code, or nil.
func (t *abbrevTable) lookup(code uint64) *abbrev {
	if t.sparse != nil {
		i, ok := t.sparse[code]
		if !ok {
			return nil
		}
		return &t.abbrevs[i]
	}
	// Code 0 wraps to the largest number.
	if i := code - 1; i < uint64(len(t.abbrevs)) {
		return &t.abbrevs[i]
	}
	return nil
}

// abbrevs returns the compiled table of u. Units that share one share its
// compiled form.
func (d *Data) abbrevs(u *Unit) (*abbrevTable, error) {
	key := tableKey{u.abbrevOff, u.Version, u.AddrSize, u.Dwarf64, familyOf(u.Language)}
	d.mu.Lock()
	t := d.tables[key]
	d.mu.Unlock()
	if t != nil {
		return t, nil
	}
	if !d.spend(0) {
		return nil, &wire.Error{Section: ".debug_abbrev", Offset: int(min(u.abbrevOff, uint64(len(d.Abbrev)))), Err: ErrTooMany}
	}
	t, err := d.compileTable(u, key.family)
	if err != nil {
		return nil, fmt.Errorf("abbreviations of the unit at .debug_info+%#x: %w", u.Off, err)
	}
	d.mu.Lock()
	d.tables[key] = t
	d.mu.Unlock()
	return t, nil
}

// spend takes n bytes of .debug_abbrev from what may be read in all; it reports
// whether something is left.
func (d *Data) spend(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abbrevBytes -= n
	return d.abbrevBytes > 0
}

// compileTable reads an abbreviation table (DWARF 5 §7.5.3).
func (d *Data) compileTable(u *Unit, f family) (*abbrevTable, error) {
	c := d.cursor(".debug_abbrev", d.Abbrev)
	c.Seek(u.abbrevOff)
	t := &abbrevTable{}
	defer func(from int) { d.spend(c.Pos() - from) }(c.Pos())
	for {
		start := c.Pos()
		code := c.ULEB()
		if code == 0 || c.Err() != nil {
			if t.crossing {
				d.crossing.Store(true)
			}
			return t, c.Err()
		}
		tag := c.ULEB()
		if tag > 0xffff {
			c.Fail(start, fmt.Errorf("tag %#x", tag))
		}
		a := abbrev{
			tag: uint16(tag), children: c.U8() != 0,
			class: classOf(dwarf.Tag(tag), f),
			specs: uint32(c.Pos()), ops: uint32(len(t.ops)),
		}
		if err := t.compile(u, &c, &a); err != nil {
			return nil, err
		}
		if !t.add(code, a) {
			return nil, &wire.Error{Section: ".debug_abbrev", Offset: start,
				Err: fmt.Errorf("abbreviation code %d twice", code)}
		}
	}
}

// add appends an abbreviation; it reports whether the code is new.
func (t *abbrevTable) add(code uint64, a abbrev) bool {
	if t.sparse == nil && code != uint64(len(t.abbrevs))+1 {
		t.sparse = make(map[uint64]uint32, len(t.abbrevs)+1)
		for i := range t.abbrevs {
			t.sparse[uint64(i)+1] = uint32(i)
		}
	}
	if t.sparse != nil {
		if _, twice := t.sparse[code]; twice {
			return false
		}
		t.sparse[code] = uint32(len(t.abbrevs))
	}
	t.abbrevs = append(t.abbrevs, a)
	return true
}

// spec is one attribute specification of an abbreviation.
type spec struct {
	attr     uint64
	form     uint16
	implicit int64 // of DW_FORM_implicit_const
}

// readSpec reads an attribute specification; ok is false at the end of the
// list or after a failure.
func readSpec(c *wire.Cursor) (s spec, ok bool) {
	start := c.Pos()
	s.attr = c.ULEB()
	form := c.ULEB()
	if s.attr == 0 && form == 0 {
		return s, false
	}
	if form > 0xffff {
		c.Fail(start, fmt.Errorf("%w %#x", ErrForm, form))
	}
	s.form = uint16(form)
	if s.form == formImplicitConst {
		s.implicit = c.SLEB()
	}
	return s, c.Err() == nil
}

// limitSpecs fails c where an abbreviation has n attributes before and may not
// have another: values of no size cost time for every DIE.
func limitSpecs(c *wire.Cursor, n uint64) {
	if n > limits.AbbrevAttributes.Max(0) {
		c.Fail(c.Pos(), fmt.Errorf("%w: %w", ErrTooMany, limits.AbbrevAttributes.Exceeded(0)))
	}
}

// compile reads the attribute specifications of a and appends its program.
func (t *abbrevTable) compile(u *Unit, c *wire.Cursor, a *abbrev) error {
	seen := uint64(0) // slots: an attribute occurs once (DWARF 5 §2.2)
	for n := uint64(0); ; n++ {
		at := c.Pos()
		limitSpecs(c, n)
		s, ok := readSpec(c)
		if !ok {
			a.nops = uint32(len(t.ops)) - a.ops
			return c.Err()
		}
		size, known := formSize(u, s.form)
		if !known {
			return &wire.Error{Section: ".debug_abbrev", Offset: at, Err: fmt.Errorf("%w %#x", ErrForm, s.form)}
		}
		if s.form == formRefAddr || s.form == formRefSig8 || s.form == formIndirect {
			t.crossing = true
		}
		slot, wanted := scanSlot(a.class, s.attr)
		if wanted = wanted && seen&(1<<slot) == 0; wanted {
			seen |= 1 << slot
		}
		switch {
		case s.attr == attrSibling && a.children && !a.hasSibling && isUnitRef(s.form):
			a.hasSibling = true
			t.ops = append(t.ops, op{sized(opSibling, size), 0, s.form})
		case wanted && s.form == formImplicitConst && len(t.consts) < 1<<16:
			t.ops = append(t.ops, op{opConst, slot, uint16(len(t.consts))})
			t.consts = append(t.consts, s.implicit)
		case wanted && s.form != formImplicitConst:
			t.ops = append(t.ops, op{sized(opValue, size), slot, s.form})
		case size < 0:
			t.ops = append(t.ops, op{opSkipForm, 0, s.form})
		case size > 0:
			t.skip(a, size)
		}
	}
}

// findSpecs returns the .debug_abbrev offset of the attribute specifications of
// one abbreviation, without compiling the table.
func (d *Data) findSpecs(u *Unit, code uint64) (specs uint32, err error) {
	c := d.cursor(".debug_abbrev", d.Abbrev)
	c.Seek(u.abbrevOff)
	defer func(from int) { d.spend(c.Pos() - from) }(c.Pos())
	if !d.spend(0) {
		c.Fail(c.Pos(), ErrTooMany)
	}
	for {
		start := c.Pos()
		have := c.ULEB()
		if have == 0 {
			c.Fail(start, fmt.Errorf("%w: %d, of the unit at .debug_info+%#x", ErrAbbrev, code, u.Off))
			return 0, c.Err()
		}
		c.ULEB() // tag
		c.U8()   // children
		if specs = uint32(c.Pos()); have == code {
			return specs, c.Err()
		}
		for ok := true; ok; {
			_, ok = readSpec(&c)
		}
	}
}

// sized is the op for a value of a size, as the kind tells or quicker.
func sized(kind opKind, size int) opKind {
	switch {
	case kind == opSibling && size == 4:
		return opSibling4
	case kind == opValue && size == 4:
		return opValue4
	case kind == opValue && size == 8:
		return opValue8
	}
	return kind
}

// skip appends size bytes to pass over to the program of a.
func (t *abbrevTable) skip(a *abbrev, size int) {
	if last := len(t.ops) - 1; last >= int(a.ops) && t.ops[last].kind == opSkip && int(t.ops[last].n)+size < 1<<16 {
		t.ops[last].n += uint16(size)
		return
	}
	t.ops = append(t.ops, op{opSkip, 0, uint16(size)})
}

// classOf tells what the scan does with a DIE.
func classOf(tag dwarf.Tag, f family) class {
	switch tag {
	case dwarf.TagSubprogram, dwarf.TagEntryPoint:
		return classFunc
	case dwarf.TagInlinedSubroutine:
		return classInline
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit, dwarf.TagNamespace, dwarf.TagModule,
		dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
		return classScope
	case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		if f != familyC {
			return classScope
		}
	case dwarf.TagEnumerationType, dwarf.TagVariantPart, dwarf.TagVariant:
		if f == familyAny {
			return classScope
		}
	}
	return classSkip
}
