package symfile

import (
	"errors"
	"fmt"

	"symkit/emit"
	"symkit/limits"
)

// ErrEmpty is the error for a symbol file without a byte.
var ErrEmpty = errors.New("the symbol file is empty")

// ErrTooMany is the error for a symbol file with more records than are kept in memory.
var ErrTooMany = errors.New("too many records to check in memory")

// Parse reads a symbol file. Lines that the strict reader rejects go to bad, which may be nil.
// each, if not nil, is called with every record that was read. The records are within the limits l.
func Parse(data []byte, l limits.Limits, bad func(line int, off int, err error), each func(line int, off int, rec emit.Record)) (*File, error) {
	s := &File{data: data}
	r := emit.NewReader(data)
	for rec, err := range r.Records() {
		at := r.Line()

		// The index of lines is sparse: see File.Text.
		if int64(at) >= 1<<32 {
			return nil, ErrTooMany
		}
		for uint64(len(s.lineStart))*indexEvery+1 <= uint64(at) {
			s.lineStart = append(s.lineStart, uint64(r.Offset()))
		}

		s.NumLines = uint32(at)
		if err != nil {
			if bad != nil {
				bad(at, r.Offset(), err)
			}
			continue
		}

		s.add(rec, uint32(at))
		if each != nil {
			each(at, r.Offset(), rec)
		}
		if err := s.tooMany(l); err != nil {
			return nil, fmt.Errorf("line %d: %w: %w", at, ErrTooMany, err)
		}
	}
	return s, nil
}

// tooMany returns an error if the records exceed a limit. The largest known file (Chromium's) has a
// fifth of these limits.
func (s *File) tooMany(l limits.Limits) error {
	most := l.Int(limits.CheckRecords)
	switch {
	case len(s.Lines) > l.Int(limits.CheckLines):
		return l.Exceeded(limits.CheckLines, 0)
	case len(s.Ranges) > most, len(s.Funcs) > most, len(s.Publics) > most, len(s.Deltas) > most, len(s.Inits) > most,
		len(s.Files.List) > most, len(s.Origins.List) > most, len(s.Infos) > most, len(s.Wins) > most:
		return l.Exceeded(limits.CheckRecords, 0)
	}
	return nil
}

// add appends one record to its table.
func (s *File) add(rec emit.Record, at uint32) {
	switch r := rec.(type) {
	case *emit.Module:
		s.Module = *r
	case *emit.Info:
		s.Infos = append(s.Infos, Info{r.Key, r.Text, at})
	case *emit.File:
		s.Files.add(r.Num, at, r.Name)
	case *emit.InlineOrigin:
		s.Origins.add(r.Num, at, r.Name)

	case *emit.Func:
		// Lines and INLINE records that follow extend the spans.
		n, i := uint32(len(s.Lines)), uint32(len(s.Inlines))
		s.Funcs = append(s.Funcs, Func{
			Addr: r.Addr, End: r.Addr + uint64(r.Size), Name: r.Name, Params: r.ParamSize, Multiple: r.Multiple,
			Line: at, Lines: Span{n, n}, Inlines: Span{i, i},
		})
	case *emit.Line:
		s.Lines = append(s.Lines, Line{r.Addr, r.Size, r.Line, r.File, at})
		if f := s.lastFunc(); f != nil {
			f.Lines.To = uint32(len(s.Lines))
		}
	case *emit.Inline:
		from := uint32(len(s.Ranges))
		s.Ranges = append(s.Ranges, r.Ranges...)
		s.Inlines = append(s.Inlines, Inline{
			Depth: r.Depth, CallLine: r.CallLine, CallFile: r.CallFile, Origin: r.Origin,
			Ranges: Span{from, uint32(len(s.Ranges))}, At: at,
		})
		if f := s.lastFunc(); f != nil {
			f.Inlines.To = uint32(len(s.Inlines))
		}
	case *emit.Public:
		s.Publics = append(s.Publics, Public{r.Addr, r.Name, r.ParamSize, r.Multiple, at})
	case *emit.StackCFIInit:
		// Deltas that follow extend the span.
		n := uint32(len(s.Deltas))
		s.Inits = append(s.Inits, Init{r.Addr, r.Addr + uint64(r.Size), r.Rules, Span{n, n}, at})
	case *emit.StackCFI:
		s.Deltas = append(s.Deltas, Delta{r.Addr, r.Rules, at})
		if n := len(s.Inits) - 1; n >= 0 {
			s.Inits[n].Deltas.To = uint32(len(s.Deltas))
		}
	case *emit.StackWin:
		s.Wins, s.WinLines = append(s.Wins, *r), append(s.WinLines, at)
	}
}

// lastFunc returns the last FUNC, nil if there is none yet.
func (s *File) lastFunc() *Func {
	if len(s.Funcs) == 0 {
		return nil
	}
	return &s.Funcs[len(s.Funcs)-1]
}

// Names are the FILE or INLINE_ORIGIN records.
type Names struct {
	List   []Name
	sparse map[uint32]uint32 // number to index, for numbers that are not their index
}

// Name is one FILE or INLINE_ORIGIN record.
type Name struct {
	Num  uint32
	At   uint32
	Text []byte
}

// add appends a record. The first record with a number counts.
func (n *Names) add(num, at uint32, text []byte) {
	// Numbers of most files count from 0: they need no map.
	if uint64(num) != uint64(len(n.List)) {
		if n.sparse == nil {
			n.sparse = map[uint32]uint32{}
		}
		if _, ok := n.Index(num); !ok {
			n.sparse[num] = uint32(len(n.List))
		}
	}
	n.List = append(n.List, Name{num, at, text})
}

// Index returns the index in List of the first record with a number.
func (n *Names) Index(num uint32) (uint32, bool) {
	if uint64(num) < uint64(len(n.List)) && n.List[num].Num == num {
		if i, ok := n.sparse[num]; ok {
			return min(i, num), true
		}
		return num, true
	}
	i, ok := n.sparse[num]
	return i, ok
}

// Text returns the name with a number, nil if there is none.
func (n *Names) Text(num uint32) []byte {
	if i, ok := n.Index(num); ok {
		return n.List[i].Text
	}
	return nil
}
