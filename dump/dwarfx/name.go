package dwarfx

import "debug/dwarf"

// maxOrigins bounds a chain of origins: real ones have at most three links, a
// cycle has no end.
const maxOrigins = 32

// Naming is what names a function or a scope.
type Naming struct {
	Linkage, Name []byte // alias a section
	// Decl is the DIE at the end of the chain of origins and specifications:
	// its parents are the scope that the name belongs to.
	Decl Ref
	// Unit holds Decl; it may be another file's.
	Unit *Unit
	// Lost: a part of it is in the supplementary file, which is not there.
	Lost bool
}

// NameOf follows the origins of the DIE at ref (DWARF 5 §2.13, §3.3.8) and, of
// a type, its signature (§5.7.1) until the chain ends. It goes on in the
// supplementary file and in type units, and ends silently where those are
// missing.
func (d *Data) NameOf(ref Ref) (Naming, error) {
	var x Namer
	return x.NameOf(d, ref)
}

// Namer does NameOf for many DIEs in less time: it remembers the unit of the
// last one, and origins are mostly in one unit. The zero Namer is ready.
type Namer struct {
	scan    scanner // of the unit; its u is nil without one
	die     DIE
	own     *Unit // the only one that is read, if not nil
	fetched byte  // keeps the compiler from leaving fetch out
}

// Confine makes u the unit of the next DIEs and the only one that is read. Of one
// that is self-contained, that is all there is to read; and it can be read while
// ReadUnits appends others.
func (x *Namer) Confine(u *Unit) error {
	x.own = u
	return x.enter(u.data, u)
}

// enter makes u, of d, the unit of the next DIEs.
func (x *Namer) enter(d *Data, u *Unit) error {
	table, err := d.abbrevs(u)
	if x.scan = (scanner{}); err == nil {
		x.scan = scanner{d: d, u: u, t: table}
	}
	return err
}

// NameOf is Data.NameOf.
func (x *Namer) NameOf(d *Data, ref Ref) (Naming, error) {
	var f Found
	x.find(&f, d, ref)
	return f.Naming(), f.err
}

// Found is a Naming whose strings are not read yet, but there.
type Found struct {
	linkage, name place
	decl          Ref
	unit          *Unit
	lost          bool
	next          link
	err           error
}

// Err is what keeps the rest of the chain from being read.
func (f *Found) Err() error { return f.err }

// place is the place of a string of a unit; the zero place is none.
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

// LinkageAt returns where in d's .debug_str the linkage name stands, 0 where it does
// not or 32 bits cannot tell.
func (f *Found) LinkageAt(d *Data) (off uint32) {
	at := uint64(f.linkage.s) - uint64(makeStr(secStr, 0))
	if f.linkage.u == nil || f.linkage.u.data != d || at>>32 != 0 {
		return 0
	}
	return uint32(at)
}

// Find is NameOf without reading strings, which takes most of the time: many
// DIEs have the same ones.
func (x *Namer) Find(d *Data, ref Ref) (n Found, err error) {
	x.find(&n, d, ref)
	return n, n.err
}

// find is Find.
func (x *Namer) find(n *Found, d *Data, ref Ref) {
	n.next, n.err = x.link(n, d, ref)
	x.follow(n)
}

// FindAll is Find for DIEs, mostly of u, that are no more than found. The processor waits
// for the memory of all of them at the same time, then for that of what they lead to.
func (x *Namer) FindAll(u *Unit, refs []Ref, found []Found) {
	for _, ref := range refs {
		x.fetch(u, ref)
	}
	for i, ref := range refs {
		n := &found[i]
		*n = Found{}
		n.next, n.err = x.link(n, u.data, ref)
	}
	for i := range refs {
		x.fetch(u, found[i].next.ref)
	}
	for i := range refs {
		x.follow(&found[i])
	}
}

// fetch reads a byte of a DIE, if that is one of u.
func (x *Namer) fetch(u *Unit, ref Ref) {
	if at := uint64(ref) - u.Off; at < uint64(len(u.bytes)) {
		x.fetched ^= u.bytes[at]
	}
}

// link is where a chain of origins goes on; its ref is 0 at the end.
type link struct {
	d   *Data
	ref Ref
}

// follow follows n's chain behind its first link.
func (x *Namer) follow(n *Found) {
	for links := 1; links < maxOrigins && n.next.ref != 0; links++ {
		n.next, n.err = x.link(n, n.next.d, n.next.ref)
	}
}

// link completes n by what the DIE at ref tells and returns the next link.
func (x *Namer) link(n *Found, d *Data, ref Ref) (next link, err error) {
	if ref&refAlt != 0 {
		if d = d.alt; d == nil {
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
	if err := n.take(d, u, vals); err != nil {
		return link{}, err
	}
	n.decl, n.unit = ref, u
	if ref = u.ref(vals[slotOrigin]); ref == 0 {
		ref = u.ref(vals[slotSpecification])
	}
	if ref == 0 && len(vals) > int(slotSignature) && vals[slotSignature].form != 0 {
		// GCC leaves the scopes around such a class out: they are in its
		// type unit.
		d, ref = d.typeUnit(vals[slotSignature].v)
	}
	return link{d, ref}, nil
}

// read reads the DIE at ref. Its values are good until the next one; of a
// function they are the first ones, those that the scan has a use for.
func (x *Namer) read(d *Data, ref Ref) ([]value, error) {
	s := &x.scan
	if err := x.seek(d, ref); err != nil {
		return nil, err
	}
	at := s.c
	if a := s.t.lookup(at.ULEB()); a != nil && a.class == classFunc {
		s.c = at
		clear(s.vals[:])
		s.attrs(a, false)
		return s.vals[:], s.c.Err()
	}
	return x.die.vals[:], d.readDIE(s.u, s.t, &s.c, &x.die)
}

// seek goes to the DIE at ref.
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
	if s.c.Err() != nil || s.c.End() == 0 {
		s.c = d.unitCursor(s.u, uint64(ref))
	} else {
		s.c.Seek(uint64(ref))
	}
	return nil
}

// TagAt returns the tag of the DIE at ref, 0 where there is none.
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

// take completes n by what a DIE tells.
func (n *Found) take(d *Data, u *Unit, vals []value) error {
	if err := n.lack(&n.linkage, u, d.str(u, vals[slotLinkage])); err != nil {
		return err
	}
	return n.lack(&n.name, u, d.str(u, vals[slotName]))
}

// lack puts a string of u at p, if none is there yet.
func (n *Found) lack(p *place, u *Unit, s Str) error {
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
// root, which ascend: the walk leaps from one to the next.
func (d *Data) Parents(u *Unit, targets, tops []Ref, found func(i int, parents []Ref)) error {
	table, err := d.abbrevs(u)
	if err != nil {
		return err
	}
	x := scanner{d: d, u: u, t: table, c: d.unitCursor(u, u.first), data: u.bytes}
	var parents []Ref
	for next := 0; next < len(targets); {
		if len(parents) == 1 {
			tops = x.leap(tops, targets[next])
		}
		parents = x.hopTo(targets[next], parents)
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

// hopTo goes on by hops as far as these lead, in front of target, of the end of the
// root's children or of a child of the root behind another one's children. It returns
// the DIEs that enclose what is there.
func (x *scanner) hopTo(target Ref, parents []Ref) []Ref {
	pos, to := x.c.Pos()-int(x.u.Off), int(target-Ref(x.u.Off))
	for len(parents) > 0 && pos < min(to, len(x.data)) {
		code, next := uint(x.data[pos]), pos+1
		if code == 0 && len(parents) > 1 {
			pos, parents = next, parents[:len(parents)-1]
			if len(parents) == 1 { // where tops are
				break
			}
			continue
		}
		if code >= 0x80 { // two bytes; of more there is no hop
			if next >= len(x.data) {
				break
			}
			code = code&0x7f | uint(x.data[next])<<7
			next++
		}
		h := x.t.hop(code, modeSkip)
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
		if h.opens > 0 || h.step == stepJump {
			parents = append(parents, Ref(x.u.Off)+Ref(pos))
		}
		pos = end
	}
	x.c.Seek(x.u.Off + uint64(pos))
	return parents
}

// Tops are the children of the unit's root among a unit's functions, for Parents.
func Tops(funcs []Func) (tops []Ref) {
	for i := range funcs {
		if funcs[i].Top {
			tops = append(tops, funcs[i].DIE)
		}
	}
	return tops
}

// leap goes on to the last of tops that does not lie behind target, and returns
// those that do.
func (x *scanner) leap(tops []Ref, target Ref) (behind []Ref) {
	n := 0
	for n < len(tops) && tops[n] <= target {
		n++
	}
	if n > 0 && tops[n-1] > Ref(x.c.Pos()) {
		x.c.Seek(uint64(tops[n-1]))
	}
	return tops[n:]
}
