package dwarfx

// typeUnits finds type units by their signature (DWARF 5 §3.1.4): where the
// DIEs of a type are that other units only refer to.
type typeUnits struct {
	data *Data // of .debug_types; nil where they are in .debug_info
	refs map[uint64]Ref
}

func (t *typeUnits) add(signature uint64, ref Ref) {
	if t.refs == nil {
		t.refs = map[uint64]Ref{}
	}
	t.refs[signature] = ref
}

// openTypes reads the unit headers of .debug_types (DWARF 4 §7.5.1.2).
func (d *Data) openTypes() (errs []error) {
	s := d.Sections
	s.Info, s.Types = s.Types, nil
	types := New(s, d.code)
	types.name, types.Alt = ".debug_types", d.Alt
	d.types.data = types
	c := types.cursor(".debug_types", s.Info)
	for c.Len() > 0 {
		u, err := readTypeHeader(&c)
		if err != nil {
			errs = append(errs, err)
			if c.Err() != nil {
				break
			}
			continue
		}
		u.data = types
		if err := types.readRoot(&u); err != nil {
			errs = append(errs, err)
			continue
		}
		types.Units = append(types.Units, u)
		d.types.add(u.typeSignature, Ref(u.Off+u.typeOffset))
	}
	return errs
}

// typeName returns the name of the type with a signature; none where no such
// unit is there.
func (d *Data) typeName(signature uint64) ([]byte, error) {
	ref, ok := d.types.refs[signature]
	if !ok {
		return nil, nil
	}
	if d.types.data != nil {
		d = d.types.data
	}
	var die DIE
	u, err := d.DIEAt(ref, &die)
	if err != nil {
		return nil, err
	}
	return d.String(d.str(u, die.vals[slotName]))
}
