package symfile

import (
	"bytes"
	"slices"

	"symkit/check/internal/pcs"
	"symkit/emit"
)

// Most of a symbol file is line and INLINE records. A File does not keep these records: Parse passes
// those of each FUNC to its caller, and Read parses them again for the comparison.

// Body is the line and INLINE records of a FUNC, in the order of the file.
type Body struct {
	Lines   []Line
	Inlines []Inline
	Ranges  []emit.Range
	of      *Func
	base    int // index in Ranges of the first range of the last FUNC
}

// RangesOf returns the ranges of an INLINE record.
func (b *Body) RangesOf(in *Inline) []emit.Range { return b.Ranges[in.Ranges.From:in.Ranges.To] }

// ByAddress returns the line records by address.
func (b *Body) ByAddress() []Line { return pcs.Sorted(b.Lines) }

// Append appends the records of another FUNC, for Parse.
func (b *Body) Append(_ *Func, more *Body) {
	b.Lines = append(b.Lines, more.Lines...)
	for i := range more.Inlines {
		b.addInline(more.Inlines[i], more.RangesOf(&more.Inlines[i]))
	}
}

func (b *Body) clear() { *b = Body{Lines: b.Lines[:0], Inlines: b.Inlines[:0], Ranges: b.Ranges[:0]} }

// addInline appends an INLINE record and its ranges.
func (b *Body) addInline(in Inline, ranges []emit.Range) {
	from := uint32(len(b.Ranges) - b.base)
	b.Ranges = append(b.Ranges, ranges...)
	in.Ranges = Span{from, uint32(len(b.Ranges) - b.base)}
	b.Inlines = append(b.Inlines, in)
}

// Read reads the records of f into b, unless b has them already.
func (s *File) Read(f *Func, b *Body) {
	if b.of == f {
		return
	}
	b.clear()
	b.of = f
	if f.Lines+f.Inlines == 0 {
		return
	}

	// Lines that the strict reader rejected do not count.
	s.again.add(&s.text, f.last-f.first)
	rejected, _ := slices.BinarySearch(s.rejected, f.Line)
	at := f.Line - 1
	for pos := f.first; pos <= f.last && pos < uint64(len(s.text.Bytes)); {
		at++
		line := s.text.Bytes[pos:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		pos += uint64(len(line)) + 1
		if rejected < len(s.rejected) && s.rejected[rejected] == at {
			rejected++
		} else if at > f.Line {
			b.parse(line, at)
		}
	}
}

// Name returns the name of f.
func (s *File) Name(f *Func) []byte {
	s.again.add(&s.text, f.last-f.first) // the functions are mostly read in order, with all pages between
	return f.Name
}

// parse parses a record that the strict reader has accepted. Records of other kinds than a FUNC has
// can lie between those of a FUNC.
func (b *Body) parse(line []byte, at uint32) {
	if rest, ok := bytes.CutPrefix(line, []byte("INLINE ")); ok {
		in := Inline{Depth: uint32(number(&rest, 10)), CallLine: uint32(number(&rest, 10)), At: at}
		in.CallFile, in.Origin = uint32(number(&rest, 10)), uint32(number(&rest, 10))
		from := uint32(len(b.Ranges))
		for len(rest) > 0 {
			b.Ranges = append(b.Ranges, emit.Range{Addr: number(&rest, 16), Size: uint32(number(&rest, 16))})
		}
		in.Ranges = Span{from, uint32(len(b.Ranges))}
		b.Inlines = append(b.Inlines, in)
		return
	}
	if len(line) == 0 || line[0] >= 'A' && line[0] <= 'Z' {
		return
	}
	b.Lines = append(b.Lines, Line{number(&line, 16), uint32(number(&line, 16)), uint32(number(&line, 10)), uint32(number(&line, 10)), at})
}

// number reads the next number and the space after it.
func number(text *[]byte, base uint64) (v uint64) {
	t := *text
	for i, c := range t {
		if c == ' ' {
			*text = t[i+1:]
			return v
		}
		if c >= 'a' {
			c -= 'a' - '0' - 10
		}
		v = v*base + uint64(c-'0')
	}
	*text = nil
	return v
}

// cover adds the PCs that the records of a FUNC cover.
func (s *File) cover(b *Body) {
	add := func(set *pcs.Set, x pcs.Range) {
		// Adjacent ranges are joined at once, so that the set stays small.
		if n := len(*set) - 1; n >= 0 && (*set)[n].Hi == x.Lo {
			(*set)[n].Hi = x.Hi
		} else {
			*set = append(*set, x)
		}
	}
	for i := range b.Lines {
		if b.Lines[i].Line != 0 { // otherwise no line is known
			add(&s.lines, b.Lines[i].PCs())
		}
	}

	// Calls at depth 0 contain all deeper calls.
	for i := range b.Inlines {
		if b.Inlines[i].Depth == 0 {
			for _, x := range b.RangesOf(&b.Inlines[i]) {
				add(&s.inlines, pcs.Range{Lo: x.Addr, Hi: x.Addr + uint64(x.Size)})
			}
		}
	}
}
