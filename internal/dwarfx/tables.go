package dwarfx

import (
	"fmt"
	"hash/maphash"

	"symkit/internal/limitof"
	"symkit/located"
)

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
	t, fits, owed := &abbrevTable{}, d.remember(tableMemory), 0
	for {
		start := c.Pos()
		code := c.ULEB()
		switch {
		case c.Err() != nil:
			return nil, c.Err()
		case !fits:
			return nil, &located.Error{Section: ".debug_abbrev", Offset: start, Err: d.Limits.Exceeded(limitof.UnitRecords, d.FileSize)}
		case code == 0:
			t.compiled = set.compiled
			return t, nil
		}
		i, err := set.read(d, u, &c, start)
		if err != nil {
			return nil, err
		}
		owed += t.codeMemory()
		if owed >= tableMemory {
			fits, owed = d.remember(owed), 0
		}
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
