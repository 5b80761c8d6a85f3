package dwarfx

// maxOrigins bounds a chain of origins: real ones have at most three links, a
// cycle has no end.
const maxOrigins = 16

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
func (d *Data) NameOf(ref Ref) (n Naming, err error) {
	var die DIE
	for range maxOrigins {
		if ref&refAlt != 0 {
			if d = d.alt; d == nil {
				n.Lost = true
				return n, nil
			}
			ref &^= refAlt
		}
		u, err := d.DIEAt(ref, &die)
		if err != nil {
			return n, err
		}
		if err := n.take(d, u, &die); err != nil {
			return n, err
		}
		n.Decl, n.Unit = ref, u
		if ref = u.ref(die.vals[slotOrigin]); ref == 0 {
			ref = u.ref(die.vals[slotSpecification])
		}
		if ref == 0 && die.has(slotSignature) {
			// GCC leaves the scopes around such a class out: they are in its
			// type unit.
			d, ref = d.typeUnit(die.vals[slotSignature].v)
		}
		if ref == 0 {
			break
		}
	}
	return n, nil
}

// take completes n by what a DIE tells.
func (n *Naming) take(d *Data, u *Unit, die *DIE) (err error) {
	if n.Linkage == nil {
		linkage := d.str(u, die.vals[slotLinkage])
		if n.Linkage, err = d.String(linkage); err != nil {
			return err
		}
		n.Lost = n.Lost || d.Lost(linkage)
	}
	if n.Name == nil {
		name := d.str(u, die.vals[slotName])
		n.Name, err = d.String(name)
		n.Lost = n.Lost || d.Lost(name)
	}
	return err
}

// Parents calls found for every target, in order, with the DIEs that enclose
// it, the root of the unit first. parents is reused. Targets ascend and lie in
// u; those at which no DIE begins are left out.
func (d *Data) Parents(u *Unit, targets []Ref, found func(i int, parents []Ref)) error {
	table, err := d.abbrevs(u)
	if err != nil {
		return err
	}
	x := scanner{d: d, u: u, t: table, c: d.unitCursor(u, u.first)}
	var parents []Ref
	for next := 0; next < len(targets); {
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
