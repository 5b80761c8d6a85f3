package dwarfx

import (
	"debug/dwarf"
	"fmt"
	"hash/maphash"

	"symkit/internal/wire"
	"symkit/limits"
	"symkit/located"
)

// An abbreviation is compiled into a program of ops that reads a DIE's attributes:
// consecutive attributes of fixed size that are not wanted become one opSkip; wanted
// ones are opValue, and their values are put into slots. A table holds indexes into
// the abbrevSet of its kind of unit, so that equal abbreviations are compiled once.

// opKind is the kind of an op.
type opKind uint8

const (
	opSkip     opKind = iota // skip n bytes
	opSkipForm               // skip a value of form n, of variable size
	opValue                  // read a value of form n, into slot
	opValue4                 // the same of 4 bytes: most references and offsets
	opValue8                 // the same of 8 bytes: most addresses
	opConst                  // DW_FORM_implicit_const number n of the abbreviation, into slot
	opSibling                // a reference of form n to the next sibling
	opSibling4               // DW_FORM_ref4 to the next sibling
)

type op struct {
	kind opKind
	slot slot
	n    uint16
}

// class decides how the scan treats a DIE.
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
	ops, nops  uint32 // its program: ops[ops:][:nops]
	consts     uint32 // its first constant
	tag        uint16
	class      class
	children   bool
	hasSibling bool
	crossing   bool // an attribute can refer to another unit
	typed      bool // it has DW_AT_type
}

// abbrevTable is one compiled abbreviation table.
type abbrevTable struct {
	codes    []uint32          // index of abbrevs, of code 1, 2, 3, …
	sparse   map[uint64]uint32 // the same, where codes are not 1, 2, 3, …
	crossing bool              // one of its abbreviations is
	typed    bool              // one of its abbreviations is
	err      error             // the limit that the table exceeds; then it has nothing
	compiled                   // of its set, as of when the table was read
}

// tableKey identifies the compiled form of a table.
type tableKey struct {
	off uint64
	setKey
}

// setKey has everything that the compiled form of an abbreviation depends on.
type setKey struct {
	version  uint16
	addrSize uint8
	dwarf64  bool
	family   family
}

// family is where functions can be declared, by the language of a unit.
type family uint8

const (
	familyAny family = iota // in any type
	familyCxx               // in classes, not in enumerations
	familyC                 // in no type
)

func familyOf(l Language) family {
	switch {
	case l.isC():
		return familyC
	case l.isCxx():
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
	if i := code - 1; i < uint64(len(t.codes)) {
		return &t.abbrevs[t.codes[i]]
	}
	return nil
}

// abbrevs returns the compiled table of u. Units that share one share its
// compiled form.
func (d *Data) abbrevs(u *Unit) (*abbrevTable, error) {
	key := tableKey{u.abbrevOff, setKey{u.Version, u.AddrSize, u.Dwarf64, familyOf(u.Language)}}
	d.mu.Lock()
	t, set := d.tables[key], d.sets[key.setKey]
	if t == nil && set == nil {
		set = &abbrevSet{family: key.family, seed: maphash.MakeSeed(), known: make([]knownAbbrev, 1<<8)}
		d.sets[key.setKey] = set
	}
	d.mu.Unlock()
	if t != nil {
		return t, ofUnit(u, t.err)
	}

	// Several goroutines may compile one table; any of the results will do.
	if !d.spend(0) {
		d.abbrevsOver.Store(true)
		return nil, &located.Error{Section: ".debug_abbrev", Offset: int(min(u.abbrevOff, uint64(len(d.Abbrev)))), Err: ErrTooMany}
	}
	t, err := d.readTable(u, set)
	if err != nil && t == nil {
		return nil, ofUnit(u, err)
	}

	d.mu.Lock()
	d.tables[key] = t
	if len(t.abbrevs) >= maxSet {
		delete(d.sets, key.setKey)
	}
	d.mu.Unlock()
	return t, ofUnit(u, err)
}

// ofUnit adds the unit to an error of its table.
func ofUnit(u *Unit, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("abbreviations of the unit at .debug_info+%#x: %w", u.Off, err)
}

// spend subtracts n bytes from the budget of bytes to read of .debug_abbrev. It reports
// whether something is left.
func (d *Data) spend(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abbrevBytes -= n
	return d.abbrevBytes > 0
}

// remember subtracts n bytes from the memory that abbreviations may take. It reports whether they
// are left.
func (d *Data) remember(n int) bool { return d.abbrevMemory.Add(int64(-n)) >= 0 }

// TooManyAbbrevs reports whether a unit was lost because abbreviations take too much: which one
// depends on the order in which goroutines scan units.
func (d *Data) TooManyAbbrevs() bool { return d.abbrevsOver.Load() }

// Bytes of memory that the parts of a compiled abbreviation take, with the slots of hash tables.
const (
	tableMemory  = 320
	abbrevMemory = 160
	specMemory   = 32
	codeMemory   = 8
	sparseMemory = 40
)

// codeMemory is what a code of t takes in memory.
func (t *abbrevTable) codeMemory() int {
	if t.sparse != nil {
		return sparseMemory
	}
	return codeMemory
}

// readTable reads the abbreviation table of u. If it does not fit the memory that
// abbreviations may take, readTable returns a table that has this error alone.
//
// Such a table counts for half of what was left, so that it neither takes all from the others, nor can
// each of many tables take all that is left before it is lost.
func (d *Data) readTable(u *Unit, set *abbrevSet) (*abbrevTable, error) {
	set.mu.Lock()
	defer set.mu.Unlock()
	before, left := set.compiled, d.abbrevMemory.Load()
	t, err := d.fill(u, set)
	if err == nil || d.abbrevMemory.Load() >= 0 {
		return t, err
	}

	d.abbrevsOver.Store(true)
	set.cut(before)
	d.abbrevMemory.Store(left / 2)
	return &abbrevTable{err: err}, err
}

// fill reads the abbreviation table of u (DWARF 5 §7.5.3).
func (d *Data) fill(u *Unit, set *abbrevSet) (*abbrevTable, error) {
	c := d.cursor(".debug_abbrev", d.Abbrev)
	c.Seek(u.abbrevOff)
	defer func(from int) { d.spend(c.Pos() - from) }(c.Pos())
	t, fits := &abbrevTable{}, d.remember(tableMemory)
	for {
		start := c.Pos()
		code := c.ULEB()
		switch {
		case c.Err() != nil:
			return nil, c.Err()
		case !fits:
			return nil, &located.Error{Section: ".debug_abbrev", Offset: start, Err: d.Limits.Exceeded(limits.UnitRecords, d.FileSize)}
		case code == 0:
			t.compiled = set.compiled
			return t, nil
		}
		i, err := set.read(d, u, &c, start)
		if err != nil {
			return nil, err
		}
		fits = d.remember(t.codeMemory())
		t.crossing = t.crossing || set.abbrevs[i].crossing
		t.typed = t.typed || set.abbrevs[i].typed
		if !t.add(code, i) {
			return nil, &located.Error{Section: ".debug_abbrev", Offset: start,
				Err: fmt.Errorf("abbreviation code %d twice", code)}
		}
	}
}

// add adds the abbreviation with index i. It reports whether the code is new.
func (t *abbrevTable) add(code uint64, i uint32) bool {
	// The first code out of order turns the list into a map.
	if t.sparse == nil && code != uint64(len(t.codes))+1 {
		t.sparse = make(map[uint64]uint32, len(t.codes)+1)
		for k, i := range t.codes {
			t.sparse[uint64(k)+1] = i
		}
		t.codes = nil
	}

	// Codes are still 1, 2, 3, …
	if t.sparse == nil {
		t.codes = append(t.codes, i)
		return true
	}
	if _, twice := t.sparse[code]; twice {
		return false
	}
	t.sparse[code] = i
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

// limitSpecs fails c if an abbreviation that has n attributes may not have another:
// values without bytes take time for every DIE.
func limitSpecs(c *wire.Cursor, n uint64, l limits.Limits) {
	if n > l.Max(limits.AbbrevAttributes, 0) {
		c.Fail(c.Pos(), fmt.Errorf("%w: %w", ErrTooMany, l.Exceeded(limits.AbbrevAttributes, 0)))
	}
}

// findSpecs returns the .debug_abbrev offset of the attribute specifications of
// one abbreviation, without compiling the table.
//
// Units that share a table, as hundreds of type units do, mostly have roots of the same
// code: the table is searched for that code once.
func (d *Data) findSpecs(u *Unit, code uint64) (specs uint32, err error) {
	key := rootKey{u.abbrevOff, code}
	d.mu.Lock()
	specs, known := d.roots[key]
	d.mu.Unlock()
	if known {
		return specs, nil
	}

	defer func() {
		if err == nil {
			d.mu.Lock()
			d.roots[key] = specs
			d.mu.Unlock()
		}
	}()

	// The bytes read here and those compiled have one common limit.
	c := d.cursor(".debug_abbrev", d.Abbrev)
	c.Seek(u.abbrevOff)
	defer func(from int) { d.spend(c.Pos() - from) }(c.Pos())
	if !d.spend(0) {
		d.abbrevsOver.Store(true)
		c.Fail(c.Pos(), ErrTooMany)
	}
	for {
		start := c.Pos()
		have := c.ULEB()
		if have == 0 {
			c.Fail(start, fmt.Errorf("%w: %d, of the unit at .debug_info+%#x", ErrAbbrev, code, u.Off))
			return 0, c.Err()
		}
		if n, _ := declaration(c.Rest()); n > 0 && have != code {
			c.Skip(uint64(n))
			continue
		}

		// This is the abbreviation, or one that declaration cannot skip.
		c.ULEB() // tag
		c.U8()   // children
		specs = uint32(c.Pos())
		if have == code {
			return specs, c.Err()
		}
		for ok := true; ok; {
			_, ok = readSpec(&c)
		}
	}
}

// rootKey is an abbreviation code in a table, by the table's offset.
type rootKey struct{ table, code uint64 }

// classOf returns the class of DIEs with a tag.
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
