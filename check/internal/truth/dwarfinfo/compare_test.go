package dwarfinfo

import (
	"cmp"
	"context"
	"debug/dwarf"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"symkit/check/internal/naming"
	"symkit/check/internal/pcs"
)

// The tests of this package compare the reader with debug/dwarf: the functions with code, their
// inlined calls and names, and the line tables.

// libraryOf gives the sections of d to debug/dwarf.
func libraryOf(d *Info) (data *dwarf.Data, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("debug/dwarf panicked: %v", r)
		}
	}()
	data, err = dwarf.New(d.abbrev, nil, nil, d.info, d.line, nil, d.ranges, d.str)
	if err != nil {
		return nil, err
	}
	for name, section := range map[string][]byte{".debug_line_str": d.lineStr, ".debug_str_offsets": d.offsets, ".debug_addr": d.addr, ".debug_rnglists": d.rngLists} {
		if section == nil {
			continue
		}
		if err := data.AddSection(name, section); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// libraryScan is what debug/dwarf reads of one unit.
type libraryScan struct {
	data   *dwarf.Data
	code   pcs.Set
	root   *dwarf.Entry
	funcs  []string // texts of functions with code, and of the calls in them
	refs   []Ref    // of the functions, then of the origins of their calls
	names  map[dwarf.Offset]*dwarf.Entry
	scopes map[dwarf.Offset][]*dwarf.Entry
	lang   int64
	clean  bool // the unit has nothing that debug/dwarf reads in another manner
}

// scan walks the DIEs of the unit at an offset.
func (x *libraryScan) scan(u *Unit) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("debug/dwarf panicked: %v", r)
		}
	}()
	x.clean, x.names, x.scopes = true, map[dwarf.Offset]*dwarf.Entry{}, map[dwarf.Offset][]*dwarf.Entry{}
	type level struct {
		fn, calls int // index of funcs, -1 outside
		in        []*dwarf.Entry
		skipped   bool
	}
	now := level{fn: -1}
	var stack []level
	calls := map[int][]string{}
	origins := map[int][]Ref{}
	r := x.data.Reader()
	r.Seek(dwarf.Offset(u.root))
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag != 0 && int(e.Offset) >= u.end {
			break // levels are missing
		}
		if e.Tag == 0 {
			x.clean = x.clean && e.Offset == 0 // otherwise a DIE whose tag is 0
			if len(stack) == 0 {
				break
			}
			now, stack = stack[len(stack)-1], stack[:len(stack)-1]
			if len(stack) == 0 {
				break
			}
			continue
		}
		inner := now
		switch {
		case now.skipped:
		case len(stack) == 0:
			x.root = e
			x.lang, _ = e.Val(dwarf.AttrLanguage).(int64)
		case kindOf(uint64(e.Tag)) == kindScope:
			inner.in = append(slices.Clip(now.in), e)
		case kindOf(uint64(e.Tag)) == kindFunction:
			x.names[e.Offset], x.scopes[e.Offset] = e, now.in
			inner = level{fn: -1, in: append(slices.Clip(now.in), e)}
			if ranges := x.ranges(e); len(ranges) > 0 {
				inner.fn = len(x.funcs)
				x.funcs = append(x.funcs, fmt.Sprintf("%#x %v", e.Offset, ranges))
				x.refs = append(x.refs, Ref{Off: int(e.Offset)})
			}
		case kindOf(uint64(e.Tag)) == kindCall:
			origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			x.clean = x.clean && (ok || e.Val(dwarf.AttrAbstractOrigin) == nil)
			if ranges := x.ranges(e); ok && now.fn >= 0 && len(ranges) > 0 {
				file, ok := e.Val(dwarf.AttrCallFile).(int64)
				if !ok {
					file = -1
				}
				line, _ := e.Val(dwarf.AttrCallLine).(int64)
				calls[now.fn] = append(calls[now.fn], fmt.Sprintf("depth %d %#x file %d line %d %v", now.calls, origin, file, line, ranges))
				origins[now.fn] = append(origins[now.fn], Ref{Off: int(origin)})
				inner.calls++
			}
		case kindOf(uint64(e.Tag)) == kindUnit:
			x.clean = false // debug/dwarf takes the attributes of the nested unit
		case kindOf(uint64(e.Tag)) == kindBlock:
		default:
			inner.skipped = true
		}
		if next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && e.Children && next > e.Offset && int(next) < u.end && len(stack) > 0 && kindOf(uint64(e.Tag)) == kindOther {
			r.Seek(next) // in a damaged unit the number of levels may differ
			continue
		}
		if e.Children {
			stack = append(stack, now)
			now = inner
		} else if len(stack) == 0 {
			break
		}
	}
	for i := range len(x.funcs) {
		x.funcs = append(x.funcs, calls[i]...)
		x.refs = append(x.refs, origins[i]...)
	}
	return nil
}

// ranges returns the ranges of a DIE that hold code.
func (x *libraryScan) ranges(e *dwarf.Entry) (out []pcs.Range) {
	if e.Val(dwarf.AttrRanges) == nil && e.Val(dwarf.AttrHighpc) == nil {
		return nil
	}
	ranges, err := x.data.Ranges(e)
	x.clean = x.clean && err == nil
	for _, r := range ranges {
		out = appendCode(out, r[0], r[1], x.code)
	}
	return out
}

// key returns the name of the function at an offset, as Namer makes it. It returns false for a
// name that is in another unit or file.
func (x *libraryScan) key(at dwarf.Offset) (k naming.Key, ok bool) {
	str := func(e *dwarf.Entry, attr dwarf.Attr) string {
		f := e.AttrField(attr)
		if f == nil {
			return ""
		}
		text, isString := f.Val.(string)
		ok = ok && isString
		return text
	}
	ok = true
	linkage := func(e *dwarf.Entry) string { return cmp.Or(str(e, dwarf.AttrLinkageName), str(e, attrMIPSLinkage)) }
	origin := func(e *dwarf.Entry) dwarf.Offset {
		for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
			if f := e.AttrField(attr); f != nil {
				off, isOffset := f.Val.(dwarf.Offset)
				ok = ok && isOffset && x.names[off] != nil
				return off
			}
		}
		return 0
	}
	for range maxChain {
		e := x.names[at]
		if e == nil {
			return k, false
		}
		k.Linkage, k.Name = cmp.Or(k.Linkage, linkage(e)), cmp.Or(k.Name, str(e, dwarf.AttrName))
		next := origin(e)
		if str(e, dwarf.AttrName) != "" || next == 0 {
			k.Scope, k.Typed = "", false
			for _, scope := range x.scopes[at] {
				name := str(scope, dwarf.AttrName)
				k.Typed = k.Typed || name == "" && scope.AttrField(dwarf.AttrSignature) != nil
				if kindOf(uint64(scope.Tag)) == kindFunction {
					link := linkage(scope)
					for d, n := origin(scope), 0; d != 0 && x.names[d] != nil && n < maxChain; d, n = origin(x.names[d]), n+1 {
						name, link = cmp.Or(name, str(x.names[d], dwarf.AttrName)), cmp.Or(link, linkage(x.names[d]))
					}
					if link != "" {
						name += naming.LinkageMark + link
					}
				}
				k.Scope += name + "\x00"
			}
		}
		if next == 0 {
			break
		}
		at = next
	}
	if k.Linkage == "" && (strings.HasPrefix(k.Name, "_Z") || x.lang == 0x31 || x.lang == 0x8001) {
		k.Linkage = k.Name
	}
	k.Ada = naming.IsAda(x.lang)
	return k, ok
}

// texts returns a scan in the form of libraryScan.funcs, and the DIEs whose names are compared.
func (s *Scan) texts() (list []string, refs []Ref) {
	for i := range s.Funcs {
		f := &s.Funcs[i]
		list = append(list, fmt.Sprintf("%#x %v", f.Ref.Off, s.Ranges[f.Ranges.From:f.Ranges.To]))
		refs = append(refs, f.Ref)
	}
	for i := range s.Funcs {
		for _, in := range s.Inlines[s.Funcs[i].Inlines.From:s.Funcs[i].Inlines.To] {
			list = append(list, fmt.Sprintf("depth %d %#x file %d line %d %v", in.Depth, in.Origin.Off, in.CallFile, int64(in.CallLine), s.Ranges[in.Ranges.From:in.Ranges.To]))
			refs = append(refs, in.Origin)
		}
	}
	return list, refs
}

// unlike compares what this package and debug/dwarf read of a unit. It returns "" if they agree, or
// if debug/dwarf cannot read the unit or reads something in another manner. compared counts the
// units that were compared. The sections of a damaged file may have errors that debug/dwarf ignores.
func unlike(data *dwarf.Data, u *Unit, code pcs.Set, names *naming.Table, damaged bool, compared *int) string {
	if u.kind == utType || u.kind == utSplitType {
		return ""
	}
	x := libraryScan{data: data, code: code}
	libErr := x.scan(u)
	var s Scan
	err := s.Scan(context.Background(), u, code)
	defer s.Release()
	if libErr != nil || !x.clean {
		return ""
	}
	if damaged && (x.root == nil || kindOf(uint64(x.root.Tag)) != kindUnit) {
		return "" // no unit
	}
	if damaged && u.version >= 5 && (x.root.Val(dwarf.AttrStrOffsetsBase) == nil || x.root.Val(dwarf.AttrAddrBase) == nil) {
		return "" // debug/dwarf takes 0 for a base that the root DIE lacks
	}
	if err != nil || len(s.Errs) > 0 {
		if damaged {
			return "" // debug/dwarf accepts some damage: unknown kinds of range list entries, say
		}
		return fmt.Sprintf("unit at %#x: %v, %v, but debug/dwarf reads it", u.Off, err, s.Errs)
	}
	*compared++
	texts, refs := s.texts()
	for i := range max(len(texts), len(x.funcs)) {
		if i == len(texts) || i == len(x.funcs) {
			return fmt.Sprintf("unit at %#x: %d functions, debug/dwarf %d", u.Off, len(texts), len(x.funcs))
		}
		if texts[i] != x.funcs[i] {
			return fmt.Sprintf("unit at %#x: %q; debug/dwarf: %q", u.Off, texts[i], x.funcs[i])
		}
	}

	n := NewNamer(names)
	n.Unit(&s)
	for i := range refs {
		key, ok := x.key(dwarf.Offset(x.refs[i].Off))
		if got := n.id(refs[i]); ok && got != names.ID(key) {
			return fmt.Sprintf("unit at %#x: name of %#x: %s; debug/dwarf: %+v", u.Off, refs[i].Off, names.Text(got), key)
		}
	}
	return unlikeLines(data, u, &x, code, damaged)
}

// unlikeLines compares the line tables.
func unlikeLines(data *dwarf.Data, u *Unit, x *libraryScan, code pcs.Set, damaged bool) string {
	h, err := u.in.lineHeader(u.lineOff, 0)
	if damaged && u.hasLines && err == nil && h.maxOps != 1 {
		return "" // debug/dwarf keeps op_index where DWARF 4 §6.2.5 resets it
	}
	const setColumn = 5
	if damaged && u.hasLines && err == nil && len(h.lengths) >= setColumn && h.lengths[setColumn-1] != 1 {
		return "" // debug/dwarf reads one operand whatever the header says; other wrong numbers it refuses
	}
	want, ok := libraryRuns(data, x.root, code, damaged)
	paths := naming.NewPaths()
	lines, err := u.Lines(nil, code, paths)
	if !ok || damaged && err != nil {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("lines of the unit at %#x: %v", u.Off, err)
	}
	for i := range max(len(want), len(lines.runs)) {
		if i == len(want) || i == len(lines.runs) {
			return fmt.Sprintf("unit at %#x: %d runs of lines, debug/dwarf %d", u.Off, len(lines.runs), len(want))
		}
		a, b := &lines.runs[i], &want[i]
		name := paths.Name(a.File)
		if a.Range != b.Range || a.Line != b.line || b.file != "" && a.File != naming.AnyPath && path.Base(name) != path.Base(paths.Name(paths.ID([]byte(b.file)))) {
			return fmt.Sprintf("unit at %#x: %+v %s; debug/dwarf: %+v", u.Off, *a, name, *b)
		}
	}
	return ""
}

// libraryRun is the code of one row.
type libraryRun struct {
	pcs.Range
	line uint32
	file string
}

// libraryRuns returns the runs of a unit's line table, false if debug/dwarf cannot read it, or if a damaged table does not
// say enough.
func libraryRuns(data *dwarf.Data, root *dwarf.Entry, code pcs.Set, damaged bool) (runs []libraryRun, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			ok = false
		}
	}()
	r, err := data.LineReader(root)
	if err != nil {
		return nil, false
	}
	if r == nil {
		return nil, true
	}
	var e dwarf.LineEntry
	var last libraryRun
	open, dead, begins := false, false, true
	for {
		if err := r.Next(&e); err == io.EOF {
			return pcs.Disjoint(runs), true
		} else if err != nil {
			return nil, false
		}
		if begins {
			dead, begins = !code.Contains(e.Address), false
		}
		if dead && damaged {
			return nil, false // code may have been the address before an advance, which the entries do not say
		}
		if !e.EndSequence && code.Contains(e.Address) == dead {
			return nil, false // a set_address may have moved the sequence, which the entries do not say
		}
		if open && e.Address > last.Lo && !dead {
			last.Hi = e.Address
			runs = append(runs, last)
		}
		open, begins = !e.EndSequence, e.EndSequence
		file := ""
		if e.File != nil {
			file = e.File.Name
		}
		last = libraryRun{pcs.Range{Lo: e.Address}, uint32(min(uint64(e.Line), 1<<32-1)), file}
	}
}
