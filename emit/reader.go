package emit

import (
	"bytes"
	"iter"

	"symkit/located"
)

// maxRangesRead is the number of ranges in one INLINE record that Breakpad's
// reader keeps.
const maxRangesRead = 254

// The records that the next line may belong to.
const (
	underNothing = iota
	underFunc
	underInit
)

// Reader reads a symbol file strictly: it accepts only records that the format document
// allows and every known consumer reads in full. MODULE comes first and once; line and
// INLINE records directly follow their FUNC; STACK CFI records directly follow their INIT,
// inside its range and at rising addresses; file and origin numbers are those of earlier
// records. The Reader does not check whether ranges overlap, or whether a line is inside
// its FUNC.
type Reader struct {
	data []byte
	off  int // of the current line
	line int // number of the current line

	under          uint8
	cfiLast        uint64 // address of the last STACK CFI record
	cfiEnd         uint64 // end of the INIT record's range
	files, origins idSet

	// The records that Records yields.
	module       Module
	info         Info
	file         File
	inlineOrigin InlineOrigin
	fn           Func
	lineRec      Line
	inline       Inline
	public       Public
	cfiInit      StackCFIInit
	cfi          StackCFI
	win          StackWin
}

// NewReader returns a Reader of data. Records alias data.
func NewReader(data []byte) *Reader { return &Reader{data: data} }

// Line returns the number, from 1, of the last line read.
func (r *Reader) Line() int { return r.line }

// Offset returns the offset in bytes of the last line read.
func (r *Reader) Offset() int { return r.off }

// Records yields the records in file order, from the start of the file. A record is valid
// until the next one; its names and rules alias the data and stay valid. A damaged line
// yields a nil record and a *located.Error with the position of the fault, and reading
// continues after the line. Memory does not grow with the size of the data, except for
// file and origin numbers that do not rise from 0 by 1.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		*r = Reader{data: r.data, inline: Inline{Ranges: r.inline.Ranges[:0]}}
		for next := 0; next < len(r.data); {
			// Find the end of the line.
			r.off = next
			r.line++
			end := bytes.IndexByte(r.data[next:], '\n')
			if end < 0 {
				yield(nil, r.errorAt(len(r.data), errUnterminated))
				return
			}
			next += end + 1

			// Parse the line. A failure of any field is the line's error.
			f := fields{line: r.data[r.off:][:end:end], more: true}
			rec := r.record(&f)
			if f.err != nil {
				if !yield(nil, r.errorAt(r.off+f.at, f.err)) {
					return
				}
			} else if !yield(rec, nil) {
				return
			}
		}

		// An empty file lacks its MODULE record.
		if r.line == 0 {
			yield(nil, &located.Error{Section: section, Err: &lineError{1, errOrder}})
		}
	}
}

func (r *Reader) errorAt(off int, err error) error {
	return &located.Error{Section: section, Offset: off, Err: &lineError{r.line, err}}
}

// record parses one line. The result is meaningless if f has failed.
func (r *Reader) record(f *fields) Record {
	if len(f.line) > maxLine {
		f.fail(maxLine, errTooLong)
		return nil
	}

	// A line that begins with a hex digit is a line record: no keyword does.
	if len(f.line) > 0 && hexValue[f.line[0]] <= 15 {
		if r.under != underFunc {
			f.fail(0, errOrder)
		}
		return r.parseLine(f)
	}

	// MODULE is the first line, and no other line is a MODULE.
	keyword := string(f.word())
	if isModule := keyword == "MODULE"; isModule != (r.line == 1) {
		f.fail(0, errOrder)
	}

	// INLINE and STACK records can belong to the record before them.
	switch keyword {
	case "INLINE":
		if r.under != underFunc {
			f.fail(0, errOrder)
		}
		return r.parseInline(f)
	case "STACK":
		return r.parseStack(f)
	}

	// Any other record ends the block of a FUNC or INIT, but an unknown line does not.
	under := r.under
	r.under = underNothing
	switch keyword {
	case "MODULE":
		return r.parseModule(f)
	case "INFO":
		return r.parseInfo(f)
	case "FILE":
		return r.parseFile(f)
	case "INLINE_ORIGIN":
		return r.parseInlineOrigin(f)
	case "FUNC":
		return r.parseFunc(f)
	case "PUBLIC":
		return r.parsePublic(f)
	}

	r.under = under
	f.fail(0, errRecord)
	return nil
}

// idSet is a set of the numbers of records. Numbers that rise from 0 by 1, as dumpers
// write them, take no memory.
type idSet struct {
	dense  uint32            // all below are in the set
	sparse map[uint32]uint64 // others: a bit for each of 64 numbers
}

func (s *idSet) add(n uint32) {
	switch {
	case n == s.dense:
		s.dense++
	case n > s.dense:
		if s.sparse == nil {
			s.sparse = map[uint32]uint64{}
		}
		s.sparse[n/64] |= 1 << (n % 64)
	}
}

func (s *idSet) has(n uint32) bool { return n < s.dense || s.sparse[n/64]&(1<<(n%64)) != 0 }
