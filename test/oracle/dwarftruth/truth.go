//go:build oracle

package dwarftruth

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"symkit/test/oracle"
)

// unknownFile stands for a file that the line table does not have.
const unknownFile = "<unknown>"

// truth has the records that debug/dwarf reads of a file, with addresses relative to the
// load address.
type truth struct {
	subprograms int
	ranges      []codeRange   // by address
	rows        []lineRow     // by address
	inlines     []inlinedCall // by address
	files       []string      // of the rows and inlines
	symbols     funcSymbols
}

// codeRange is one range of a subprogram.
type codeRange struct {
	oracle.Span
	die  dwarf.Offset
	name string // DW_AT_name
}

// inlinedCall is one range of an inlined call.
type inlinedCall struct {
	oracle.Span
	owner             dwarf.Offset // the subprogram
	depth, line, file uint32
	name              string // DW_AT_name of the inlined function
}

// lineRow is a row of a line table and the code that it holds for.
type lineRow struct {
	oracle.Span
	line, file, unit uint32
}

// readTruth reads the DWARF of a file. debug/dwarf may panic on forms that it does
// not know.
func readTruth(path string, l *oracle.Layout) (tr *truth, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("debug/dwarf panicked: %v", r)
		}
	}()

	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return &truth{}, nil
	}

	data, err := f.DWARF()
	if err != nil {
		return nil, err
	}

	x := truthReader{data: data, l: l, fileIDs: map[string]uint32{}, names: map[dwarf.Offset]string{}}
	if err := x.read(); err != nil {
		return nil, err
	}

	// The sweeps need everything by address.
	slices.SortStableFunc(x.ranges, func(a, b codeRange) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.SortStableFunc(x.rows, func(a, b lineRow) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.SortStableFunc(x.inlines, func(a, b inlinedCall) int { return cmp.Compare(a.Lo, b.Lo) })
	return &x.truth, nil
}

// truthReader reads the DIEs and line tables of a file.
type truthReader struct {
	truth
	data    *dwarf.Data
	l       *oracle.Layout
	fileIDs map[string]uint32
	names   map[dwarf.Offset]string // of origins

	units    uint32
	compDir  string
	cuFiles  []*dwarf.LineFile // of the unit's line table
	scopes   []scope           // of the open DIEs
	fileName map[*dwarf.LineFile]uint32
}

// scope has the facts about a DIE and the DIEs around it that its children need.
type scope struct {
	owner dwarf.Offset  // the subprogram with code
	depth uint32        // of an inlined call among the children
	code  []oracle.Span // of the call around the children, if depth > 0
}

// read walks all DIEs, so that no subprogram is missed wherever it nests.
func (x *truthReader) read() error {
	for r := x.data.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}

		// A null entry ends the children of a DIE.
		if e.Tag == 0 {
			x.scopes = x.scopes[:len(x.scopes)-1]
			continue
		}
		// A DIE has the scope of its parent, unless it is a function or a call.
		var inner scope
		if n := len(x.scopes); n > 0 {
			inner = x.scopes[n-1]
		}

		switch e.Tag {
		case dwarf.TagSubprogram:
			inner, err = x.subprogram(e)
		case dwarf.TagInlinedSubroutine:
			inner, err = x.inline(e, inner)
		case dwarf.TagCompileUnit, dwarf.TagSkeletonUnit:
			x.scopes = x.scopes[:0]
			err = x.lines(e)
		}
		if err != nil {
			return err
		}
		if e.Children {
			x.scopes = append(x.scopes, inner)
		}
	}
}

// liveRanges returns the ranges of a DIE that the linker kept.
func (x *truthReader) liveRanges(e *dwarf.Entry) (out []oracle.Span, err error) {
	ranges, err := x.data.Ranges(e)
	for _, r := range ranges {
		if r[0] < r[1] && x.l.Live(r[0]) {
			out = append(out, oracle.Span{Lo: r[0] - x.l.Load, Hi: r[1] - x.l.Load})
		}
	}
	return out, err
}

// subprogram reads a subprogram. A declaration has no code, and no scope.
func (x *truthReader) subprogram(e *dwarf.Entry) (scope, error) {
	ranges, err := x.liveRanges(e)
	if err != nil || len(ranges) == 0 {
		return scope{}, err
	}
	x.subprograms++
	name, err := x.nameOf(e.Offset)
	for _, r := range ranges {
		x.ranges = append(x.ranges, codeRange{r, e.Offset, name})
	}
	return scope{owner: e.Offset}, err
}

// inline reads an inlined call. A DIE without code or function, which gcc writes, is no
// call: the calls in such a DIE, if any, take its place.
func (x *truthReader) inline(e *dwarf.Entry, at scope) (scope, error) {
	ranges, err := x.liveRanges(e)
	origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if err != nil || len(ranges) == 0 || !ok || at.owner == 0 {
		return at, err
	}

	name, err := x.nameOf(origin)
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	number, _ := e.Val(dwarf.AttrCallFile).(int64)
	var file *dwarf.LineFile
	if number >= 0 && number < int64(len(x.cuFiles)) {
		file = x.cuFiles[number]
	}
	// A call counts only where the call around it has code, too.
	if at.depth > 0 {
		ranges = within(ranges, at.code)
	}

	for _, r := range ranges {
		x.inlines = append(x.inlines, inlinedCall{r, at.owner, at.depth, uint32(line), x.file(file), name})
	}
	return scope{at.owner, at.depth + 1, ranges}, err
}

// within returns the parts of inner that are in outer. Strict DWARF 2 has no range lists, so
// gcc gives a call only some of the code of the calls in it. A PC is in a call only if the
// PC is also in the call around that call.
func within(inner, outer []oracle.Span) (out []oracle.Span) {
	for _, a := range inner {
		for _, b := range outer {
			if s := (oracle.Span{Lo: max(a.Lo, b.Lo), Hi: min(a.Hi, b.Hi)}); s.Lo < s.Hi {
				out = append(out, s)
			}
		}
	}
	return out
}

// nameOf returns the DW_AT_name of a function, or of its origin or declaration.
func (x *truthReader) nameOf(off dwarf.Offset) (string, error) {
	if name, ok := x.names[off]; ok {
		return name, nil
	}

	r := x.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil || e == nil {
		return "", err
	}

	// The name is in the DIE itself, or in the DIE that it refers to.
	name, ok := e.Val(dwarf.AttrName).(string)
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if next, has := e.Val(attr).(dwarf.Offset); has && !ok {
			name, err = x.nameOf(next)
		}
	}

	x.names[off] = name
	return name, err
}

// lines reads the line table of a unit.
func (x *truthReader) lines(cu *dwarf.Entry) error {
	x.units++
	x.compDir, _ = cu.Val(dwarf.AttrCompDir).(string)
	x.cuFiles, x.fileName = nil, map[*dwarf.LineFile]uint32{}

	// A unit can be without a line table.
	lr, err := x.data.LineReader(cu)
	if lr == nil || err != nil {
		return err
	}

	// Each row holds up to the address of the next row of its sequence.
	var prev dwarf.LineEntry
	open, dead := false, false
	for {
		var row dwarf.LineEntry
		if err := lr.Next(&row); errors.Is(err, io.EOF) {
			x.cuFiles = lr.Files()
			return nil
		} else if err != nil {
			return err
		}
		// A linker may discard code in the middle of a sequence. A row with a lower
		// address than the one before comes after DW_LNE_set_address, where other
		// code begins.
		if !open || row.Address < prev.Address {
			dead = !x.l.Live(row.Address)
		} else if !dead && prev.Address < row.Address {
			x.rows = append(x.rows, lineRow{
				oracle.Span{Lo: prev.Address - x.l.Load, Hi: row.Address - x.l.Load}, uint32(prev.Line), x.file(prev.File), x.units,
			})
		}
		prev, open = row, !row.EndSequence
	}
}

// file returns the number of a source file. debug/dwarf leaves names from DWARF 5
// tables relative to the compilation directory, but prepends directory 0, which is
// that directory (DWARF 5 §6.2.4) and may be relative itself.
func (x *truthReader) file(f *dwarf.LineFile) uint32 {
	if id, ok := x.fileName[f]; ok {
		return id
	}

	name := unknownFile
	if f != nil && f.Name != "" {
		name = f.Name
		if !path.IsAbs(name) && !strings.HasPrefix(name, path.Clean(x.compDir)+"/") {
			name = path.Join(x.compDir, name)
		}
		name = path.Clean(name)
	}

	id, ok := x.fileIDs[name]
	if !ok {
		id = uint32(len(x.files))
		x.fileIDs[name] = id
		x.files = append(x.files, name)
	}

	x.fileName[f] = id
	return id
}
