package dwarfx

func (t *typeUnits) add(signature uint64, ref Ref) {
	if t.refs == nil {
		t.refs = map[uint64]Ref{}
	}
	t.refs[signature] = ref
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
