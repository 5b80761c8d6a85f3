package emit

import "math"

// Function is a FUNC record with the records that belong to it, for callers that look up many addresses in one
// function.
type Function struct {
	Func
	// Lines and Inlines are in the order of the file. They may overlap.
	Lines   []Line
	Inlines []FunctionInline
}

// FunctionInline is an INLINE record in either form. The old one has no file of the call: CallFile is a number
// without a FILE record.
type FunctionInline struct {
	Depth, CallLine, CallFile, Origin uint32
	Ranges                            []Range
}

// Function returns the function at a place that FuncAt has found. ok is false if its records have more than most bytes.
// The records count for an address as in Symbol: of the lines that cover it, and of the calls of one depth, the one
// that begins last, and of those that begin together the first.
func (x *Index) Function(place uint64, most int) (f Function, ok bool) {
	f.Func, ok = x.funcAt(place)
	if !ok {
		return f, false
	}
	size, read := 0, 0
	for range x.records(x.after(place), math.MaxInt, &size) { // to count bytes takes a tenth of the time of reading
		if size > most {
			return f, false
		}
	}
	var ranges []Range
	for at, rec := range x.records(x.after(place), math.MaxInt, &read) {
		if rec.rest[0] != 'I' {
			l, ok := x.lineRecord(at, rec)
			if ok {
				f.Lines = append(f.Lines, l)
			}
			continue
		}
		in, from := FunctionInline{}, len(ranges)
		ranges, ok = x.readInline(at, rec, &in, ranges)
		if ok && in.Depth < maxDepth {
			in.Ranges = ranges[from:len(ranges):len(ranges)]
			f.Inlines = append(f.Inlines, in)
		}
	}
	return f, true
}

// readInline reads an INLINE record, and appends its ranges to ranges.
func (x *Index) readInline(at uint64, l loose, in *FunctionInline, ranges []Range) ([]Range, bool) {
	complete := inlineHead(&l, in)
	for l.skip(); len(l.rest) > 0; l.skip() {
		ranges = append(ranges, Range{l.hex(), l.size()})
	}
	if l.bad || !complete {
		x.markBad(at)
		return ranges, false
	}
	return ranges, true
}

// CodeFile returns the name of the file itself in the INFO CODE_ID record, or "". The name in the MODULE record is that
// of the file with the debug information.
func (x *Index) CodeFile() string { return x.code.file }
