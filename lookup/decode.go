package lookup

import (
	"cmp"
	"errors"
	"math"
	"sort"

	"symkit/elfx/companion"
	"symkit/internal/debuginfo"
	"symkit/internal/dwarfx"
)

// decoder decodes units, one after the other.
type decoder struct {
	pkg    *debuginfo.Package    // or nil
	others *companion.Companions // or nil
	bound  bound                 // of a unit while it is decoded
	paths  *paths

	scan   dwarfx.Scan
	table  dwarfx.LineTable
	namer  dwarfx.Namer
	locals dwarfx.LocalReader
	other  map[*dwarfx.Unit]*fileTable // files of other units, for declarations
	paid   int64                       // bytes of the unit that is being decoded
	over   error                       // the bound's, if the unit takes more

	divider
	text  []byte     // names
	files []byte     // paths: those of the unit, then those of other units
	spans []textSpan // of files
}

// fileTable is the list of files of another unit.
type fileTable struct {
	table dwarfx.LineTable
	base  []byte
	known map[uint32]uint32 // indexes of decoder.spans
}

// errMemory: Options.Memory is less than what a unit takes.
var errMemory = errors.New("the unit takes more memory than is allowed")

// bound is how many bytes may be taken, and the error for more.
type bound struct {
	bytes int64
	err   error
}

func newDecoder(others *companion.Companions, bound bound, shared *paths) *decoder {
	d := &decoder{others: others, bound: bound, paths: shared}
	d.scan.Full, d.table.Full, d.namer.Full = true, true, true
	d.scan.Pay, d.table.Pay, d.locals.Pay = d.pay, d.pay, d.pay
	d.scan.Most = int(min(bound.bytes/(2*intervalMemory), math.MaxInt32))
	return d
}

// pay counts memory of the unit that is being decoded, twice: what was decoded is there with its copy in the unit.
func (d *decoder) pay(bytes uint64) error {
	d.paid += 2 * int64(min(bytes, 1<<40))
	if d.paid > d.bound.bytes {
		d.over = d.bound.err
	}
	return d.over
}

// ErrNoSplit is among the losses of a file: the functions of a unit are in another file.
var ErrNoSplit = errors.New("its split DWARF file was not found")

// unit decodes a unit of the file, or the split unit that belongs to it. Damage costs what comes after it: the
// result has what could be read.
func (d *decoder) unit(root *dwarfx.Unit) (*unit, error) {
	d.paid, d.over, d.other = 0, nil, nil
	d.text, d.files, d.spans = d.text[:0], d.files[:0], d.spans[:0]
	out := &unit{}
	own, err := d.lines(root)

	// The line table is that of the skeleton, whose functions are elsewhere.
	u, damage := d.described(root)
	err = cmp.Or(err, damage)
	d.code = d.code[:0]
	if u != nil {
		err = cmp.Or(u.Data().ScanUnit(u, true, &d.scan), err)
		d.scopes(u, root, out)
	}
	out.starts, out.spots = d.divide(d.table.Rows, d.table.Places)
	out.text = string(d.text)
	out.named, out.paths = d.paths.share(d.files, d.spans)
	out.files = out.named[:own]
	return out, cmp.Or(err, d.over)
}

// described returns the unit that has the functions of root: root, or the split unit, which is nil if there is none.
func (d *decoder) described(root *dwarfx.Unit) (*dwarfx.Unit, error) {
	if root.Split == 0 {
		return root, nil
	}
	split := debuginfo.OpenSplit(root, d.pkg, d.others)
	err := errors.Join(split.Errs...)
	if split.Unit == nil {
		err = cmp.Or(err, ErrNoSplit)
	}
	return split.Unit, err
}

// lines reads the line table of root, and the paths of its files. It returns how many there are.
func (d *decoder) lines(root *dwarfx.Unit) (files int, err error) {
	err = root.Data().ReadLines(root, &d.table)
	compDir, _ := root.String(root.CompDir) // a string outside of its section is no name
	base := d.table.BaseDir(compDir)
	for n := uint32(0); ; n++ {
		dir, name, ok := d.table.File(n)
		if !ok && n > 0 { // before DWARF 5 there is no file 0
			break
		}
		d.addPath(base, dir, name)
	}
	return len(d.spans), err
}

// maxInlined is how deep calls are inlined into each other: in real programs some dozens. Deeper ones count as calls at
// that depth.
const maxInlined = 256

// maxName is the length in bytes at which names are cut, and paths left out. The longest names of real programs have
// some tens of thousands.
const maxName = 1 << 16

// scopes makes the functions and calls of a scan.
func (d *decoder) scopes(u, root *dwarfx.Unit, out *unit) {
	s := &d.scan
	out.funcs = make([]function, 0, len(s.Funcs)+len(s.Origins))
	out.dies = make([]dwarfx.Ref, 0, len(s.Funcs))
	out.scopes = make([]scope, 0, len(s.Funcs)+len(s.Inlines))
	for i := range s.Funcs {
		out.dies = append(out.dies, s.Funcs[i].DIE)
		d.addFunction(u, root, s.Funcs[i].DIE, out)
	}
	for _, ref := range s.Origins {
		d.addFunction(u, root, ref, out)
	}

	// open has the enclosing scopes of the next call with their ranges, by depth.
	var open []int32
	var ranges []dwarfx.Span
	for i := range s.Funcs {
		f := &s.Funcs[i]
		open = append(open[:0], d.addScope(out, scope{parent: -1, fn: uint32(i)}, f.Ranges))
		ranges = append(ranges[:0], f.Ranges)
		for k := f.Inlines.From; k < f.Inlines.To; k++ {
			c := &s.Inlines[k]
			depth := min(int(c.Depth), len(open)-1, maxInlined-1)
			call := scope{parent: open[depth], fn: uint32(len(s.Funcs)) + c.Origin, file: c.CallFile, line: c.CallLine, place: s.Places[k]}
			if c.CallFile == dwarfx.NoFile && c.CallLine != 0 {
				call.file = fileAround(d.table.Rows, c, d.rangesOf(ranges[depth]), d.rangesOf(c.Ranges))
			}
			open = append(open[:depth+1], d.addScope(out, call, c.Ranges))
			ranges = append(ranges[:depth+1], c.Ranges)
		}
	}
}

// fileAround returns the file of the code that makes an inlined call (Inline.CallSite), or dwarfx.NoFile. outer and own
// are the code around the call and that of the call.
func fileAround(rows []dwarfx.LineRow, call *dwarfx.Inline, outer, own []dwarfx.Range) uint32 {
	if len(outer) == 0 || len(own) == 0 {
		return dwarfx.NoFile
	}
	at := call.CallSite(outer[0], own[0])
	row := sort.Search(len(rows), func(i int) bool { return rows[i].Addr > at }) - 1
	if row < 0 || rows[row].File == dwarfx.EndOfCode {
		return dwarfx.NoFile
	}
	return rows[row].File
}

// rangesOf returns ranges of the scan.
func (d *decoder) rangesOf(s dwarfx.Span) []dwarfx.Range { return d.scan.Ranges[s.From:s.To] }

// intervalMemory is how many bytes the code of a scope takes for each of its ranges, with what paint makes of them. Scopes
// can have a list together.
const intervalMemory = 70

// addScope adds a scope with its code, and returns its index.
func (d *decoder) addScope(out *unit, s scope, ranges dwarfx.Span) int32 {
	n := int32(len(out.scopes))
	list := d.rangesOf(ranges)
	if d.pay(intervalMemory*uint64(len(list))) != nil {
		list = nil
	}
	if len(list) > 0 {
		s.start = list[0].Lo
	}
	out.scopes = append(out.scopes, s)
	for _, r := range list {
		d.code = append(d.code, interval{r.Lo, r.Hi, n})
	}
	return n
}

// addFunction adds the function that the DIE at ref, of u or of a unit that u refers to, names.
func (d *decoder) addFunction(u, root *dwarfx.Unit, ref dwarfx.Ref, out *unit) {
	naming, _ := d.namer.NameOf(u.Data(), ref) // a name that cannot be read is missing
	decl := d.namer.Decl
	f := function{name: d.addName(naming.Name), linkage: d.addName(naming.Linkage), file: noFile, line: decl.Line}
	if u.Language.IsAssembly() {
		f.linkage = f.name // a symbol's
	}
	switch {
	case decl.Unit == nil:
	case decl.Unit == u || decl.Unit == root:
		_, _, ok := d.table.File(decl.File)
		if ok {
			f.file = decl.File
		}
	default: // a unit with other files
		f.file = d.fileOf(decl)
	}
	out.mangled = out.mangled || f.linkage.to > f.linkage.from
	out.funcs = append(out.funcs, f)
}

// addName adds a name, which is empty if the unit takes too much.
func (d *decoder) addName(name []byte) textSpan {
	name = name[:min(len(name), maxName)]
	from := uint32(len(d.text))
	if d.pay(uint64(len(name))) == nil {
		d.text = append(d.text, name...)
	}
	return textSpan{from, uint32(len(d.text))}
}

// addPath adds the path of a file of a line table. It is empty if it is too long, or the unit takes too much.
func (d *decoder) addPath(base, dir, name []byte) {
	if d.paths.short {
		base = nil
	}
	size := len(base) + len(dir) + len(name)
	from := uint32(len(d.files))
	if size <= maxName && d.pay(uint64(size)) == nil {
		d.files = appendPath(d.files, base, dir, name)
	}
	d.spans = append(d.spans, textSpan{from, uint32(len(d.files))})
}

// fileOf returns the index, in spans, of the file of a declaration in another unit.
func (d *decoder) fileOf(decl dwarfx.Decl) uint32 {
	t := d.filesOf(decl.Unit)
	n, ok := t.known[decl.File]
	if !ok {
		n = uint32(len(d.spans))
		dir, name, _ := t.table.File(decl.File)
		d.addPath(t.base, dir, name)
		t.known[decl.File] = n
	}
	return n
}

// filesOf returns the files of another unit.
func (d *decoder) filesOf(u *dwarfx.Unit) *fileTable {
	t := d.other[u]
	if t == nil {
		t = &fileTable{known: map[uint32]uint32{}}
		_ = t.table.ReadFiles(u) // a file that cannot be read is not known
		compDir, _ := u.String(u.CompDir)
		t.base = t.table.BaseDir(compDir)
		if d.other == nil {
			d.other = map[*dwarfx.Unit]*fileTable{}
		}
		d.other[u] = t
	}
	return t
}

// appendPath appends the path of a file: name, below dir unless it is absolute, below base unless both are
// relative. Nothing is resolved: the path is as the compiler wrote it.
func appendPath(dst, base, dir, name []byte) []byte {
	if len(name) == 0 {
		return dst
	}
	if name[0] != '/' {
		if len(dir) == 0 || dir[0] != '/' {
			dst = appendDir(dst, base)
		}
		dst = appendDir(dst, dir)
	}
	return append(dst, name...)
}

// appendDir appends a directory and a slash.
func appendDir(dst, dir []byte) []byte {
	if len(dir) == 0 {
		return dst
	}
	dst = append(dst, dir...)
	if dir[len(dir)-1] != '/' {
		dst = append(dst, '/')
	}
	return dst
}
