package minidump

import "symkit/internal/wire"

// CrashpadInfo is MinidumpCrashpadInfo: what the client told Crashpad.
type CrashpadInfo struct {
	Version uint32
	// ReportID and ClientID are UUIDs in the order in which they are printed.
	ReportID, ClientID []byte
	// AddressMask has the bits set that are no part of an address of code
	// (pointer authentication); 0 when the dump does not tell.
	AddressMask uint64
	Annotations []Annotation
	Modules     []CrashpadModule
}

// CrashpadModule is MinidumpModuleCrashpadInfo: what a module told Crashpad.
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

// readCrashpad decodes MinidumpCrashpadInfo. What the process or one module
// told is lost alone.
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
	var err error
	p.Annotations, err = d.dictionary(simple)
	d.lose(CrashpadInfoStream, err)
	d.lose(CrashpadInfoStream, d.crashpadModules(p, modules))
	d.Crashpad = p
	return nil
}

// entries opens a counted list of records of size bytes.
func (d *Dump) entries(l Location, size int) (wire.Cursor, int) {
	c := d.at(l)
	if l.Size == 0 {
		return c, 0
	}
	at := c.Pos()
	n := uint64(c.U32())
	if c.Err() == nil && n > uint64(c.Len())/uint64(size) {
		c.Fail(at, ErrCount)
	}
	if !d.spend(&c, int(n)*size) {
		return c, 0
	}
	return c, int(n)
}

func (d *Dump) crashpadModules(p *CrashpadInfo, l Location) error {
	c, n := d.entries(l, 12)
	for range n {
		index := c.U32()
		m, err := d.crashpadModule(location(&c))
		d.lose(CrashpadInfoStream, err)
		m.Module = int(index)
		p.Modules = append(p.Modules, m)
	}
	return c.Err()
}

// crashpadModule decodes what one module told; the lists before the damaged
// one are kept.
func (d *Dump) crashpadModule(l Location) (m CrashpadModule, err error) {
	c := d.at(l)
	m.Version = c.U32()
	list, simple, objects := location(&c), location(&c), location(&c)
	if c.Err() != nil {
		return m, c.Err()
	}
	if m.List, err = d.stringList(list); err != nil {
		return m, err
	}
	if m.Simple, err = d.dictionary(simple); err != nil {
		return m, err
	}
	m.Objects, err = d.objects(objects)
	return m, err
}

// stringList decodes a MinidumpRVAList of strings.
func (d *Dump) stringList(l Location) (out [][]byte, err error) {
	c, n := d.entries(l, 4)
	for range n {
		at := c.Pos()
		s, err := d.utf8(c.U32(), at)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, c.Err()
}

// dictionary decodes a MinidumpSimpleStringDictionary.
func (d *Dump) dictionary(l Location) (out []Annotation, err error) {
	c, n := d.entries(l, 8)
	for range n {
		at := c.Pos()
		var a Annotation
		if a.Key, err = d.utf8(c.U32(), at); err != nil {
			return out, err
		}
		if a.Value, err = d.utf8(c.U32(), at+4); err != nil {
			return out, err
		}
		out = append(out, a)
	}
	return out, c.Err()
}

// objects decodes a MinidumpAnnotationList.
func (d *Dump) objects(l Location) (out []AnnotationObject, err error) {
	c, n := d.entries(l, 12)
	for range n {
		at := c.Pos()
		var a AnnotationObject
		if a.Name, err = d.utf8(c.U32(), at); err != nil {
			return out, err
		}
		a.Type = c.U16()
		c.Skip(2)
		if rva := c.U32(); rva != 0 {
			if a.Value, err = d.utf8(rva, at+8); err != nil {
				return out, err
			}
		}
		out = append(out, a)
	}
	return out, c.Err()
}
