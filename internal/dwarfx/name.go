package dwarfx

import "debug/dwarf"

// The name of a function is often not in its own DIE but at the end of a chain of
// origins and specifications. A Namer follows such chains: it keeps a scanner on the
// unit of the last DIE, since chains mostly stay in one unit, and reads functions with
// the scan's skip programs. Strings are located, not read: many DIEs have the same
// strings, and a caller reads each one once.

// maxOrigins is the largest number of links of a chain of origins: real chains have at
// most three links, a cycle has no end.
const maxOrigins = 32

// Naming has the names of a function or a scope.
type Naming struct {
	Linkage, Name []byte // alias a section
	// Decl is the DIE at the end of the chain of origins and specifications:
	// its parents are the scope that the name belongs to.
	Decl Ref
	// Unit holds Decl; it may be another file's.
	Unit *Unit
	// Lost is true if a part of the chain is in the supplementary file, which is missing.
	Lost bool
}

// Namer reads the names of DIEs. It keeps the unit of the last DIE, because the next
// DIE is mostly in the same unit. The zero Namer is ready.
type Namer struct {
	// Full makes NameOf set Decl. That takes longer.
	Full bool
	// Decl has the first DW_AT_decl_file and the first DW_AT_decl_line in the chain of the last NameOf. What comes after
	// damage is not known.
	Decl Decl

	scan  scanner // of the unit; its u is nil without one
	vals  slots   // of the DIE, if that is no function
	own   *Unit   // the only unit that is read, if not nil
	lined bool    // Decl has its line
}

// Confine makes u the unit of the next DIEs, and the only unit that x reads, so that names
// can be read while ReadUnits appends units. The names of a self-contained unit are the
// same as without Confine.
func (x *Namer) Confine(u *Unit) error {
	x.own = u
	return x.enter(u.data, u)
}

// enter makes u, of d, the unit of the next DIEs.
func (x *Namer) enter(d *Data, u *Unit) error {
	table, err := d.abbrevs(u)
	x.scan = scanner{}
	if err == nil {
		x.scan = scanner{d: d, u: u, t: table}
	}
	return err
}

// NameOf follows the origins of the DIE at ref (DWARF 5 §2.13, §3.3.8) and, of
// a type, its signature (§5.7.1) until the chain ends. It continues in the
// supplementary file and in type units, and ends without an error if those are
// missing.
func (x *Namer) NameOf(d *Data, ref Ref) (Naming, error) {
	var f Found
	x.Decl, x.lined = Decl{}, false
	f.next, f.err = x.link(&f, d, ref)
	x.follow(&f)
	return f.Naming(), f.err
}

// Found is a Naming whose strings are located, but not read yet.
type Found struct {
	linkage, name place
	decl          Ref
	unit          *Unit
	lost          bool
	next          link
	err           error
}

// Err returns the error that ended the chain before its end.
func (f *Found) Err() error { return f.err }

// HasLinkage reports whether there is a linkage name.
func (f *Found) HasLinkage() bool { return f.linkage.u != nil }

// place is where a string of a unit is; its u is nil without a string.
type place struct {
	u *Unit
	s Str
}

// Naming reads the strings.
func (f *Found) Naming() Naming {
	n := Naming{Decl: f.decl, Unit: f.unit, Lost: f.lost}
	if p := f.linkage; p.u != nil {
		n.Linkage, _ = p.u.String(p.s)
	}
	if p := f.name; p.u != nil {
		n.Name, _ = p.u.String(p.s)
	}
	return n
}

// NameAt returns the offset in d's .debug_str of the linkage name or, if plain is set and there is none, of the
// plain name; 0 if there is no such name, or not there, or its offset has more than 32 bits.
func (f *Found) NameAt(d *Data, plain bool) (off uint32) {
	p := &f.linkage
	if plain && p.u == nil {
		p = &f.name
	}
	at := uint64(p.s) - uint64(makeStr(secStr, 0))
	if p.u == nil || p.u.data != d || at>>32 != 0 {
		return 0
	}
	return uint32(at)
}

// FindAll finds the names of DIEs, mostly of u; found has at least as many elements. It
// does each step for all DIEs before the next step, so that the processor can wait for the
// memory of several DIEs at the same time.
func (x *Namer) FindAll(u *Unit, refs []Ref, found []Found) {
	for i, ref := range refs {
		n := &found[i]
		*n = Found{}
		n.next, n.err = x.link(n, u.data, ref)
	}

	for i := range refs {
		x.follow(&found[i])
	}
}

// link is the next DIE of a chain of origins; its ref is 0 at the end.
type link struct {
	d   *Data
	ref Ref
}

// follow follows n's chain after its first link.
func (x *Namer) follow(n *Found) {
	for links := 1; links < maxOrigins && n.next.ref != 0; links++ {
		n.next, n.err = x.link(n, n.next.d, n.next.ref)
	}
}

// link fills the empty fields of n from the DIE at ref, and returns the next link.
func (x *Namer) link(n *Found, d *Data, ref Ref) (next link, err error) {
	if ref&refAlt != 0 {
		d = d.alt
		if d == nil {
			n.lost = true
			return link{}, nil
		}
		ref &^= refAlt
	}

	vals, err := x.read(d, ref)
	if err != nil {
		return link{}, err
	}
	u := x.scan.u
	if x.Full {
		x.declare(u)
	}
	if err := n.add(&n.linkage, u, d.str(u, vals[slotLinkage])); err != nil {
		return link{}, err
	}
	if err := n.add(&n.name, u, d.str(u, vals[slotName])); err != nil {
		return link{}, err
	}
	n.decl, n.unit = ref, u

	// The next link is an origin, a specification, or the signature of a type.
	ref = u.ref(vals[slotOrigin])
	if ref == 0 {
		ref = u.ref(vals[slotSpecification])
	}
	if ref == 0 && len(vals) > int(slotSignature) && vals[slotSignature].form != 0 {
		// GCC leaves out the scopes of such a class: they are in its type unit.
		d, ref = d.typeUnit(vals[slotSignature].v)
	}
	return link{d, ref}, nil
}

// read reads the DIE at ref. The values are valid until the next call; of a function
// they are only those of the first scanSlots slots, which the scan wants.
func (x *Namer) read(d *Data, ref Ref) ([]value, error) {
	s := &x.scan
	if err := x.seek(d, ref); err != nil {
		return nil, err
	}
	at := s.c
	if a := s.t.lookup(at.ULEB()); a != nil && a.class == classFunc && !x.Full {
		s.c = at
		clear(s.vals[:])
		s.attrs(a, false)
		return s.vals[:], s.c.Err()
	}
	return x.vals[:], d.readDIE(s.u, s.t, &s.c, &x.vals)
}

// declare completes x.Decl from the DIE that was read, of u.
func (x *Namer) declare(u *Unit) {
	if x.Decl.Unit == nil && x.vals.has(slotDeclFile) {
		x.Decl.Unit, x.Decl.File = u, clip32(x.vals[slotDeclFile].v)
	}
	if !x.lined && x.vals.has(slotDeclLine) {
		x.Decl.Line, x.lined = clip32(x.vals[slotDeclLine].v), true
	}
}

// seek moves the cursor to the DIE at ref.
func (x *Namer) seek(d *Data, ref Ref) error {
	s := &x.scan
	if s.d != d || s.u == nil || uint64(ref) < s.u.first || uint64(ref) >= s.u.End {
		if x.own != nil {
			return d.noDIE(ref)
		}
		u := d.unitAt(ref)
		if u == nil {
			return d.noDIE(ref)
		}
		if err := x.enter(d, u); err != nil {
			return err
		}
	}

	// An error sticks to a cursor, so a new one is needed.
	if s.c.Err() != nil || s.c.End() == 0 {
		s.c = d.unitCursor(s.u, uint64(ref))
	} else {
		s.c.Seek(uint64(ref))
	}
	return nil
}

// TagAt returns the tag of the DIE at ref, 0 without one.
func (x *Namer) TagAt(d *Data, ref Ref) dwarf.Tag {
	if x.seek(d, ref) != nil {
		return 0
	}
	a := x.scan.t.lookup(x.scan.c.ULEB())
	if a == nil {
		return 0
	}
	return dwarf.Tag(a.tag)
}

// add puts a string of u into p, if p has none yet.
func (n *Found) add(p *place, u *Unit, s Str) error {
	switch {
	case p.u != nil || s == 0:
		return nil
	case u.data.Lost(s):
		n.lost = true
		return nil
	}
	err := u.check(s)
	if err == nil {
		*p = place{u, s}
	}
	return err
}

// Parents calls found for every target, in order, with the DIEs that enclose
// it, the root of the unit first. parents is reused. Targets ascend and lie in
// u; those at which no DIE begins are left out. Tops are some children of the
// root, which ascend: the walk seeks from one to the next. Between them, skipTo
// skips by skipOps up to the next target; the other DIEs are read here.
func (d *Data) Parents(u *Unit, targets, tops []Ref, found func(i int, parents []Ref)) error {
	table, err := d.abbrevs(u)
	if err != nil {
		return err
	}
	x := scanner{d: d, u: u, t: table, c: d.unitCursor(u, u.first), data: u.bytes}
	var parents []Ref
	for next := 0; next < len(targets); {
		if len(parents) == 1 {
			tops = x.seekTop(tops, targets[next])
		}
		parents = x.skipTo(targets[next], parents)

		// The current DIE may be a target.
		at := x.c.Pos()
		code := x.c.ULEB()
		for ; next < len(targets) && targets[next] <= Ref(at); next++ {
			if targets[next] == Ref(at) && code != 0 {
				found(next, parents)
			}
		}
		if code == 0 {
			if len(parents) == 0 || x.c.Err() != nil {
				break
			}
			parents = parents[:len(parents)-1]
			continue
		}

		// Descend into the DIE unless its sibling is at or before the next target.
		a := x.lookup(code, at)
		if a == nil {
			break
		}
		x.attrs(a, false)
		switch {
		case !a.children && len(parents) == 0:
			return x.c.Err() // a root without children
		case !a.children:
		case x.sibling != 0 && next < len(targets) && uint64(targets[next]) >= x.sibling:
			x.c.Seek(x.sibling)
		default:
			parents = append(parents, Ref(at))
		}
	}
	return x.c.Err()
}

// skipTo skips by skipOps, as far as those suffice, up to target, to the end of the
// root's children, or to a child of the root that follows another one's children. It
// returns the DIEs that enclose the new position.
func (x *scanner) skipTo(target Ref, parents []Ref) []Ref {
	pos, to := x.c.Pos()-int(x.u.Off), int(target-Ref(x.u.Off))
	for len(parents) > 0 && pos < min(to, len(x.data)) {
		code, next := uint(x.data[pos]), pos+1
		if code == 0 && len(parents) > 1 {
			pos, parents = next, parents[:len(parents)-1]
			if len(parents) == 1 { // a child of the root comes next, where Parents can use tops
				break
			}
			continue
		}
		if code >= 0x80 { // two bytes; longer codes have no skipOp
			if next >= len(x.data) {
				break
			}
			code = code&0x7f | uint(x.data[next])<<7
			next++
		}

		// Only DIEs whose attributes have a fixed size are skipped here.
		h := x.t.skipOp(code, modeSkip)
		end := next + int(h.size)
		if h.step > stepJump || end > len(x.data) {
			break
		}
		if h.step == stepJump {
			sibling := x.jump(next + int(h.n))
			if sibling == outside {
				break
			}
			if sibling <= to {
				pos = sibling
				continue
			}
		}

		// The target is below this DIE, or there is no sibling.
		if h.opens > 0 || h.step == stepJump {
			parents = append(parents, Ref(x.u.Off)+Ref(pos))
		}
		pos = end
	}
	x.c.Seek(x.u.Off + uint64(pos))
	return parents
}

// Tops returns the children of the unit's root among a unit's functions, for Parents.
func Tops(funcs []Func) (tops []Ref) {
	for i := range funcs {
		if funcs[i].Top {
			tops = append(tops, funcs[i].DIE)
		}
	}
	return tops
}

// seekTop seeks the last of tops that does not lie after target, and returns those
// that do.
func (x *scanner) seekTop(tops []Ref, target Ref) (after []Ref) {
	n := 0
	for n < len(tops) && tops[n] <= target {
		n++
	}
	if n > 0 && tops[n-1] > Ref(x.c.Pos()) {
		x.c.Seek(uint64(tops[n-1]))
	}
	return tops[n:]
}

// Decl is where a function is declared: a file of the line table of Unit, and a line; each 0 if it
// is not known.
type Decl struct {
	Unit *Unit // nil without a file
	File uint32
	Line uint32
}
