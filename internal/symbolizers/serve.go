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
// order of their addresses, since what is known of near addresses is near in memory, and of neighbours often the same.
// Answers are written in the order of the lines. Four steps work at the same time: a reader reads blocks, a sorter makes
// batches of them, Serve answers, and a writer writes.

// Questions say how lines are answered.
type Questions struct {
	// Addr returns the address that a line asks for, or any number, which decides the order of work. plain: the address
	// is all that the line says.
	Addr func(line []byte) (addr uint64, plain bool)
	// Head appends what begins the answer to a plain question: the rest may be that of other addresses.
	Head func(dst []byte, addr uint64) []byte
	// Answerer returns what one goroutine answers with.
	Answerer func() Answerer
	// Split makes what follows maxLine bytes of a line a line of its own, as suits texts. Otherwise it is left out,
	// since the other side counts answers.
	Split bool
}

// Question is a line with what Questions.Addr returned of it. Line is empty if the question is plain.
type Question struct {
	Line  string
	Addr  uint64
	Plain bool
}

// Answerer answers lines, and keeps between them what it needs again.
type Answerer interface {
	// Answer appends the answer to dst, of a plain question what follows the head. Then plain questions about the
	// addresses from this one to before until have the same answer.
	Answer(dst []byte, q Question) (answer []byte, until uint64)
	// Rest is called after some lines: until the next one, the Answerer holds nothing that others may wait for.
	Rest()
}

// maxLine is how many bytes a line may have. A path has at most 4,096.
const maxLine = 1 << 20

// Sizes of batches: bytes that are read at once, blocks of these in a batch, its lines but for those of the last block,
// bytes of answers in a batch if they are as long as those of the batch before, or in any case, lines that a goroutine
// answers before it takes others, and bytes of their answers.
const (
	blockSize   = 1 << 16
	mostBlocks  = 40
	mostLines   = 3 << 15
	mostAnswers = 12 << 20
	allAnswers  = 15 << 20
	chunkSize   = 128
	mostChunk   = 2 << 20
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
	r := &reader{in: in, blocks: make(chan []byte, mostBlocks), done: make(chan []byte, mostBlocks+2), stop: stop}
	go r.run()
	s := &sorter{reader: r, q: q, batches: make(chan *batch), free: make(chan *batch, batchCount), stop: stop}
	s.most.Store(1)
	for range batchCount {
		s.free <- &batch{}
	}
	go s.run()
	w := &writer{ctx: ctx, out: out, q: q, batches: make(chan *batch), free: s.free, answers: make(chan *answers, answersCount), ended: make(chan struct{})}
	for range answersCount {
		w.answers <- &answers{}
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
		case b.answers = <-w.answers:
		case <-w.ended:
			return nil
		}
		err := b.answer(ctx, s.q.Answerer, idle, usual)
		if err != nil {
			return err
		}
		size := b.size()
		usual = size / len(b.order)
		s.most.Store(int32(min(mostAnswers/blockSize*b.bytes/max(size, 1), mostBlocks)))
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
	answers chan *answers // memory
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
		w.answers <- b.answers
		w.free <- b
	}
}

// write writes the answers in the order of the lines.
func (w *writer) write(b *batch) error {
	w.buf = w.buf[:0]
	full := false
	for i := range b.answers.list {
		a := &b.answers.list[i]
		if a.text == plain {
			w.buf = w.q.Head(w.buf, a.addr)
		}
		if a.chunk == late {
			full = true
			w.answer(b.asked(a.addr, a.text))
		} else {
			w.buf = append(w.buf, b.answers.chunks[a.chunk][a.from:a.to]...)
		}
		if len(w.buf) > 2*blockSize {
			_, err := w.out.Write(w.buf)
			err = cmp.Or(err, w.ctx.Err())
			if err != nil {
				return err
			}
			w.buf = w.buf[:0]
		}
	}
	if full {
		b.answers.chunks = nil // the memory of large answers is not kept
	}
	_, err := w.out.Write(w.buf)
	return err
}

// answer answers a question.
func (w *writer) answer(q Question) {
	if w.late == nil {
		w.late = w.q.Answerer()
	}
	w.buf, _ = w.late.Answer(w.buf, q)
	w.late.Rest()
}

// reader reads blocks beside the work on earlier ones.
type reader struct {
	in     io.Reader
	blocks chan []byte
	done   chan []byte // memory of blocks, all that there are
	err    error       // why blocks was closed
	stop   chan struct{}
}

func (r *reader) run() {
	defer close(r.blocks)
	for {
		var buf []byte
		select {
		case buf = <-r.done:
		default:
			buf = make([]byte, blockSize)
		}
		n, err := r.in.Read(buf)
		if n > 0 {
			select {
			case r.blocks <- buf[:n]:
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
	spare   []question   // memory of sortByAddr
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
		b.reset()
		for more {
			s.add(b, block)
			s.done <- block[:blockSize]
			if b.bytes >= blockSize*int(s.most.Load()) || len(b.order) >= mostLines {
				break
			}
			block, ok = s.next()
			if block == nil {
				more = ok
				break
			}
		}
		if !more && s.err == io.EOF && len(s.rest) > 0 {
			b.add(s.rest, s.q.Addr)
		}
		if len(b.order) == 0 {
			s.free <- b // a line that has no end yet
			continue
		}
		b.order, s.spare = sortByAddr(b.order, s.spare)
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

// add adds the lines of a block to b, but for a line without its end.
func (s *sorter) add(b *batch, block []byte) {
	b.bytes += len(block)
	for len(block) > 0 {
		line, rest, ended := bytes.Cut(block, []byte{'\n'})
		room := maxLine - len(s.rest)
		if len(line) > room && s.q.Split {
			rest, ended = block[room:], true
		}
		line, block = line[:min(len(line), room)], rest
		switch {
		case !ended:
			s.rest = append(s.rest, line...)
		case len(s.rest) == 0:
			b.add(line, s.q.Addr)
		default:
			b.add(append(s.rest, line...), s.q.Addr)
			s.rest = s.rest[:0]
		}
	}
}

// batch is lines to answer.
type batch struct {
	bytes   int        // of the blocks
	texts   []string   // lines that are not plain
	order   []question // by address
	answers *answers   // or nil
}

// question is a line, which says no more than an address, or is a text.
type question struct {
	addr uint64
	line int32
	text int32 // an index of batch.texts, or plain
}

// plain is the text of a plain question.
const plain = -1

// answers are those of a batch.
type answers struct {
	list   []answer // by line
	chunks [][]byte
}

// answer is the bytes of chunks[chunk] that answer the question with an address and a text.
type answer struct {
	addr                  uint64
	text, chunk, from, to int32
}

// late is the chunk of an answer for which there is no room. It is made when those before it have been written.
const late = -1

// reset forgets the lines.
func (b *batch) reset() {
	clear(b.texts)
	*b = batch{texts: b.texts[:0], order: b.order[:0]}
}

// add adds a line.
func (b *batch) add(line []byte, addr func(line []byte) (uint64, bool)) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	n, isPlain := addr(line)
	q := question{addr: n, line: int32(len(b.order)), text: plain}
	if !isPlain {
		q.text = int32(len(b.texts))
		b.texts = append(b.texts, string(line))
	}
	b.order = append(b.order, q)
}

// asked returns the question with an address and a text.
func (b *batch) asked(addr uint64, text int32) Question {
	if text == plain {
		return Question{Addr: addr, Plain: true}
	}
	return Question{Addr: addr, Line: b.texts[text]}
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
	out := b.answers
	out.list = slices.Grow(out.list[:0], len(b.order))[:len(b.order)]
	count := (len(b.order) + chunkSize - 1) / chunkSize
	out.chunks = slices.Grow(out.chunks[:0], count)[:count] // with the memory of earlier answers
	var size atomic.Int64                                   // of the chunks that have been made
	return par.For(ctx, runtime.GOMAXPROCS(0), count, func(i int) error {
		var a Answerer
		select {
		case a = <-idle:
		default:
			a = answerer()
		}
		lines := b.order[i*chunkSize : min((i+1)*chunkSize, len(b.order))]
		dst := slices.Grow(out.chunks[i][:0], (usual+usual/8)*len(lines))
		room := min(allAnswers-int(size.Load()), mostChunk)
		last, until := answer{}, uint64(0) // the last answer, and the end of its addresses
		for _, q := range lines {
			switch {
			case q.text == plain && q.addr < until:
				last.addr = q.addr
			case len(dst) > room:
				last, until = answer{addr: q.addr, text: q.text, chunk: late}, 0
			default:
				last = answer{addr: q.addr, text: q.text, chunk: int32(i), from: int32(len(dst))}
				dst, until = a.Answer(dst, b.asked(q.addr, q.text))
				last.to = int32(len(dst))
			}
			if q.text != plain {
				until = 0 // the answer has its head
			}
			out.list[q.line] = last
		}
		out.chunks[i] = dst
		size.Add(int64(len(dst)))
		a.Rest()
		idle <- a
		return nil
	})
}

// size returns how many bytes the answers have.
func (b *batch) size() (bytes int) {
	for _, chunk := range b.answers.chunks {
		bytes += len(chunk)
	}
	return bytes
}
