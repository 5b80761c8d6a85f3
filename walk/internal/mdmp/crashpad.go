package mdmp

import "symkit/internal/wire"

// readCrashpad decodes MinidumpCrashpadInfo. Damage to the records of the process, or of one
// module, loses only those records.
func (d *Dump) readCrashpad(c wire.Cursor) error {
	p := &CrashpadInfo{}
	read(&c, &p.crashpadInfo)
	if c.Err() != nil {
		return c.Err()
	}
	read(&c, &p.crashpadMask) // newer writers

	// A damaged list is noted, and the other list is still read.
	var err error
	p.Annotations, err = lists(d, p.Simple, d.annotation)
	d.lose(CrashpadInfoStream, err)
	p.Modules, err = lists(d, p.Links, d.crashpadLink)
	d.lose(CrashpadInfoStream, err)
	d.Crashpad = p
	return nil
}

// lists decodes a counted list of records. The records before
// a damaged one are kept.
func lists[R, T any](d *Dump, l Location, decode func(*R) (T, error)) (out []T, err error) {
	c := d.at(l)
	if l.Size == 0 {
		return nil, c.Err()
	}

	// A count is compared with the bytes of the list before anything is allocated.
	at, size := c.Pos(), sizeOf[R]()
	n := uint64(c.U32())
	if c.Err() == nil && n > uint64(c.Len())/size {
		c.Fail(at, ErrCount)
	}

	// Several locations can name the same list: the budget bounds the size of all of them,
	// decoded.
	if !d.spend(&c, int(n*size)) {
		return nil, c.Err()
	}

	for record := range records[R](&c, int(n), size) {
		value, err := decode(record)
		if err != nil {
			return out, err
		}
		out = append(out, value)
	}
	return out, c.Err()
}

// crashpadLink decodes the information of a module, whose damage is lost alone.
func (d *Dump) crashpadLink(link *crashpadLink) (CrashpadModule, error) {
	m, err := d.crashpadModule(link.Info)
	d.lose(CrashpadInfoStream, err)
	m.Module = int(link.Index)
	return m, nil
}

// crashpadModule decodes MinidumpModuleCrashpadInfo. The lists before a damaged
// one are kept.
func (d *Dump) crashpadModule(l Location) (m CrashpadModule, err error) {
	c := d.at(l)
	var r crashpadModule
	read(&c, &r)
	m.Version = r.Version
	if c.Err() != nil {
		return m, c.Err()
	}

	// Each of the three lists is optional: a list of size 0 is empty.
	m.List, err = lists(d, r.List, d.text) // MinidumpRVAList
	if err != nil {
		return m, err
	}
	m.Simple, err = lists(d, r.Simple, d.annotation)
	if err != nil {
		return m, err
	}
	m.Objects, err = lists(d, r.Objects, d.object)
	return m, err
}

// text decodes MinidumpRVAList's strings.
func (d *Dump) text(o *Offset) ([]byte, error) { return d.utf8(*o) }

// annotation decodes MinidumpSimpleStringDictionaryEntry.
func (d *Dump) annotation(r *simpleAnnotation) (a Annotation, err error) {
	a.Key, err = d.utf8(r.Key)
	if err != nil {
		return a, err
	}
	a.Value, err = d.utf8(r.Value)
	return a, err
}

// object decodes MinidumpAnnotation. A value at offset 0 is absent.
func (d *Dump) object(r *annotationObject) (a AnnotationObject, err error) {
	a.Type = r.Type
	a.Name, err = d.utf8(r.Name)
	if err == nil && r.Value.RVA != 0 {
		a.Value, err = d.utf8(r.Value)
	}
	return a, err
}
