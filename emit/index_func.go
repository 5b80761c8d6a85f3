package emit

import (
	"iter"
	"math"
)

// Symbol is the function at an address.
type Symbol struct {
	// Addr is the start of the FUNC or PUBLIC; Size is 0 for a PUBLIC whose size is not known.
	Addr      uint64
	Size      uint32
	ParamSize uint32
	Public    bool
	// After: nothing shows that the PUBLIC, which begins before the address, reaches it.
	After bool
	// Calls are the function and the calls inlined into it at the address, innermost
	// first. The last one is the FUNC or PUBLIC itself.
	Calls []Call
	// LineAddr is the start of the line record, or 0 without one.
	LineAddr uint64
	// CallAddr is the start of the range of the outermost inlined call, or 0 without one.
	CallAddr uint64
}

// Call is one level of a Symbol: a function and the place in it.
type Call struct {
	Func []byte
	File []byte // empty: unknown
	Line uint32 // 0: unknown
}

// Symbol finds the function at addr: the FUNC that covers addr, else the last PUBLIC at
// or below addr. A PUBLIC whose size is known (PublicSizes, SetSizes) covers that many bytes. There
// is no result if another record begins above that PUBLIC and at or
// below addr. If that record is a FUNC (even one at the PUBLIC's own address), addr is in
// the gap after the FUNC. If it is an INIT record, the code has unwind rules but no name,
// because PUBLIC records are all that remains of a stripped program. An exception is code
// close to a PUBLIC whose rules say that it has no caller, such as the second part of
// glibc's clone: it has the name of the PUBLIC. In all other cases the slice Calls is the
// only allocation.
func (x *Index) Symbol(addr uint64) (Symbol, bool) {
	off, ok := x.FuncAt(addr)
	if !ok {
		return x.public(addr)
	}

	fn, _ := x.funcAt(off)
	s := Symbol{Addr: fn.Addr, Size: fn.Size, ParamSize: fn.ParamSize}
	x.calls(&s, off, addr, fn.Name)
	return s, true
}

// FuncAt identifies the FUNC that covers addr by its place in the file.
func (x *Index) FuncAt(addr uint64) (place uint64, ok bool) {
	return x.funcs.covering(addr, func(off uint64) bool {
		f, ok := x.funcAt(off)
		return ok && addr-f.Addr < uint64(f.Size)
	})
}

// funcBelow returns the start of the last FUNC at or below addr.
func (x *Index) funcBelow(addr uint64) (uint64, bool) {
	i := x.funcs.below(addr)
	if i == 0 {
		return 0, false
	}
	return x.funcs[i-1].key, true
}

// omitted is the name of a function without a name.
var omitted = []byte(nameOmitted)

func orOmitted(name []byte) []byte {
	if len(name) == 0 {
		return omitted
	}
	return name
}

// funcAt parses the FUNC record at off.
func (x *Index) funcAt(off uint64) (Func, bool) {
	l := loose{rest: x.record(off)}
	l.word()
	f := Func{Multiple: l.multiple()}
	f.Addr, f.Size, f.ParamSize = l.hex(), l.size(), l.size()
	f.Name = orOmitted(l.text())
	if l.bad {
		x.markBad(off)
	}
	return f, !l.bad
}

// site is an INLINE record that covers the address of a lookup.
type site struct {
	line, file, origin uint32
	addr               uint64 // where the covering range begins
	ok                 bool
}

// maxDepth bounds the depth of inlined calls in a Symbol. Compilers stay below usualDepth in
// nearly all functions.
const maxDepth, usualDepth = 1 << 10, 32

// search is a lookup in a FUNC: the line record and for each depth the INLINE record that cover addr and begin last.
type search struct {
	addr  uint64
	sites []site // by depth
	best  Line
	line  bool
}

// look reads a record of the FUNC, and adds its code to p.
func (s *search) look(x *Index, p *part, at uint64, rec loose) {
	if rec.rest[0] == 'I' {
		s.sites = x.inlineRecord(at, rec, s.addr, s.sites, p)
		return
	}
	l, ok := x.lineRecord(at, rec)
	if !ok {
		return
	}
	p.add(l.Addr, l.Size)
	if s.addr-l.Addr < uint64(l.Size) && (!s.line || l.Addr > s.best.Addr) {
		s.best, s.line = l, true
	}
}

// run reads the records of the FUNC at off that can have code at the address.
func (s *search) run(x *Index, off uint64) {
	read, known := 0, x.met.parts.get(off)
	if known != nil {
		for place := range known.near(s.addr) {
			var seen part
			for at, rec := range x.records(place, partRecords, &read) {
				s.look(x, &seen, at, rec)
			}
		}
		return
	}

	// The FUNC is read as a whole, and divided.
	var few [fewParts]part
	all, n := few[:0], 0
	for at, rec := range x.records(x.after(off), math.MaxInt, &read) {
		if n%partRecords == 0 {
			all = append(all, newPart(at))
		}
		n++
		s.look(x, &all[len(all)-1], at, rec)
	}
	if read <= maxBlock {
		x.met.parts.keep(off, all)
	}
}

// calls reads the records of the FUNC at off and sets s.Calls for addr. Inlined calls
// count up to the first depth that has none.
func (x *Index) calls(s *Symbol, off, addr uint64, name []byte) {
	var few [usualDepth]site
	found := search{addr: addr, sites: few[:]}
	found.run(x, off)
	sites, best, line := found.sites, found.best, found.line

	// Calls deeper than a missing depth are dropped: their caller is not known.
	depth := 0
	for depth < len(sites) && sites[depth].ok {
		depth++
	}

	if depth > 0 {
		s.CallAddr = sites[0].addr
	}

	// The place in the innermost call is that of the line record.
	s.Calls = make([]Call, depth+1)
	here := Call{}
	if line {
		s.LineAddr = best.Addr
		here = Call{File: x.FileName(best.File), Line: best.Line}
	}

	// Each INLINE record has the place of its call, which is in the next outer function.
	for i := range depth { // from the innermost out
		in := &sites[depth-1-i]
		origin, file := x.OriginName(in.origin)
		if i > 0 && here.File == nil { // the old form has the file there
			here.File = file
		}
		here.Func = origin
		s.Calls[i] = here
		here = Call{File: x.FileName(in.file), Line: in.line}
	}

	here.Func = name
	s.Calls[depth] = here
}

// maxBlock bounds what a lookup reads of the records of one FUNC or STACK CFI INIT, in bytes. The
// longest of the corpus has less than a megabyte. lineBytes is what each line costs beside its bytes.
const maxBlock, lineBytes = 64 << 20, 16

// records yields the line and INLINE records of a FUNC from a place on, and lines that begin like
// no record: at most most. It adds the bytes to read, up to maxBlock.
func (x *Index) records(at uint64, most int, read *int) iter.Seq2[uint64, loose] {
	return func(yield func(uint64, loose) bool) {
		before := *read
		defer func() { x.count(*read - before) }()
		var line []byte
		for ; at < uint64(len(x.data)) && most > 0; at += uint64(len(line)) + 1 {
			line = x.line(at)
			*read += lineBytes + len(line)
			if *read > maxBlock {
				x.markBad(at)
				return
			}
			l := loose{rest: line}
			l.skip()
			switch first := l; string(first.word()) {
			case "FUNC", "PUBLIC", "FILE", "INLINE_ORIGIN", "STACK", "MODULE", "INFO":
				return
			case "":
			default:
				most--
				if !yield(at, l) {
					return
				}
			}
		}
	}
}

// after returns the offset of the line after the one at off.
func (x *Index) after(off uint64) uint64 { return off + uint64(len(x.line(off))) + 1 }

// lineRecord parses a line record.
func (x *Index) lineRecord(at uint64, l loose) (Line, bool) {
	rec := Line{Addr: l.hex(), Size: l.size(), Line: l.dec(), File: l.dec()}
	if l.bad {
		x.markBad(at)
	}
	return rec, !l.bad
}

// inlineHead reads an INLINE record up to its ranges, into in. The old form, which has an even number of words with the
// keyword, lacks the file of the call. complete is false if a word is missing.
func inlineHead(l *loose, in *FunctionInline) (complete bool) {
	fields := l.words() // the keyword too; ranges come in pairs
	l.word()
	in.Depth, in.CallLine, in.CallFile = l.dec(), l.dec(), noNumber
	if fields%2 == 1 {
		in.CallFile = l.dec()
	}
	in.Origin = l.dec()
	return fields >= 6
}

// inlineRecord parses an INLINE record, stores it in sites if it covers addr, adds its code to p, and returns sites.
func (x *Index) inlineRecord(at uint64, l loose, addr uint64, sites []site, p *part) []site {
	var in FunctionInline
	complete := inlineHead(&l, &in)
	depth, s := in.Depth, site{line: in.CallLine, file: in.CallFile, origin: in.Origin, ok: true}

	// Of the ranges that cover addr, the one that begins last counts.
	found := false
	for l.skip(); len(l.rest) > 0; l.skip() {
		r := Range{l.hex(), l.size()}
		p.add(r.Addr, r.Size)
		if !l.bad && addr-r.Addr < uint64(r.Size) && (!found || r.Addr > s.addr) {
			s.addr, found = r.Addr, true
		}
	}
	if l.bad || !complete {
		x.markBad(at)
		return sites
	}
	if !found || depth >= maxDepth {
		return sites
	}

	// Of the records of one depth, the one whose range begins last counts.
	if int(depth) >= len(sites) {
		sites = append(sites, make([]site, int(depth)+1-len(sites))...)
	}
	if !sites[depth].ok || s.addr > sites[depth].addr {
		sites[depth] = s
	}
	return sites
}

// FileName returns the name in the FILE record with number num, or nil.
func (x *Index) FileName(num uint32) []byte {
	off, ok := x.files.numbered(num)
	if !ok {
		return nil
	}

	l := loose{rest: x.record(off)}
	l.word()
	l.word()
	return l.text()
}

// OriginName returns the name in the INLINE_ORIGIN record with number num, and the name of the file of the function,
// which the old form alone has.
func (x *Index) OriginName(num uint32) (name, file []byte) {
	off, ok := x.origins.numbered(num)
	if !ok {
		return omitted, nil
	}

	l := loose{rest: x.record(off)}
	l.word()
	l.word()
	name = l.text()

	// A number and more text is the old form; a number alone is a name.
	old := loose{rest: name}
	n := old.dec()
	if !old.bad {
		rest := old.text()
		if len(rest) > 0 {
			name, file = rest, x.FileName(n)
		}
	}
	return orOmitted(name), file
}
