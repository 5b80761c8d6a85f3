package dwarfx

import (
	"debug/dwarf"
	"math"
)

// The local variables of a function are the DIEs of parameters and variables below the DIE of the function. They are
// read for one function at a time, attribute by attribute.

// Local is a parameter or a variable of a function.
type Local struct {
	Func, Name []byte // of the function, or of the inlined call, and of the variable; alias a section
	Decl       Decl
	// Offset is where the variable is in the frame: from the address that DW_AT_frame_base gives, or from the value of
	// the register that DW_AT_frame_base is. OnFrame is false if the variable is elsewhere, or nowhere.
	Offset  int64
	OnFrame bool
	// Size is in bytes. It is not known of an array whose length the program computes.
	Size    uint64
	HasSize bool
	// Tag is how far the variable's tag is from that of the frame, if HasTag (clang -fsanitize=hwaddress).
	Tag    uint64
	HasTag bool
}

// LocalReader reads local variables. The zero LocalReader is ready.
type LocalReader struct {
	// Pay is called with the bytes of memory that the variables take. An error of Pay ends Read. Pay may be nil.
	Pay func(bytes uint64) error

	namer  Namer // its scan walks, the DIEs that others refer to are read by refs
	refs   Namer
	scan   Scan
	left   int        // DIEs that may still be read
	owners []owner    // the function and the inlined calls around the current DIE
	lists  *Locations // of the unit, nil before they are needed
}

// owner is a DIE that variables belong to.
type owner struct {
	depth int
	name  []byte
	base  value // DW_AT_frame_base
}

// localMemory is what a Local takes in memory.
const localMemory = 200

// Read appends the parameters and variables of the function of u at fn, in the order of their DIEs, to dst; if addr is
// in an inlined call, only those of the innermost one. After damage it returns what it could read.
func (x *LocalReader) Read(dst []Local, u *Unit, fn Ref, addr uint64) ([]Local, error) {
	x.lists = nil
	x.left = int(min(4*(u.End-u.Off)+1<<16, math.MaxInt32))
	at := fn
	err := x.walk(u, fn, func(ref Ref, a *abbrev, _ int) error {
		if a.tag != uint16(dwarf.TagInlinedSubroutine) {
			return nil
		}
		s := &x.namer.scan
		s.s, s.entries, s.last = &x.scan, x.left, rangeList{}
		ranges := s.ranges()
		for _, r := range x.scan.Ranges[ranges.From:ranges.To] {
			if addr >= r.Lo && addr < r.Hi {
				at = ref
			}
		}
		x.left, x.scan.Ranges = s.entries, x.scan.Ranges[:0]
		return nil
	})
	if err != nil {
		return dst, err
	}

	x.owners = x.owners[:0]
	err = x.walk(u, at, func(ref Ref, a *abbrev, depth int) error {
		for len(x.owners) > 0 && x.owners[len(x.owners)-1].depth >= depth {
			x.owners = x.owners[:len(x.owners)-1]
		}
		switch tag := dwarf.Tag(a.tag); {
		case depth == 0 || tag == dwarf.TagInlinedSubroutine:
			return x.enter(u, ref, depth)
		case tag != dwarf.TagFormalParameter && tag != dwarf.TagVariable:
			return nil
		}
		l, err := x.local(u, ref)
		if err != nil {
			return err
		}
		dst = append(dst, l)
		if x.Pay != nil {
			return x.Pay(uint64(localMemory + len(l.Func) + len(l.Name)))
		}
		return nil
	})
	return dst, err
}

// walk calls visit for the DIE of u at ref and all DIEs below, with their depths. The values of functions and inlined
// calls are those of x.namer.scan.
func (x *LocalReader) walk(u *Unit, ref Ref, visit func(ref Ref, a *abbrev, depth int) error) error {
	err := x.namer.seek(u.data, ref)
	if err != nil {
		return err
	}
	s := &x.namer.scan
	for depth := 0; ; {
		at := s.c.Pos()
		code := s.c.ULEB()
		if code == 0 {
			depth--
			if depth <= 0 || s.c.Err() != nil {
				return s.c.Err()
			}
			continue
		}
		a := s.lookup(code, at)
		if a == nil {
			return s.c.Err()
		}
		clear(s.vals[:])
		s.attrs(a, false)
		x.left--
		if x.left < 0 {
			s.c.Fail(at, ErrTooMany)
		}
		if s.c.Err() != nil {
			return s.c.Err()
		}
		err := visit(Ref(at), a, depth)
		switch {
		case err != nil:
			return err
		case a.children:
			depth++
		case depth == 0:
			return nil
		}
	}
}

// enter makes the function or inlined call at ref the owner of the variables below.
func (x *LocalReader) enter(u *Unit, ref Ref, depth int) error {
	naming, err := x.refs.NameOf(u.data, ref)
	if err != nil {
		return err
	}
	_, _, err = x.die(u.data, ref)
	x.owners = append(x.owners, owner{depth, naming.Name, x.refs.vals[slotFrameBase]})
	return err
}

// die reads the DIE at ref of d, or of d's supplementary file, into x.refs.vals. It returns the Data that has the DIE,
// nil if there is no DIE, and the abbreviation.
func (x *LocalReader) die(d *Data, ref Ref) (of *Data, a *abbrev, err error) {
	if ref&refAlt != 0 {
		d = d.alt
		ref &^= refAlt
	}
	if d == nil || ref == 0 {
		return nil, nil, nil
	}
	err = x.refs.seek(d, ref)
	if err != nil {
		return nil, nil, err
	}
	s := &x.refs.scan
	x.left--
	if x.left < 0 {
		s.c.Fail(int(ref), ErrTooMany)
	}
	a = s.lookup(s.c.ULEB(), int(ref))
	if a == nil {
		return nil, nil, s.c.Err()
	}
	return d, a, d.readAttrs(s.u, &s.c, a.specs, &x.refs.vals)
}

// local reads the variable at ref. Its name, type and place are its own, or else those of its origin.
func (x *LocalReader) local(u *Unit, ref Ref) (l Local, err error) {
	var base value
	if len(x.owners) > 0 {
		last := &x.owners[len(x.owners)-1]
		l.Func, base = last.name, last.base
	}
	d, first, hasLine := u.data, ref, false
	var typed *Data
	var of Ref
	for range maxOrigins {
		d, _, err = x.die(d, ref)
		if err != nil || d == nil {
			break
		}
		in, vals := x.refs.scan.u, &x.refs.vals
		if ref == first {
			l.Tag, l.HasTag = vals[slotTagOffset].v, vals[slotTagOffset].isConstant()
			l.Offset, l.OnFrame, err = x.frameOffset(u, vals[slotLocation], base)
			if err != nil {
				break
			}
		}
		if l.Name == nil {
			l.Name, err = in.String(d.str(in, vals[slotName]))
			if err != nil {
				break
			}
		}
		if l.Decl.Unit == nil && vals.has(slotDeclFile) {
			l.Decl.Unit, l.Decl.File = in, clip32(vals[slotDeclFile].v)
		}
		if !hasLine && vals.has(slotDeclLine) {
			l.Decl.Line, hasLine = clip32(vals[slotDeclLine].v), true
		}
		if typed == nil && vals.has(slotType) {
			typed, of = in.typeRef(vals[slotType])
		}
		ref = in.ref(vals[slotOrigin])
	}
	if err == nil && typed != nil {
		l.Size, l.HasSize, err = x.size(typed, of, uint64(u.AddrSize))
	}
	return l, err
}

// typeRef returns the DIE that the value of a DW_AT_type refers to, and its Data, which is nil if there is no such DIE.
func (u *Unit) typeRef(v value) (*Data, Ref) {
	if v.form == formRefSig8 {
		return u.data.typeUnit(v.v)
	}
	return u.data, u.ref(v)
}

// size returns the size in bytes of the type at ref (DWARF 5 §5). pointer is the size of an address.
func (x *LocalReader) size(d *Data, ref Ref, pointer uint64) (size uint64, ok bool, err error) {
	count := uint64(1) // of elements
	for range maxOrigins {
		var a *abbrev
		d, a, err = x.die(d, ref)
		if err != nil || d == nil {
			return 0, false, err
		}
		in, vals := x.refs.scan.u, &x.refs.vals
		if vals[slotByteSize].isConstant() {
			return count * vals[slotByteSize].v, true, nil
		}
		next := vals[slotType]
		if next.form == 0 && vals[slotSignature].form == formRefSig8 {
			next = vals[slotSignature] // a class without its members
		}
		switch dwarf.Tag(a.tag) {
		case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
			return count * pointer, true, nil
		case dwarf.TagPtrToMemberType:
			of, ref := in.typeRef(next)
			_, a, err := x.die(of, ref)
			if a != nil && dwarf.Tag(a.tag) == dwarf.TagSubroutineType { // with the offset of its object (Itanium C++ ABI §2.3)
				pointer *= 2
			}
			return count * pointer, true, err
		case dwarf.TagArrayType:
			n, known, err := x.elements(a)
			if !known {
				return 0, false, err
			}
			count *= n
		}
		d, ref = in.typeRef(next)
	}
	return 0, false, nil
}

// elements returns how many elements the array has whose DIE die has just read, with abbreviation a: the product of its
// dimensions, which are the children.
func (x *LocalReader) elements(a *abbrev) (n uint64, known bool, err error) {
	if !a.children {
		return 0, false, nil
	}
	s, vals := &x.refs.scan, &x.refs.vals
	n = 1
	for dimensions := 0; ; dimensions++ {
		at := s.c.Pos()
		x.left--
		if x.left < 0 {
			s.c.Fail(at, ErrTooMany)
		}
		code := s.c.ULEB()
		if code == 0 {
			return n, dimensions > 0, s.c.Err()
		}
		a = s.lookup(code, at)
		if a == nil || a.children || dwarf.Tag(a.tag) != dwarf.TagSubrangeType {
			return 0, false, s.c.Err()
		}
		err = s.d.readAttrs(s.u, &s.c, a.specs, vals)
		if err != nil {
			return 0, false, err
		}
		lower := vals[slotLowerBound]
		switch {
		case vals[slotCount].isConstant():
			n *= vals[slotCount].v
		case vals[slotUpperBound].isConstant() && (lower.form == 0 || lower.isConstant()):
			n *= vals[slotUpperBound].v - lower.v + 1
		default:
			return 0, false, nil
		}
	}
}

// frameOffset returns the offset of a variable of u at a location from its frame, by the first place in the frame that
// the location has. base is DW_AT_frame_base of the function, 0 in an inlined call.
func (x *LocalReader) frameOffset(u *Unit, location, base value) (offset int64, ok bool, err error) {
	register := uint8(noRegister)
	if code := u.expression(base); len(code) > 0 && code[0] >= opReg0 && code[0] <= opReg31 {
		register = code[0] - opReg0
	}
	list, isList := u.listOffset(location)
	if !isList {
		offset, ok = frameAddress(u.expression(location), register)
		return offset, ok, nil
	}
	if x.lists == nil {
		x.lists, err = u.locations()
		if err != nil {
			return 0, false, err
		}
	}
	return x.lists.first(u, location.form == formLoclistx, list, register, &x.left)
}
