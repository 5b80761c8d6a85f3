package emit

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"runtime/debug"
	"sync"
)

// The tables that a scan fills.
const (
	inFuncs = iota
	inPublics
	inInits
	inWins
	inFiles
	inOrigins
	numTables
)

// scan is what one chunk of the data holds.
type scan struct {
	tables [numTables]table
	heads  []uint64 // MODULE and INFO records that mean something
	bad    []uint64
}

// run scans the lines that begin in data[from:to]. What a line is, its first
// bytes tell; only records that are looked up by address or number are read
// further.
//
// Nine of ten lines belong to a function or a STACK CFI INIT and are passed
// over. As their lengths cannot be predicted, a loop that looks for the end of
// each would spend its time in mispredicted branches: newlines are found 64
// bytes at a time, and the lines that matter kept without a branch.
func (s *scan) run(data []byte, from, to int) {
	if from == 0 && to > 0 {
		s.candidate(data, 0)
	}

	at := max(from-1, 0) // a line begins after each newline in data[at:to-1]
	for ; to-1-at >= 64; at += 64 {
		var found [64]int
		n := 0
		for lines := newlines((*[64]byte)(data[at:])); lines != 0; lines &= lines - 1 {
			begin := at + bits.TrailingZeros64(lines) + 1
			found[n&63] = begin
			n += int(matters[data[begin]])
		}
		for _, begin := range found[:n] {
			s.candidate(data, begin)
		}
	}

	for ; at < to-1; at++ {
		if data[at] == '\n' {
			s.candidate(data, at+1)
		}
	}
}

// newlines has a bit set for each byte of b that is a newline.
func newlines(b *[64]byte) (mask uint64) {
	const (
		ones = 0x0101010101010101
		lows = ones * 0x7f
		// gather moves the highest bits of eight bytes, shifted to their
		// lowest, into the highest byte of the product.
		gather = 0x0102040810204080
	)
	for i := 0; i < 64; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:]) ^ ones*'\n'
		zero := ^((x&lows + lows) | x | lows) // exactly the bytes that became zero
		mask |= (zero >> 7 * gather >> 56) << i
	}
	return mask
}

// matters is 1 for the first bytes of lines that are not line records.
var matters = func() (t [256]uint8) {
	for c := range t {
		if hexValue[c] > 15 {
			t[c] = 1
		}
	}
	return t
}()

// candidate looks at a line that may matter.
func (s *scan) candidate(data []byte, at int) {
	if at >= len(data) || matters[data[at]] == 0 {
		return
	}

	line := data[at:]
	switch {
	case bytes.HasPrefix(line, []byte("STACK CFI ")):
		line = line[len("STACK CFI "):]
		if len(line) > 0 && hexValue[line[0]] <= 15 {
			return // is found from its INIT
		}
		if bytes.HasPrefix(line, []byte("INIT ")) && s.quick(inInits, line[len("INIT "):], at) {
			return
		}
	case bytes.HasPrefix(line, []byte("INLINE ")):
		return // is found from its FUNC
	case bytes.HasPrefix(line, []byte("FUNC ")):
		if s.quick(inFuncs, line[len("FUNC "):], at) {
			return
		}
	case bytes.HasPrefix(line, []byte("PUBLIC ")):
		if s.quick(inPublics, line[len("PUBLIC "):], at) {
			return
		}
	}

	line = data[at:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}

	s.record(line, uint64(at))
}

// quick notes a record that begins with an address as dumpers write it: in
// lower case, one space, and something that is not 0.
func (s *scan) quick(kind int, fields []byte, at int) bool {
	addr, n := uint64(0), 0
	for n < min(len(fields), 16) && hexValue[fields[n]] <= 15 {
		addr = addr<<4 | uint64(hexValue[fields[n]])
		n++
	}
	if n == 0 || n+1 >= len(fields) || fields[n] != ' ' || kind != inPublics && hexValue[fields[n+1]]-1 > 14 {
		return false
	}

	s.tables[kind] = append(s.tables[kind], entry{addr, uint64(at)})
	return true
}

// record notes a line that is not a line record.
func (s *scan) record(line []byte, off uint64) {
	l := loose{rest: line}
	switch w := l.word(); string(w) {
	case "INLINE", "":
	case "FUNC":
		l.multiple()
		key := l.hex()
		if l.size() > 0 {
			s.add(inFuncs, &l, key, off)
			return
		}
		s.spoilt(&l, off)
	case "PUBLIC":
		l.multiple()
		s.add(inPublics, &l, l.hex(), off)
	case "FILE":
		s.add(inFiles, &l, uint64(l.dec()), off)
	case "INLINE_ORIGIN":
		s.add(inOrigins, &l, uint64(l.dec()), off)
	case "STACK":
		s.stack(&l, off)
	case "MODULE", "INFO":
		s.heads = append(s.heads, off)
	default:
		if _, ok := looseHex(w); !ok {
			s.bad = append(s.bad, off)
		}
	}
}

func (s *scan) stack(l *loose, off uint64) {
	switch string(l.word()) {
	case "CFI":
		if w := l.word(); string(w) == "INIT" {
			s.add(inInits, l, l.hex(), off)
		} else if _, ok := looseHex(w); !ok {
			l.fail()
			s.spoilt(l, off)
		}
	case "WIN":
		l.hex()
		s.add(inWins, l, l.hex(), off)
	default:
		s.bad = append(s.bad, off)
	}
}

func (s *scan) add(kind int, l *loose, key, off uint64) {
	if l.bad {
		s.bad = append(s.bad, off)
		return
	}
	s.tables[kind] = append(s.tables[kind], entry{key, off})
}

func (s *scan) spoilt(l *loose, off uint64) {
	if l.bad {
		s.bad = append(s.bad, off)
	}
}

// rescue makes a memory fault of a goroutine that reads a mapped file the
// caller's: a page that is gone panics there, where the caller's own recovery
// is, instead of ending the process. It is called deferred, and its result
// too: rescue(...)().
func rescue(faults *sync.Map, job int) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			faults.Store(job, r)
		}
	}
}

// rethrow panics with one of the panics that rescue kept.
func rethrow(faults *sync.Map) {
	faults.Range(func(_, r any) bool { panic(r) })
}
