package symfile

import (
	"errors"
	"fmt"
	"hash/maphash"

	"symkit/emit"
	"symkit/internal/hashindex"
	"symkit/internal/limitof"
	"symkit/limits"
)

// ErrEmpty is the error for a symbol file without a byte.
var ErrEmpty = errors.New("the symbol file is empty")

// ErrTooMany is the error for a symbol file with more records than are kept in memory.
var ErrTooMany = errors.New("too many records to check in memory")

// Parse reads a symbol file. Lines that the strict reader rejects go to bad, which may be nil.
// each, if not nil, is called with every record that was read, and body with every FUNC and its
// records, which are valid until body returns. Records under a FUNC that was rejected belong to the
// FUNC before, or to none. The calls of body are in order. If the file is large, they are on
// another goroutine, and come after calls of bad and each for later lines. The records are within the limits l.
func Parse(text Text, l limits.Limits, bad func(line int, off int, err error), each func(line int, off int, rec emit.Record), body func(*Func, *Body)) (*File, error) {
	s := &File{text: text, Files: newNames(), Origins: newNames(), Rules: Rules{seed: maphash.MakeSeed()}}
	q := newBodies(len(text.Bytes), func(f *Func, b *Body) {
		s.cover(b)
		if body != nil && (f != nil || len(b.Lines)+len(b.Inlines) > 0) {
			body(f, b)
		}
	})
	err := func() error {
		defer q.close() // a fault of the mapped text, too, must not leave a goroutine
		return s.parse(l, q, bad, each)
	}()
	if err != nil {
		return nil, err
	}
	s.Rules.index = hashindex.Index{}
	return s, nil
}

// parse is Parse without the calls of body, for which q has the records.
func (s *File) parse(l limits.Limits, q *bodies, bad func(line int, off int, err error), each func(line int, off int, rec emit.Record)) error {
	r := emit.NewReader(s.text.Bytes)
	dropped := uint64(0)
	most := mostRecords{l, l.Int(limitof.CheckLines), l.Int(limitof.CheckRecords)}
	for rec, err := range r.Records() {
		at := r.Line()

		// The index of lines is sparse: see File.Text.
		if int64(at) >= 1<<32 {
			return ErrTooMany
		}
		for uint64(len(s.lineStart))*indexEvery+1 <= uint64(at) {
			s.lineStart = append(s.lineStart, uint64(r.Offset()))
			dropped = s.text.parsed(dropped, uint64(r.Offset()))
		}

		s.NumLines = uint32(at)
		if err != nil {
			s.rejected = append(s.rejected, uint32(at))
			if bad != nil {
				bad(at, r.Offset(), err)
			}
			continue
		}

		switch rec.(type) {
		case *emit.Line, *emit.Inline:
			s.addBody(&q.now.all, rec, uint32(at), uint64(r.Offset()))
		case *emit.Func:
			s.add(rec, uint32(at), uint64(r.Offset()))
			q.begin(&s.Funcs[len(s.Funcs)-1])
		default:
			s.add(rec, uint32(at), uint64(r.Offset()))
		}
		if each != nil {
			each(at, r.Offset(), rec)
		}
		if err := s.tooMany(&most); err != nil {
			return fmt.Errorf("line %d: %w: %w", at, ErrTooMany, err)
		}
	}
	return nil
}

// addBody appends a line or INLINE record to those of the last FUNC.
func (s *File) addBody(b *Body, rec emit.Record, at uint32, off uint64) {
	f := b.of
	if f == nil {
		f = &Func{}
	}
	switch r := rec.(type) {
	case *emit.Line:
		b.Lines = append(b.Lines, Line{r.Addr, r.Size, r.Line, r.File, at})
		s.Lines++
		f.Lines++
	case *emit.Inline:
		b.addInline(Inline{Depth: r.Depth, CallLine: r.CallLine, CallFile: r.CallFile, Origin: r.Origin, At: at}, r.Ranges)
		s.Inlines++
		s.Ranges += len(r.Ranges)
		f.Inlines++
	}
	f.last = off
}

// mostRecords is the values of the limits on records.
type mostRecords struct {
	limits       limits.Limits
	lines, other int
}

// tooMany returns an error if the records exceed a limit. The largest known file (Chromium's) has a
// fifth of these limits.
func (s *File) tooMany(most *mostRecords) error {
	switch {
	case s.Lines > most.lines:
		return most.limits.Exceeded(limitof.CheckLines, 0)
	case max(s.Ranges, len(s.Funcs), len(s.Publics), len(s.Deltas), len(s.Inits), len(s.Files.List),
		len(s.Origins.List), len(s.Infos), len(s.Wins)) > most.other:
		return most.limits.Exceeded(limitof.CheckRecords, 0)
	}
	return nil
}

// add appends one record to its table.
func (s *File) add(rec emit.Record, at uint32, off uint64) {
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
		s.Funcs = append(s.Funcs, Func{
			Addr: r.Addr, End: r.Addr + uint64(r.Size), Name: r.Name, Params: r.ParamSize, Multiple: r.Multiple,
			Line: at, first: off, last: off,
		})
	case *emit.Public:
		s.Publics = append(s.Publics, Public{r.Addr, r.Name, r.ParamSize, r.Multiple, at})
	case *emit.StackCFIInit:
		// Deltas that follow extend the span.
		n := uint32(len(s.Deltas))
		s.Inits = append(s.Inits, Init{r.Addr, r.Addr + uint64(r.Size), s.Rules.add(r.Rules), at, Span{n, n}})
	case *emit.StackCFI:
		s.Deltas = append(s.Deltas, Delta{r.Addr, s.Rules.add(r.Rules), at})
		if n := len(s.Inits) - 1; n >= 0 {
			s.Inits[n].Deltas.To = uint32(len(s.Deltas))
		}
	case *emit.StackWin:
		s.Wins, s.WinLines = append(s.Wins, *r), append(s.WinLines, at)
	}
}

// Names are the FILE or INLINE_ORIGIN records.
type Names struct {
	List   []Name
	most   uint32          // the largest number
	sparse hashindex.Index // of the numbers that are not their index
	seed   maphash.Seed
}

// Name is one FILE or INLINE_ORIGIN record.
type Name struct {
	Num  uint32
	At   uint32
	Text []byte
}

func newNames() Names { return Names{seed: maphash.MakeSeed()} }

// add appends a record. The first record with a number counts.
func (n *Names) add(num, at uint32, text []byte) {
	// Numbers of most files count from 0: they need no index. A number above all others is new.
	if uint64(num) != uint64(len(n.List)) {
		ok := false
		if num <= n.most {
			_, ok = n.Index(num)
		}
		if !ok {
			n.sparse.Add(maphash.Comparable(n.seed, num), uint32(len(n.List)))
		}
	}
	n.List, n.most = append(n.List, Name{num, at, text}), max(n.most, num)
}

// Index returns the index in List of the first record with a number.
func (n *Names) Index(num uint32) (uint32, bool) {
	if uint64(num) < uint64(len(n.List)) && n.List[num].Num == num {
		i, ok := n.find(num)
		if ok {
			return min(i, num), true
		}
		return num, true
	}
	return n.find(num)
}

// find returns the index of the first record with a number that is not its index.
func (n *Names) find(num uint32) (uint32, bool) {
	if n.sparse.Len() == 0 { // as in files of dump_syms
		return 0, false
	}
	return n.sparse.Find(maphash.Comparable(n.seed, num), func(i uint32) bool { return n.List[i].Num == num })
}

// Text returns the name with a number, nil if there is none.
func (n *Names) Text(num uint32) []byte {
	if i, ok := n.Index(num); ok {
		return n.List[i].Text
	}
	return nil
}
