package symbolizers

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"symkit/internal/par"
)

// Lines are answered in batches. The other side of a pipe waits for answers before it asks again, so a batch ends
// where no more input is there; a file fills batches up to their limit. The lines of a batch are answered in the
// order of their addresses, since what is known of near addresses is near in memory, and written in their own order.
// Four steps work at the same time: a reader reads blocks, a sorter makes batches of them, Serve answers, and a writer
// writes.

// Questions say how lines are answered.
type Questions struct {
	// Addr returns the address that a line asks for, or any number, which decides the order of work. plain: the address
	// is all that the line says.
	Addr func(line string) (addr uint64, plain bool)
	// Answerer returns what one goroutine answers with.
	Answerer func() Answerer
	// Split makes what follows maxLine bytes of a line a line of its own, as suits texts. Otherwise it is left out,
	// since the other side counts answers.
	Split bool
}

// Question is a line with what Questions.Addr returned of it. Line is empty if it is Plain: lines lie far from each other in
// the order of work.
type Question struct {
	Line  string
	Addr  uint64
	Plain bool
}

// Answerer answers lines, and keeps between them what it needs again.
type Answerer interface {
	// Answer appends the answer to dst.
	Answer(dst []byte, q Question) []byte
	// Rest is called after some lines: until the next one, the Answerer holds nothing that others may wait for.
	Rest()
}

// maxLine is how many bytes a line may have. A path has at most 4,096.
const maxLine = 1 << 20

// Sizes of batches: bytes that are read at once, blocks of these in a batch, bytes of answers in a batch if they are as
// long as those of the batch before, or in any case, and lines that a goroutine answers before it takes others.
const (
	blockSize   = 1 << 16
	mostBlocks  = 20
	mostAnswers = 8 << 20
	allAnswers  = 10 << 20
	chunkSize   = 256
)

// batchCount is the number of batches: one for each step but that of the reader. Two of them have answers.
const (
	batchCount   = 3
	answersCount = 2
)

// Serve reads lines from in until its end or that of ctx, and writes the answer for each line to out, in order. Lines
// come without their ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, q Questions) error {
	stop := make(chan struct{})
	defer close(stop)
	r := &reader{in: in, blocks: make(chan []byte, mostBlocks), stop: stop}
	go r.run()
	s := &sorter{reader: r, q: q, batches: make(chan *batch), free: make(chan *batch, batchCount), stop: stop}
	s.most.Store(1)
	for range batchCount {
		s.free <- &batch{}
	}
	go s.run()
	w := &writer{ctx: ctx, out: out, q: q, batches: make(chan *batch), free: s.free, chunks: make(chan [][]byte, answersCount), ended: make(chan struct{})}
	for range answersCount {
		w.chunks <- nil
	}
	go w.run()

	err := s.answer(ctx, w)
	close(w.batches)
	<-w.ended
	err = cmp.Or(err, w.err)
	switch {
	case err != nil:
		return err
	case r.err == io.EOF:
		return ctx.Err()
	}
	return r.err
}

// answer answers batches until their end, or that of the writer.
func (s *sorter) answer(ctx context.Context, w *writer) error {
	idle := make(chan Answerer, runtime.GOMAXPROCS(0))
	usual := 0 // bytes of an answer
	for b := range s.batches {
		select {
		case b.chunks = <-w.chunks:
		case <-w.ended:
			return nil
		}
		err := b.answer(ctx, s.q.Answerer, idle, usual)
		if err != nil {
			return err
		}
		size := b.size()
		usual = size / len(b.ends)
		s.most.Store(int32(min(mostAnswers/blockSize*len(b.text)/max(size, 1), mostBlocks)))
		select {
		case w.batches <- b:
		case <-w.ended:
			return nil
		}
	}
	return nil
}

// writer writes answers while later ones are made.
type writer struct {
	ctx     context.Context
	out     io.Writer
	q       Questions
	late    Answerer // of the lines that a batch has no room for
	buf     []byte
	batches chan *batch
	free    chan *batch
	chunks  chan [][]byte // memory of answers
	ended   chan struct{} // closed at the end, when err is known
	err     error
}

func (w *writer) run() {
	defer close(w.ended)
	for b := range w.batches {
		w.err = w.write(b)
		if w.err != nil {
			return
		}
		w.chunks <- b.chunks
		w.free <- b
	}
}

// write writes the answers in the order of the lines.
func (w *writer) write(b *batch) error {
	w.buf = w.buf[:0]
	full := false
	for i, a := range b.answers {
		if a.chunk == late {
			full = true
			err := w.answer(b.line(i))
			if err != nil {
				return err
			}
			continue
		}
		text := b.chunks[a.chunk][a.from:a.to]
		if len(w.buf)+len(text) > 2*blockSize && len(w.buf) > 0 {
			_, err := w.out.Write(w.buf)
			if err != nil {
				return err
			}
			w.buf = w.buf[:0]
		}
		w.buf = append(w.buf, text...)
	}
	if full {
		b.chunks = nil // the memory of large answers is not kept
	}
	_, err := w.out.Write(w.buf)
	return err
}

// answer answers a line, and writes what came before the answer.
func (w *writer) answer(line string) error {
	if w.late == nil {
		w.late = w.q.Answerer()
	}
	addr, _ := w.q.Addr(line)
	w.buf = w.late.Answer(w.buf, Question{Addr: addr, Line: line})
	w.late.Rest()
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return cmp.Or(err, w.ctx.Err())
}

// reader reads blocks beside the work on earlier ones.
type reader struct {
	in     io.Reader
	blocks chan []byte
	err    error // why blocks was closed
	stop   chan struct{}
}

func (r *reader) run() {
	defer close(r.blocks)
	buf := make([]byte, blockSize)
	for {
		n, err := r.in.Read(buf)
		if n > 0 {
			select {
			case r.blocks <- bytes.Clone(buf[:n]):
			case <-r.stop:
				return
			}
		}
		if err != nil {
			r.err = err
			return
		}
	}
}

// sorter makes batches of blocks.
type sorter struct {
	*reader
	q       Questions
	rest    []byte       // the begin of a line whose end was not read yet
	most    atomic.Int32 // blocks in the next batch
	batches chan *batch
	free    chan *batch
	stop    chan struct{}
}

func (s *sorter) run() {
	defer close(s.batches)
	for more := true; more; {
		block, ok := <-s.blocks
		more = ok
		var b *batch
		select {
		case b = <-s.free:
		case <-s.stop:
			return
		}
		b.reset(s.rest, s.q.Split)
		for n := 1; more; n++ {
			b.add(block)
			if n >= int(s.most.Load()) {
				break
			}
			block, ok = s.next()
			if block == nil {
				more = ok
				break
			}
		}
		if !more && s.err == io.EOF {
			b.end()
		}
		s.rest = b.sort(s.q.Addr)
		if len(b.ends) == 0 {
			s.free <- b // a line that has no end yet
			continue
		}
		select {
		case s.batches <- b:
		case <-s.stop:
			return
		}
	}
}

// next returns the next block if it was read already, or nil. It returns false after the last block.
func (s *sorter) next() (block []byte, ok bool) {
	select {
	case block, ok = <-s.blocks:
		return block, ok
	default:
		return nil, true
	}
}

// batch is lines to answer.
type batch struct {
	bytes   []byte // complete lines without their ends, then the begin of the next one
	text    string // the lines
	ends    []int32
	split   bool       // see Questions.Split
	order   []question // by address
	spare   []question // memory of sortByAddr
	chunks  [][]byte   // answers
	answers []answer   // by line
}

// question is a line and its address. plain is that of Question.
type question struct {
	addr  uint64
	line  int32
	plain bool
}

// answer is the bytes of chunks[chunk] that answer a line.
type answer struct{ chunk, from, to int32 }

// late is the chunk of an answer for which there is no room. It is made when those before it have been written.
const late = -1

// reset forgets the lines. The batch begins with the begin of a line.
func (b *batch) reset(begin []byte, split bool) {
	b.split = split
	b.bytes = append(b.bytes[:0], begin...)
	b.ends, b.order = b.ends[:0], b.order[:0]
}

// start returns where a line begins.
func (b *batch) start(line int) int32 {
	if line == 0 {
		return 0
	}
	return b.ends[line-1]
}

// add adds bytes of the input.
func (b *batch) add(block []byte) {
	for len(block) > 0 {
		n := bytes.IndexByte(block, '\n')
		end := n
		if n < 0 {
			end = len(block)
		}
		room := maxLine - (len(b.bytes) - int(b.start(len(b.ends))))
		switch {
		case end > room && b.split:
			b.bytes = append(b.bytes, block[:room]...)
			b.endLine()
			block = block[room:]
		case end > room:
			b.bytes = append(b.bytes, block[:room]...)
			block = block[end:]
		case n < 0:
			b.bytes = append(b.bytes, block...)
			return
		default:
			b.bytes = append(b.bytes, block[:n]...)
			b.endLine()
			block = block[n+1:]
		}
	}
}

// endLine makes a line of the bytes after the last one.
func (b *batch) endLine() {
	n := len(b.bytes)
	if n > int(b.start(len(b.ends))) && b.bytes[n-1] == '\r' {
		b.bytes = b.bytes[:n-1]
	}
	b.ends = append(b.ends, int32(len(b.bytes)))
}

// end makes a line of what follows the last one, if anything does.
func (b *batch) end() {
	if len(b.bytes) > int(b.start(len(b.ends))) {
		b.endLine()
	}
}

// line returns a line.
func (b *batch) line(n int) string { return b.text[b.start(n):b.ends[n]] }

// sort sorts the lines by address. It returns the begin of a line that follows the last one.
func (b *batch) sort(addr func(line string) (uint64, bool)) (rest []byte) {
	last := b.start(len(b.ends))
	b.text = string(b.bytes[:last])
	for i := range b.ends {
		n, plain := addr(b.line(i))
		b.order = append(b.order, question{n, int32(i), plain})
	}
	b.order, b.spare = sortByAddr(b.order, b.spare)
	return bytes.Clone(b.bytes[last:])
}

// sortByAddr sorts list by radix, with the memory of spare, and returns both. Digits that all addresses share, as the
// upper ones of a program's, cost no pass.
func sortByAddr(list, spare []question) (sorted, other []question) {
	const digit = 11 // bits
	spare = slices.Grow(spare[:0], len(list))[:len(list)]
	for shift := 0; shift < 64 && len(list) > 1; shift += digit {
		var next [1 << digit]int32 // by digit: how many there are, then where the next one goes
		for i := range list {
			next[list[i].addr>>shift%(1<<digit)]++
		}
		if int(next[list[0].addr>>shift%(1<<digit)]) == len(list) {
			continue
		}
		from := int32(0)
		for i, n := range next {
			next[i] = from
			from += n
		}
		for _, q := range list {
			at := &next[q.addr>>shift%(1<<digit)]
			spare[*at] = q
			*at++
		}
		list, spare = spare, list
	}
	return list, spare
}

// answer answers the lines, by Answerers of idle or new ones. An answer has the usual number of bytes.
func (b *batch) answer(ctx context.Context, answerer func() Answerer, idle chan Answerer, usual int) error {
	b.answers = slices.Grow(b.answers[:0], len(b.ends))[:len(b.ends)]
	count := (len(b.ends) + chunkSize - 1) / chunkSize
	b.chunks = slices.Grow(b.chunks[:0], count)[:count] // with the memory of earlier answers
	var size atomic.Int64                               // of the chunks that have been made
	return par.For(ctx, runtime.GOMAXPROCS(0), count, func(i int) error {
		var a Answerer
		select {
		case a = <-idle:
		default:
			a = answerer()
		}
		lines := b.order[i*chunkSize : min((i+1)*chunkSize, len(b.order))]
		dst := slices.Grow(b.chunks[i][:0], (usual+usual/8)*len(lines))
		room := allAnswers - int(size.Load())
		for _, q := range lines {
			from := len(dst)
			if from > room {
				b.answers[q.line].chunk = late
				continue
			}
			asked := Question{Addr: q.addr, Plain: q.plain}
			if !q.plain {
				asked.Line = b.line(int(q.line))
			}
			dst = a.Answer(dst, asked)
			b.answers[q.line] = answer{int32(i), int32(from), int32(len(dst))}
		}
		b.chunks[i] = dst
		size.Add(int64(len(dst)))
		a.Rest()
		idle <- a
		return nil
	})
}

// size returns how many bytes the answers have.
func (b *batch) size() (bytes int) {
	for _, chunk := range b.chunks {
		bytes += len(chunk)
	}
	return bytes
}
