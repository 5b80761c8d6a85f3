package mdmp

import "symkit/internal/wire"

// CrashpadInfo is MinidumpCrashpadInfo: the annotations of Crashpad's client.
type CrashpadInfo struct {
	Version uint32
	// ReportID and ClientID are UUIDs in the order in which they are printed.
	ReportID, ClientID []byte
	// AddressMask has the bits set that are no part of an address of code
	// (pointer authentication); 0 if the dump does not have them.
	AddressMask uint64
	Annotations []Annotation
	Modules     []CrashpadModule
}

// CrashpadModule is MinidumpModuleCrashpadInfo: the annotations of one module.
type CrashpadModule struct {
	Module  int // index in the dump's own list of modules
	Version uint32
	List    [][]byte
	Simple  []Annotation
	Objects []AnnotationObject
}

// Annotation is a name with a value.
type Annotation struct{ Key, Value []byte }

// AnnotationObject is MinidumpAnnotation: a name with a value that has a type.
type AnnotationObject struct {
	Name  []byte
	Type  uint16 // 0: invalid, 1: string, from 0x8000 the client's own
	Value []byte
}

// AnnotationString is the type of an annotation that is a string.
const AnnotationString = 1

// readCrashpad decodes MinidumpCrashpadInfo. Damage to the records of the process, or of one
// module, loses only those records.
func (d *Dump) readCrashpad(c wire.Cursor) error {
	p := &CrashpadInfo{Version: c.U32(), ReportID: guid(&c), ClientID: guid(&c)}
	simple, modules := location(&c), location(&c)
	if c.Err() != nil {
		return c.Err()
	}
	if c.Len() >= 12 { // newer writers
		c.Skip(4)
		p.AddressMask = c.U64()
	}

	// A damaged list is noted, and the other list is still read.
	var err error
	p.Annotations, err = list(d, simple, 8, d.annotation)
	d.lose(CrashpadInfoStream, err)
	p.Modules, err = list(d, modules, 12, d.crashpadLink)
	d.lose(CrashpadInfoStream, err)
	d.Crashpad = p
	return nil
}

// list decodes a counted list of records of size bytes each. The records before
// a damaged one are kept.
func list[T any](d *Dump, l Location, size int, decode func(c *wire.Cursor) (T, error)) (out []T, err error) {
	c := d.at(l)
	if l.Size == 0 {
		return nil, c.Err()
	}

	// A count is compared with the bytes of the list before anything is allocated.
	at := c.Pos()
	n := uint64(c.U32())
	if c.Err() == nil && n > uint64(c.Len())/uint64(size) {
		c.Fail(at, ErrCount)
	}

	// Several locations can name the same list: the budget bounds the size of all of them,
	// decoded.
	if !d.spend(&c, int(n)*size) {
		return nil, c.Err()
	}

	for range n {
		record, err := decode(&c)
		if err != nil {
			return out, err
		}
		out = append(out, record)
	}
	return out, c.Err()
}

// crashpadLink decodes MinidumpModuleCrashpadInfoLink: the index of a module and
// the place of its information, whose damage is lost alone.
func (d *Dump) crashpadLink(c *wire.Cursor) (CrashpadModule, error) {
	index := c.U32()
	m, err := d.crashpadModule(location(c))
	d.lose(CrashpadInfoStream, err)
	m.Module = int(index)
	return m, nil
}

// crashpadModule decodes MinidumpModuleCrashpadInfo. The lists before a damaged
// one are kept.
func (d *Dump) crashpadModule(l Location) (m CrashpadModule, err error) {
	c := d.at(l)
	m.Version = c.U32()
	texts, simple, objects := location(&c), location(&c), location(&c)
	if c.Err() != nil {
		return m, c.Err()
	}

	// Each of the three lists is optional: a list of size 0 is empty.
	m.List, err = list(d, texts, 4, d.utf8) // MinidumpRVAList
	if err != nil {
		return m, err
	}

	m.Simple, err = list(d, simple, 8, d.annotation)
	if err != nil {
		return m, err
	}

	m.Objects, err = list(d, objects, 12, d.object)
	return m, err
}

// annotation decodes MinidumpSimpleStringDictionaryEntry.
func (d *Dump) annotation(c *wire.Cursor) (a Annotation, err error) {
	a.Key, err = d.utf8(c)
	if err != nil {
		return a, err
	}
	a.Value, err = d.utf8(c)
	return a, err
}

// object decodes MinidumpAnnotation. A value at offset 0 is absent.
func (d *Dump) object(c *wire.Cursor) (a AnnotationObject, err error) {
	a.Name, err = d.utf8(c)
	if err != nil {
		return a, err
	}

	a.Type = c.U16()
	c.Skip(2) // reserved

	// The copy of the cursor still has the offset in front of it, which utf8 reads again.
	value := *c
	if c.U32() != 0 {
		a.Value, err = d.utf8(&value)
	}
	return a, err
}
