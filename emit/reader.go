package emit

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"symkit/internal/wire"
)

// What can be wrong with a symbol file. The Reader wraps them in *LineError in
// *wire.Error.
var (
	// ErrOrder: a record where the format does not allow it.
	ErrOrder = errors.New("record out of place")
	// ErrRecord: a line that begins like no record.
	ErrRecord = errors.New("unknown record")
	// ErrMissing: the line ends before its last field.
	ErrMissing = errors.New("missing field")
	// ErrExtra: a space or field too many.
	ErrExtra = errors.New("extra space or field")
	// ErrNumber: a digit that is none, upper-case hex among them.
	ErrNumber = errors.New("malformed number")
	// ErrRange: a number too large for its field, or a range that wraps.
	ErrRange = errors.New("number out of range")
	// ErrText: a control character, a bidirectional one included, or invalid UTF-8.
	ErrText = errors.New("control character or invalid UTF-8")
	// ErrTooLong: a line, name or list of ranges that consumers cut or reject.
	ErrTooLong = errors.New("too long")
	// ErrUnterminated: the last line has no newline.
	ErrUnterminated = errors.New("last line without newline")
	// ErrReference: a FILE or INLINE_ORIGIN number that no earlier record gives.
	ErrReference = errors.New("number of no earlier record")
	// ErrRules: text that is not "REG: EXPRESSION" pairs.
	ErrRules = errors.New("malformed rules")
	// ErrOldForm: an INLINE_ORIGIN that can be read as the old form, which has
	// a file number before the name.
	ErrOldForm = errors.New("name begins with a number")
)

// LineError tells the number of the line, from 1, that an error is in.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// section is what errors call the text.
const section = "symbols"

// maxRangesRead is the number of ranges in one INLINE record that Breakpad's
// reader keeps.
const maxRangesRead = 254

// What the next line may belong to.
const (
	underNothing = iota
	underFunc
	underInit
)

// Reader reads a symbol file strictly: it accepts what the format document
// allows and every known consumer reads in full, nothing more. MODULE comes
// first and once; line and INLINE records directly follow their FUNC, STACK
// CFI records their INIT, inside its range and at rising addresses; file and
// origin numbers are those of earlier records. Whether ranges overlap, or a
// line lies in its FUNC, is not looked at.
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

// NewReader returns a Reader of data, which records will alias.
func NewReader(data []byte) *Reader { return &Reader{data: data} }

// Line is the number, from 1, of the line read last.
func (r *Reader) Line() int { return r.line }

// Offset is the position in bytes of the line read last.
func (r *Reader) Offset() int { return r.off }

// Records yields the records in file order, from the start of the file. A
// record is valid until the next one is asked for; its names and rules alias
// the data and stay. A line that is wrong yields a nil record and an error, a
// *wire.Error with the position of the fault, and reading goes on after it.
// Memory does not grow with the size of the data, but for file and origin
// numbers that are not given in rising order from 0.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		*r = Reader{data: r.data, inline: Inline{Ranges: r.inline.Ranges[:0]}}
		for next := 0; next < len(r.data); {
			r.off = next
			r.line++
			end := bytes.IndexByte(r.data[next:], '\n')
			if end < 0 {
				yield(nil, r.errorAt(len(r.data), ErrUnterminated))
				return
			}
			next += end + 1
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
		if r.line == 0 {
			yield(nil, &wire.Error{Section: section, Err: &LineError{1, ErrOrder}})
		}
	}
}

func (r *Reader) errorAt(off int, err error) error {
	return &wire.Error{Section: section, Offset: off, Err: &LineError{r.line, err}}
}

// record parses one line. What it returns means nothing after f failed.
func (r *Reader) record(f *fields) Record {
	if len(f.line) > MaxLine {
		f.fail(MaxLine, ErrTooLong)
		return nil
	}
	if len(f.line) > 0 && hexValue[f.line[0]] <= 15 {
		if r.under != underFunc {
			f.fail(0, ErrOrder)
		}
		return r.parseLine(f)
	}

	keyword := string(f.word())
	if isModule := keyword == "MODULE"; isModule != (r.line == 1) {
		f.fail(0, ErrOrder)
	}

	switch keyword {
	case "INLINE":
		if r.under != underFunc {
			f.fail(0, ErrOrder)
		}
		return r.parseInline(f)
	case "STACK":
		return r.parseStack(f)
	}

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
	f.fail(0, ErrRecord)
	return nil
}

// idSet holds the numbers that records were given. Numbers given in rising
// order from 0, as dumpers do, cost nothing.
type idSet struct {
	dense  uint32 // all below are in the set
	sparse map[uint32]struct{}
}

func (s *idSet) add(n uint32) {
	switch {
	case n == s.dense:
		s.dense++
	case n > s.dense:
		if s.sparse == nil {
			s.sparse = map[uint32]struct{}{}
		}
		s.sparse[n] = struct{}{}
	}
}

func (s *idSet) has(n uint32) bool {
	if n < s.dense {
		return true
	}
	_, ok := s.sparse[n]
	return ok
}
