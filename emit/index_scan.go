package emit

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
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

// NewIndex indexes data, which may be a mapped file. NewIndex uses every processor and is
// as fast as the data can be read. There is no error: any data has some records, or none.
func NewIndex(data []byte) *Index { return newIndex(data, runtime.GOMAXPROCS(0), math.MaxInt64) }

// NewIndexWithin is NewIndex for an index of at most a number of bytes: it returns nil if the index
// would take more.
func NewIndexWithin(data []byte, most int64) *Index {
	return newIndex(data, runtime.GOMAXPROCS(0), most)
}

// chunkSize is the number of bytes that one worker scans at a time; after each stepSize of them it
// looks whether the index has become too large.
const chunkSize, stepSize = 16 << 20, 1 << 20

func newIndex(data []byte, jobs int, most int64) *Index {
	// Workers take chunks from a queue, so that a slow chunk does not delay the others.
	x := &Index{data: data, met: &met{bad: badLines{all: map[uint64]struct{}{}}}}
	chunks := (len(data) + chunkSize - 1) / chunkSize
	scans := make([]scan, chunks)
	var wait sync.WaitGroup
	var faults sync.Map
	var size atomic.Int64
	next := make(chan int, chunks)
	for i := range chunks {
		next <- i
	}

	close(next)
	for job := range min(jobs, chunks) {
		wait.Go(func() {
			defer rescue(&faults, job)()
			for i := range next {
				end := min(len(data), (i+1)*chunkSize)
				for at := i * chunkSize; at < end && size.Load() <= most; at += stepSize {
					before := scans[i].size()
					scans[i].run(data, at, min(end, at+stepSize))
					size.Add(scans[i].size() - before)
				}
			}
		})
	}

	// A fault in a worker becomes a panic in the goroutine of the caller.
	wait.Wait()
	rethrow(&faults)
	if size.Load() > most {
		return nil
	}
	x.join(scans)
	return x
}

// join joins the tables of the chunks.
func (x *Index) join(scans []scan) {
	// The chunks are joined in file order, so that a stable sort keeps the order of
	// records with one key.
	for kind, t := range map[int]*table{
		inFuncs: &x.funcs, inPublics: &x.publics, inInits: &x.inits,
		inWins: &x.wins, inFiles: &x.files, inOrigins: &x.origins,
	} {
		n := 0
		for i := range scans {
			n += len(scans[i].tables[kind])
		}
		*t = make(table, 0, n)
		for i := range scans {
			*t = append(*t, scans[i].tables[kind]...)
			scans[i].tables[kind] = nil
		}
		t.sort()
	}

	// MODULE, INFO and bad lines are handled on one goroutine, in file order.
	for i := range scans {
		for _, off := range scans[i].heads {
			x.head(off)
		}
		for _, off := range scans[i].bad {
			x.markBad(off)
		}
	}

	x.checkRuns()
	slices.SortFunc(x.signals, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
}

func (t table) sort() {
	// Dumpers write records in the order of addresses, so there is often nothing to sort.
	byKey := func(a, b entry) int { return cmp.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(t, byKey) {
		slices.SortStableFunc(t, byKey)
	}
}

// head reads a MODULE or INFO record.
func (x *Index) head(off uint64) {
	l := loose{rest: x.line(off)}
	switch string(l.word()) {
	case "MODULE":
		// The first MODULE record with an id counts; any other MODULE record is a bad line.
		m := Module{OS: string(l.word()), Arch: string(l.word()), ID: string(l.word()), Name: string(l.text())}
		if x.named || m.ID == "" {
			x.markBad(off)
			return
		}
		x.module, x.named = m, true
	case "INFO":
		switch key := string(l.word()); key {
		case KeyCodeID:
			x.code.id, x.code.file = string(l.word()), string(l.text())
		case KeyPublicSizes:
			x.publicSizes(&l, off)
		case KeySignalFrame:
			r := Range{l.hex(), l.size()}
			if l.bad {
				x.markBad(off)
				return
			}
			x.signals = append(x.signals, r)
		}
	}
}

// scan is the result of scanning one chunk of the data.
type scan struct {
	tables [numTables]table
	heads  []uint64 // offsets of MODULE and INFO records
	bad    []uint64 // offsets of malformed lines, up to maxBad

	modules int // MODULE records
}

// markBad notes a malformed line. A file of bad lines alone has more of them than are counted.
func (s *scan) markBad(off uint64) {
	if len(s.bad) < maxBad {
		s.bad = append(s.bad, off)
	}
}

// size returns the bytes of the index that s becomes.
func (s *scan) size() int64 {
	n := 0
	for i := range s.tables {
		n += len(s.tables[i])
	}
	return entrySize * int64(n+len(s.heads))
}

// run scans the lines that begin in data[from:to]. The first bytes of a line identify its
// record; only records that are looked up by address or number are read further.
//
// Nine of ten lines belong to a function or a STACK CFI INIT and are skipped. Their
// lengths cannot be predicted, so a loop that searches for the end of each line would
// spend its time in mispredicted branches. Therefore run finds newlines 64 bytes at a
// time, and collects the lines that matter without a branch.
func (s *scan) run(data []byte, from, to int) {
	// The first line of the file begins after no newline.
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

	// The last bytes of the chunk are searched one by one.
	for ; at < to-1; at++ {
		if data[at] == '\n' {
			s.candidate(data, at+1)
		}
	}
}

// newlines returns a mask with a bit for each byte of b that is a newline.
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

// matters is 1 for each byte that cannot begin a line record.
var matters = func() (t [256]uint8) {
	for c := range t {
		if hexValue[c] > 15 {
			t[c] = 1
		}
	}
	return t
}()

// candidate reads a line that may matter.
func (s *scan) candidate(data []byte, at int) {
	if at >= len(data) || matters[data[at]] == 0 {
		return
	}

	// Records inside a FUNC or STACK CFI INIT are skipped. addFast reads records in the form
	// that dumpers write.
	line := data[at:]
	switch {
	case bytes.HasPrefix(line, []byte("STACK CFI ")):
		line = line[len("STACK CFI "):]
		if len(line) > 0 && hexValue[line[0]] <= 15 {
			return // a lookup finds the record through its INIT record
		}
		if bytes.HasPrefix(line, []byte("INIT ")) && s.addFast(inInits, line[len("INIT "):], at) {
			return
		}
	case bytes.HasPrefix(line, []byte("INLINE ")):
		return // a lookup finds the record through its FUNC record
	case bytes.HasPrefix(line, []byte("FUNC ")):
		if s.addFast(inFuncs, line[len("FUNC "):], at) {
			return
		}
	case bytes.HasPrefix(line, []byte("PUBLIC ")):
		if s.addFast(inPublics, line[len("PUBLIC "):], at) {
			return
		}
	}

	// Any other line is parsed as a whole.
	line = data[at:]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}

	s.record(line, uint64(at))
}

// addFast adds a record that begins with an address in the form that dumpers write: lower
// case, one space, and a next field that does not begin with 0 (except in PUBLIC). It
// returns false if the line has another form.
func (s *scan) addFast(kind int, fields []byte, at int) bool {
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

// record adds a line that is no line record.
func (s *scan) record(line []byte, off uint64) {
	l := loose{rest: line}

	// A line that begins with a number is a line record, after blanks or in upper-case
	// hex.
	switch w := l.word(); string(w) {
	case "INLINE", "":
	case "FUNC":
		l.multiple()
		key := l.hex()
		if l.size() > 0 {
			s.add(inFuncs, &l, key, off)
			return
		}
		s.addIfBad(&l, off)
	case "PUBLIC":
		l.multiple()
		s.add(inPublics, &l, l.hex(), off)
	case "FILE":
		s.add(inFiles, &l, uint64(l.dec()), off)
	case "INLINE_ORIGIN":
		s.add(inOrigins, &l, uint64(l.dec()), off)
	case "STACK":
		s.stack(&l, off)
	case "INFO":
		switch string(l.word()) {
		case KeyCodeID, KeyPublicSizes, KeySignalFrame:
			s.heads = append(s.heads, off)
		}
	case "MODULE":
		s.modules++
		if s.modules < maxBad {
			s.heads = append(s.heads, off)
		}
	default:
		if _, ok := looseHex(w); !ok {
			s.markBad(off)
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
			s.addIfBad(l, off)
		}
	case "WIN":
		l.hex()
		s.add(inWins, l, l.hex(), off)
	default:
		s.markBad(off)
	}
}

func (s *scan) add(kind int, l *loose, key, off uint64) {
	if l.bad {
		s.markBad(off)
		return
	}
	s.tables[kind] = append(s.tables[kind], entry{key, off})
}

func (s *scan) addIfBad(l *loose, off uint64) {
	if l.bad {
		s.markBad(off)
	}
}

// rescue turns a memory fault of a worker into a panic of its caller. A worker that reads a
// page which is gone from the mapped file panics, which would end the process; rescue stores
// the panic, and rethrow repeats it in the caller's goroutine, which can recover. Call rescue
// before the work, and defer its result: defer rescue(...)().
func rescue(faults *sync.Map, job int) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			faults.Store(job, r)
		}
	}
}

// rethrow panics with one of the values that rescue stored, if there are any.
func rethrow(faults *sync.Map) {
	faults.Range(func(_, r any) bool { panic(r) })
}
