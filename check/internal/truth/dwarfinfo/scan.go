package dwarfinfo

import (
	"cmp"
	"context"
	"debug/dwarf"
	"errors"
	"math"
	"slices"

	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
	"symkit/check/internal/truth"
	"symkit/internal/wire"
	"symkit/limits"
)

// Scan is what the DIEs of one unit contain.
type Scan struct {
	Funcs   []Func
	Inlines []Inline
	Ranges  []pcs.Range
	// Decls are all subprogram DIEs, by offset. scopes are the named DIEs around them.
	Decls  []decl
	scopes []scope
	Root   *dwarf.Entry
	lang   int64
	Errs   []error // damage that cost a function
	// paths has the paths of scopes that path has computed, by index. pathBytes is the number of
	// bytes that more of them may take.
	paths     map[int32]scopePath
	pathBytes uint64
}

// Func is a function with code.
type Func struct {
	Decl    int32
	Ranges  symfile.Span
	Inlines symfile.Span // set by finish
}

// Inline is an inlined call with code. CallFile is -1 if the DIE has no DW_AT_call_file.
type Inline struct {
	Origin             Ref
	fn                 int32
	Depth              uint32
	CallFile, CallLine int64
	Ranges             symfile.Span
}

// decl holds the names of a subprogram. Files can have a subprogram every few bytes, so the fields
// are ordered to keep decl small.
type decl struct {
	linkage, name string
	Off           dwarf.Offset
	scope         int32        // index of scopes, -1 for none
	origin        dwarf.Offset // abstract origin or specification, 0 for none
	originAlt     bool         // origin is in the supplementary file
	unread        bool         // a name is in a supplementary file that was not found
}

// from returns the origin of d.
func (d *decl) from() Ref { return Ref{d.origin, d.originAlt} }

func (d *decl) setOrigin(at Ref) { d.origin, d.originAlt = at.Off, at.alt }

// scope is a named DIE around subprograms.
type scope struct {
	parent int32
	decl   int32  // index in Decls of the function; -1 if the scope is none
	name   string // empty for one without a name
	typed  bool   // a type unit has the name (DW_AT_signature)
}

// dieFrame is what holds for the children of a DIE.
type dieFrame struct {
	fn    int32 // index in Funcs, -1 outside of functions
	depth uint32
	scope int32
}

// maxListEntries bounds the range list entries read for one unit.
func (d *Info) maxListEntries(u *Unit) int {
	return int(min(d.limits.Max(limits.RangeEntries, uint64(u.end-u.Off)), math.MaxInt32))
}

// ScanUnit walks the DIEs of a unit. An error means that the rest of the unit could not be read; s
// has what was read before.
func (d *Info) ScanUnit(ctx context.Context, u *Unit, code pcs.Set) (s *Scan, err error) {
	s = &Scan{paths: map[int32]scopePath{}, pathBytes: d.limits.Max(limits.Names, uint64(d.size))}
	defer func() {
		if r := recover(); r != nil {
			err = truth.Recovered("debug/dwarf", r)
		}
		s.finish()
	}()

	w := unitWalk{d: d, u: u, s: s, code: code, r: d.Reader(), budget: d.maxListEntries(u)}
	w.r.Seek(u.root)
	return s, w.run(ctx)
}

// unitWalk is the state of ScanUnit.
type unitWalk struct {
	d      *Info
	u      *Unit
	s      *Scan
	r      *dwarf.Reader
	code   pcs.Set
	bases  unitBases
	budget int
	stack  []dieFrame
	skip   int    // open DIEs inside a skipped subtree
	kept   uint64 // bytes of the names in s
	fields int    // attributes of all DIEs so far
	dieFrame
}

// run visits the DIEs in order. A DIE that is not null consumes bytes. A null DIE, which
// debug/dwarf also returns for a truncated number, ends a level.
func (w *unitWalk) run(ctx context.Context) error {
	w.fn, w.scope = -1, -1
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}

		e, err := w.r.Next()
		if err == nil && e != nil {
			err = w.limit(e)
		}
		switch {
		case err != nil:
			return err
		case e == nil || e.Tag != 0 && e.Offset >= w.u.end:
			return nil

		case e.Tag == 0 && w.skip > 0:
			w.skip--
		case e.Tag == 0:
			if len(w.stack) == 0 {
				return nil
			}
			w.dieFrame = w.stack[len(w.stack)-1]
			w.stack = w.stack[:len(w.stack)-1]
		case w.skip > 0:
			if e.Children {
				w.skipChildren(e)
			}
			continue
		default:
			w.visit(e)
		}
		if len(w.stack) == 0 {
			return nil
		}
	}
}

// fieldsPerByte is the number of attributes that a unit may have for each of its bytes, and
// maxFields the number beyond these. Some attributes have no bytes; in units that compilers write
// two bytes and more stand for each.
const fieldsPerByte, maxFields = 8, 1 << 16

var errFields = errors.New("more attributes than a unit of this size can need")

// limit returns an error for a DIE that exceeds a limit.
func (w *unitWalk) limit(e *dwarf.Entry) error {
	var over error
	switch names := w.d.limits.Max(limits.Names, uint64(w.d.size)); {
	case len(w.stack) >= w.d.limits.Int(limits.DIEDepth):
		over = w.d.limits.Exceeded(limits.DIEDepth, 0)
	case w.kept > names:
		over = w.d.limits.Exceeded(limits.Names, uint64(w.d.size))
	case w.fields+len(e.Field) > fieldsPerByte*int(w.u.end-w.u.Off)+maxFields:
		over = errFields
	default:
		w.fields += len(e.Field)
		return w.d.readStrings(e)
	}
	return &wire.Error{Section: ".debug_info", Offset: int(e.Offset), Err: over}
}

// skipChildren skips the children of e: by DW_AT_sibling, or by counting levels.
func (w *unitWalk) skipChildren(e *dwarf.Entry) {
	if next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && next > e.Offset && next < w.u.end {
		w.r.Seek(next)
		return
	}
	w.skip++
}

// visit reads one DIE and enters its children.
func (w *unitWalk) visit(e *dwarf.Entry) {
	inner := w.dieFrame
	switch e.Tag {
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit:
		w.root(e)
	case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType,
		dwarf.TagInterfaceType, dwarf.TagEnumerationType:
		inner.scope = w.open(e, -1)
	case dwarf.TagSubprogram:
		inner = w.subprogram(e)
	case dwarf.TagInlinedSubroutine:
		if w.fn >= 0 && w.inline(e) {
			inner.depth++
		}
	case dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
	default:
		if e.Children {
			w.skipChildren(e)
		}
		return
	}
	if e.Children {
		// A null DIE restores the frame.
		w.stack = append(w.stack, w.dieFrame)
		w.dieFrame = inner
	}
}

// root reads the root DIE of the unit.
func (w *unitWalk) root(e *dwarf.Entry) {
	w.s.Root = e
	w.s.lang, _ = e.Val(dwarf.AttrLanguage).(int64)
	w.bases = unitBases{addrSize: int(w.u.addrSize), version: w.u.version}
	w.bases.lowPC, _ = e.Val(dwarf.AttrLowpc).(uint64)

	// Addresses begin after the header of .debug_addr if no attribute states where.
	if base, ok := e.Val(dwarf.AttrAddrBase).(int64); ok {
		w.bases.addrBase = uint64(base)
	} else if w.u.version >= 5 {
		w.bases.addrBase = w.u.addrHeader()
	}
}

// addrHeader returns the size of a header of .debug_addr (DWARF 5 §7.27), after which the addresses
// of a unit without DW_AT_addr_base begin. llvm-dwarfutil (LLVM 19) writes range lists with indices
// of addresses, and no such attribute in the unit. binutils reads such units in this manner, too.
func (u *Unit) addrHeader() uint64 {
	const rest = 4 // version, sizes of addresses and segment selectors
	if u.dwarf64 {
		return 12 + rest
	}
	return 4 + rest
}

// open adds a scope, and returns its index.
func (w *unitWalk) open(e *dwarf.Entry, decl int32) int32 {
	var name string
	if f := e.AttrField(dwarf.AttrName); f != nil {
		name, _ = w.d.text(f)
	}
	w.kept += uint64(len(name))

	// A type whose name is in a type unit has only DW_AT_signature here.
	typed := name == "" && e.AttrField(dwarf.AttrSignature) != nil
	w.s.scopes = append(w.s.scopes, scope{parent: w.scope, decl: decl, name: name, typed: typed})
	return int32(len(w.s.scopes) - 1)
}

// subprogram adds a function, and returns what holds for its children.
func (w *unitWalk) subprogram(e *dwarf.Entry) dieFrame {
	s := w.s
	n := w.d.declOf(e)
	n.scope = w.scope
	w.kept += uint64(len(n.name) + len(n.linkage))
	s.Decls = append(s.Decls, n)

	// A function with children is a scope of the functions in it.
	inner := dieFrame{fn: -1, scope: -1}
	if e.Children {
		inner.scope = w.open(e, int32(len(s.Decls)-1))
	} else {
		w.kept += uint64(len(n.name)) // counted as for a scope: the table of names has the name too
	}

	r := w.ranges(e)
	if r.Len() > 0 {
		// Only a function with code gets a FUNC record.
		s.Funcs = append(s.Funcs, Func{Decl: int32(len(s.Decls) - 1), Ranges: r})
		inner.fn = int32(len(s.Funcs) - 1)
	}
	return inner
}

// maxErrors bounds the errors kept of a unit.
const maxErrors = 20

// ranges adds the ranges of a DIE.
func (w *unitWalk) ranges(e *dwarf.Entry) symfile.Span {
	from := uint32(len(w.s.Ranges))
	var err error
	w.s.Ranges, err = w.d.entryRanges(w.s.Ranges, e, &w.bases, w.code, &w.budget)
	if err != nil && len(w.s.Errs) < maxErrors {
		w.s.Errs = append(w.s.Errs, err)
	}
	return symfile.Span{From: from, To: uint32(len(w.s.Ranges))}
}

// inline adds an inlined call. It returns false for a call without code or without an origin, as
// gcc writes them: such a call gives no information.
func (w *unitWalk) inline(e *dwarf.Entry) bool {
	f := e.AttrField(dwarf.AttrAbstractOrigin)
	if f == nil {
		return false
	}

	// The ranges are clipped to the FUNC record later.
	origin := referenceOf(f)
	in := Inline{Origin: origin, fn: w.fn, Depth: w.depth, CallFile: -1, Ranges: w.ranges(e)}
	if in.Ranges.Len() == 0 {
		return false
	}

	if v, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
		in.CallFile = v
	}
	in.CallLine, _ = e.Val(dwarf.AttrCallLine).(int64)
	w.s.Inlines = append(w.s.Inlines, in)
	return true
}

// finish gives every function its inlined calls.
func (s *Scan) finish() {
	slices.SortStableFunc(s.Inlines, func(a, b Inline) int { return cmp.Compare(a.fn, b.fn) })
	i := uint32(0)
	for f := range s.Funcs {
		from := i
		for i < uint32(len(s.Inlines)) && s.Inlines[i].fn == int32(f) {
			i++
		}
		s.Funcs[f].Inlines = symfile.Span{From: from, To: i}
	}
}

// RangeCount returns the number of ranges of all functions.
func (s *Scan) RangeCount() (n int) {
	for i := range s.Funcs {
		n += s.Funcs[i].Ranges.Len()
	}
	return n
}
