package check

import (
	"bytes"
	"errors"
	"fmt"

	"symkit/emit"
	"symkit/internal/limits"
)

// ErrTooMany: a symbol file with more records than are kept in memory.
var ErrTooMany = errors.New("too many records to check in memory")

// symFile is a symbol file in flat slices, records in file order. Names alias
// the text.
type symFile struct {
	data    []byte
	own     bool // symkit wrote it
	module  emit.Module
	infos   []symInfo
	files   symNames
	origins symNames
	funcs   []symFunc
	lines   []symLine
	inlines []symInline
	ranges  []emit.Range
	publics []symPublic
	inits   []symInit
	deltas  []symDelta
	wins    []emit.StackWin
	winLine []uint32

	nlines    uint32   // lines of text
	lineStart []uint64 // offset of every indexEvery-th line
}

type symInfo struct {
	key, text string
	line      uint32
}

type symFunc struct {
	addr, end uint64
	name      []byte
	params    uint32
	multiple  bool
	line      uint32 // of the text
	lines     span   // of symFile.lines
	inlines   span   // of symFile.inlines
}

type symLine struct {
	addr             uint64
	size, line, file uint32
	at               uint32 // line of the text
}

func (l *symLine) end() uint64 { return l.addr + uint64(l.size) }

type symInline struct {
	depth, callLine, callFile, origin uint32
	ranges                            span // of symFile.ranges
	at                                uint32
}

type symPublic struct {
	addr     uint64
	name     []byte
	params   uint32
	multiple bool
	at       uint32
}

type symInit struct {
	addr, end uint64
	rules     []byte
	deltas    span // of symFile.deltas
	at        uint32
}

type symDelta struct {
	addr  uint64
	rules []byte
	at    uint32
}

// span is a run of elements of a slice: [from, to).
type span struct{ from, to uint32 }

func (s span) len() int { return int(s.to - s.from) }

// symNames are the FILE or INLINE_ORIGIN records.
type symNames struct {
	list   []symName
	sparse map[uint32]uint32 // number to index, for numbers that are not their index
}

type symName struct {
	num  uint32
	at   uint32
	text []byte
}

func (n *symNames) add(num, at uint32, text []byte) {
	if uint64(num) != uint64(len(n.list)) {
		if n.sparse == nil {
			n.sparse = map[uint32]uint32{}
		}
		if _, ok := n.index(num); !ok {
			n.sparse[num] = uint32(len(n.list))
		}
	}
	n.list = append(n.list, symName{num, at, text})
}

// index is the place in list of the first record with a number.
func (n *symNames) index(num uint32) (uint32, bool) {
	if uint64(num) < uint64(len(n.list)) && n.list[num].num == num {
		if i, ok := n.sparse[num]; ok {
			return min(i, num), true
		}
		return num, true
	}
	i, ok := n.sparse[num]
	return i, ok
}

// text is the name with a number, nil for none.
func (n *symNames) text(num uint32) []byte {
	if i, ok := n.index(num); ok {
		return n.list[i].text
	}
	return nil
}

const indexEvery = 1024

// parse reads a symbol file. Lines that the strict reader rejects go to bad,
// which may be nil. each, if not nil, sees every record that was read.
func parse(data []byte, bad func(line int, off int, err error), each func(line int, off int, rec emit.Record)) (*symFile, error) {
	s := &symFile{data: data}
	r := emit.NewReader(data)
	for rec, err := range r.Records() {
		at := r.Line()
		if int64(at) >= 1<<32 {
			return nil, ErrTooMany
		}
		for uint64(len(s.lineStart))*indexEvery+1 <= uint64(at) {
			s.lineStart = append(s.lineStart, uint64(r.Offset()))
		}
		s.nlines = uint32(at)
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
		if err := s.tooMany(); err != nil {
			return nil, fmt.Errorf("line %d: %w: %w", at, ErrTooMany, err)
		}
	}
	return s, nil
}

// tooMany tells which limit the records exceed. The largest file known
// (Chromium's) has a fifth of them.
func (s *symFile) tooMany() error {
	most := limits.CheckRecords.Int()
	switch {
	case len(s.lines) > limits.CheckLines.Int():
		return limits.CheckLines.Exceeded(0)
	case len(s.ranges) > most, len(s.funcs) > most, len(s.publics) > most, len(s.deltas) > most, len(s.inits) > most,
		len(s.files.list) > most, len(s.origins.list) > most, len(s.infos) > most, len(s.wins) > most:
		return limits.CheckRecords.Exceeded(0)
	}
	return nil
}

// add takes one record.
func (s *symFile) add(rec emit.Record, at uint32) {
	switch r := rec.(type) {
	case *emit.Module:
		s.module = *r
	case *emit.Info:
		s.infos = append(s.infos, symInfo{r.Key, r.Text, at})
	case *emit.File:
		s.files.add(r.Num, at, r.Name)
	case *emit.InlineOrigin:
		s.origins.add(r.Num, at, r.Name)
	case *emit.Func:
		n, i := uint32(len(s.lines)), uint32(len(s.inlines))
		s.funcs = append(s.funcs, symFunc{
			addr: r.Addr, end: r.Addr + uint64(r.Size), name: r.Name, params: r.ParamSize, multiple: r.Multiple,
			line: at, lines: span{n, n}, inlines: span{i, i},
		})
	case *emit.Line:
		s.lines = append(s.lines, symLine{r.Addr, r.Size, r.Line, r.File, at})
		if f := s.lastFunc(); f != nil {
			f.lines.to = uint32(len(s.lines))
		}
	case *emit.Inline:
		from := uint32(len(s.ranges))
		s.ranges = append(s.ranges, r.Ranges...)
		s.inlines = append(s.inlines, symInline{
			depth: r.Depth, callLine: r.CallLine, callFile: r.CallFile, origin: r.Origin,
			ranges: span{from, uint32(len(s.ranges))}, at: at,
		})
		if f := s.lastFunc(); f != nil {
			f.inlines.to = uint32(len(s.inlines))
		}
	case *emit.Public:
		s.publics = append(s.publics, symPublic{r.Addr, r.Name, r.ParamSize, r.Multiple, at})
	case *emit.StackCFIInit:
		n := uint32(len(s.deltas))
		s.inits = append(s.inits, symInit{r.Addr, r.Addr + uint64(r.Size), r.Rules, span{n, n}, at})
	case *emit.StackCFI:
		s.deltas = append(s.deltas, symDelta{r.Addr, r.Rules, at})
		if n := len(s.inits) - 1; n >= 0 {
			s.inits[n].deltas.to = uint32(len(s.deltas))
		}
	case *emit.StackWin:
		s.wins, s.winLine = append(s.wins, *r), append(s.winLine, at)
	}
}

func (s *symFile) lastFunc() *symFunc {
	if len(s.funcs) == 0 {
		return nil
	}
	return &s.funcs[len(s.funcs)-1]
}

// maxShown bounds the text of a record in a finding.
const maxShown = 100

// text is line at of the file, shortened.
func (s *symFile) text(at uint32) string {
	if at == 0 || int(at-1)/indexEvery >= len(s.lineStart) {
		return ""
	}
	rest := s.data[s.lineStart[(at-1)/indexEvery]:]
	for range (at - 1) % indexEvery {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return ""
		}
		rest = rest[i+1:]
	}
	rest = rest[:min(len(rest), maxShown+1)]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return shown(rest[:i])
	}
	return shown(rest[:min(len(rest), maxShown)]) + "…"
}

// shown makes text of unknown bytes fit for a terminal.
func shown(b []byte) string {
	q := fmt.Sprintf("%q", b)
	if plain := q[1 : len(q)-1]; plain == string(b) {
		return plain
	}
	return q
}

// info returns the text of the first INFO record with a key.
func (s *symFile) info(key string) (symInfo, bool) {
	for _, i := range s.infos {
		if i.key == key {
			return i, true
		}
	}
	return symInfo{}, false
}

// finding is one about line at. The collector adds the text of those it keeps.
func (s *symFile) finding(check string, at uint32, addr uint64, format string, args ...any) Finding {
	return Finding{Check: check, Line: int(at), Addr: addr, What: fmt.Sprintf(format, args...)}
}
