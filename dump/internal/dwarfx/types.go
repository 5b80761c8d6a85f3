package dwarfx

import "fmt"

// typeUnits finds type units by their signature (DWARF 5 §3.1.4): units that hold the
// DIEs of a type to which other units refer. DWARF 4 has them in .debug_types, which is
// then a Data of its own; DWARF 5 has them in .debug_info.
type typeUnits struct {
	data *Data // of .debug_types; nil if the type units are in .debug_info
	refs map[uint64]Ref
	pkg  *Package // the .dwp file of a split unit, which has more type units
}

func (t *typeUnits) add(signature uint64, ref Ref) {
	if t.refs == nil {
		t.refs = map[uint64]Ref{}
	}
	t.refs[signature] = ref
}

// openTypes reads the unit headers of .debug_types (DWARF 4 §7.5.1.2).
func (d *Data) openTypes() (errs []error) {
	s, info := d.Sections, d.Types
	s.Types = nil
	types := New(s, len(info), d.code)
	types.name, types.alt = ".debug_types", d.alt
	d.types.data = types

	c := types.cursor(".debug_types", info)
	for c.Len() > 0 {
		u, err := readHeader(&c, true)
		u.data = types
		if err == nil {
			u.bytes = info[u.Off:u.End]
			err = types.readRoot(&u)
		}

		// The header leads to the DIE of the type.
		switch {
		case err == nil:
			types.addUnit(&u, &c)
			d.types.add(u.typeSignature, Ref(u.Off+u.typeOffset))
		case types.isRepeated():
			err = fmt.Errorf("%w; %w", err, ErrRepeated)
			c.Fail(int(u.Off), err)
			fallthrough
		default:
			errs = append(errs, err)
		}
	}
	if err := types.Cut(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// typeUnit returns the DIE of the type with a signature, and its Data, which is nil if
// there is no such unit.
func (d *Data) typeUnit(signature uint64) (*Data, Ref) {
	ref, ok := d.types.refs[signature]
	switch {
	case ok && d.types.data != nil:
		return d.types.data, ref
	case ok:
		return d, ref
	case d.types.pkg != nil:
		return d.types.pkg.typeUnit(signature)
	}
	return nil, 0
}

// SetAlt makes the supplementary file readable from d. It must be called before
// anything is scanned.
func (d *Data) SetAlt(alt *Data) {
	d.alt = alt
	if d.types.data != nil {
		d.types.data.alt = alt
	}
}
