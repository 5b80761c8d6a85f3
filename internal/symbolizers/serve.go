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
	"symkit/internal/radix"
)

// Lines are answered in batches. The other side of a pipe waits for answers before it asks again, so a batch ends
// where no more input is there; a file fills batches up to their limit. The lines of a batch are answered in the
// order of their addresses, since what is known of near addresses is near in memory. Answers are written in the order of
// the lines. Four steps work at the same time: a reader reads blocks, a sorter makes batches of them, Serve answers, and a
// writer writes. As long as few lines come at once, one goroutine takes all steps: waking the others takes longer.

// Questions say how lines are answered.
type Questions struct {
	// Addr returns the address that a line asks for, or any number, which decides the order of work. plain: the address
	// is all that the line says.
	Addr func(line []byte) (addr uint64, plain bool)
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
	// Expect is called before some lines, with the addresses of those that are plain, which ascend. The list is the
	// Answerer's until the next call.
	Expect(addrs []uint64)
	// Answer appends the answer to dst. Plain questions about one address have one answer.
	Answer(dst []byte, q Question) []byte
	// Rest is called after these lines: until the next call, the Answerer holds nothing that others may wait for.
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

// fewBytes is how many bytes at once are few lines.
const fewBytes = 1 << 9

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
	s := &sorter{reader: r, q: q, batches: make(chan *batch), free: make(chan *batch, batchCount), stop: stop}
	s.most.Store(1)
	for range batchCount {
		s.free <- &batch{}
	}
	w := &writer{ctx: ctx, out: out, q: q, batches: make(chan *batch), free: s.free, answers: make(chan *answers, answersCount), ended: make(chan struct{})}
	for range answersCount {
		w.answers <- &answers{}
	}
	more, err := s.few(ctx, w)
	if !more {
		return err
	}

	go r.run()
	go s.run()
	go w.run()
	err = s.answer(ctx, w)
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

// few answers lines on this goroutine, as long as few come at once. more: then many came, which are the reader's first
// block.
func (s *sorter) few(ctx context.Context, w *writer) (more bool, err error) {
	b, memory := <-s.free, <-w.answers
	defer func() { s.free <- b; w.answers <- memory }()
	idle := make(chan *worker, runtime.GOMAXPROCS(0))
	block := make([]byte, blockSize)
	for {
		n, ended := s.in.Read(block)
		if n > fewBytes && ended == nil {
			s.blocks <- block[:n]
			return true, nil
		}
		b.reset()
		s.add(b, block[:n])
		if ended == io.EOF && len(s.rest) > 0 {
			b.add(s.rest, s.q.Addr)
		}
		if len(b.order) > 0 {
			b.answers = memory
			b.order, s.spare = radix.Sort(b.order, s.spare)
			err = b.answer(ctx, s.q.Answerer, idle, 0)
			if err == nil {
				err = w.write(b)
			}
		}
		switch {
		case err != nil:
			return false, err
		case ended == io.EOF:
			return false, ctx.Err()
		case ended != nil:
			return false, ended
		}
	}
}

// answer answers batches until their end, or that of the writer.
func (s *sorter) answer(ctx context.Context, w *writer) error {
	idle := make(chan *worker, runtime.GOMAXPROCS(0))
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
	sum     int      // see bring
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
	for line, at := range b.answers.of {
		if line%chunkSize == 0 {
			w.sum += b.answers.bring(line)
		}
		text, isLate := b.answers.text(at)
		if isLate {
			full = true
			w.answer(b.asked(at))
		} else {
			w.buf = append(w.buf, text...)
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
	w.buf = w.late.Answer(w.buf, q)
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
	spare   []radix.Item // memory of radix.Sort
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
		b.order, s.spare = radix.Sort(b.order, s.spare)
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
	bytes   int          // of the blocks
	texts   []string     // lines that are not plain
	order   []radix.Item // by address: Index is the line, Part an index of texts, or plain
	answers *answers     // or nil
}

// plain is the Part of a plain question.
const plain = -1

// answers are those of a batch.
type answers struct {
	of     []int32  // by line, an index of list
	list   []answer // in the order of the addresses
	chunks [][]byte // each has the answers to chunkSize questions of that order
}

// answer is the bytes of a chunk that answer a question.
type answer struct{ from, to int32 }

// late is an answer for which there is no room. The answer is made when those before it have been written.
var late = answer{to: -1}

// text returns the answer with an index of list.
func (a *answers) text(at int32) (text []byte, isLate bool) {
	place := a.list[at]
	if place == late {
		return nil, true
	}
	return a.chunks[at/chunkSize][place.from:place.to], false
}

// bring reads the first byte of the answers to chunkSize lines: the processor waits for the memory of all of them at
// once, and later for none. The sum of the bytes makes the compiler read.
func (a *answers) bring(line int) (sum int) {
	for _, at := range a.of[line:min(line+chunkSize, len(a.of))] {
		text, _ := a.text(at)
		if len(text) > 0 {
			sum += int(text[0])
		}
	}
	return sum
}

// reset forgets the lines.
func (b *batch) reset() {
	clear(b.texts)
	*b = batch{texts: b.texts[:0], order: b.order[:0]}
}

// add adds a line.
func (b *batch) add(line []byte, addr func(line []byte) (uint64, bool)) {
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	n, isPlain := addr(line)
	text := int32(plain)
	if !isPlain {
		text = int32(len(b.texts))
		b.texts = append(b.texts, string(line))
	}
	b.order = append(b.order, radix.Item{Key: n, Index: int32(len(b.order)), Part: text})
}

// asked returns the question with an index of order.
func (b *batch) asked(at int32) Question {
	q := b.order[at]
	if q.Part == plain {
		return Question{Addr: q.Key, Plain: true}
	}
	return Question{Addr: q.Key, Line: b.texts[q.Part]}
}

// worker is an Answerer, with memory for what it expects.
type worker struct {
	Answerer
	addrs []uint64
}

// answer answers the lines, by idle workers or new ones. An answer has the usual number of bytes.
func (b *batch) answer(ctx context.Context, answerer func() Answerer, idle chan *worker, usual int) error {
	out := b.answers
	out.of = slices.Grow(out.of[:0], len(b.order))[:len(b.order)]
	out.list = slices.Grow(out.list[:0], len(b.order))[:len(b.order)]
	count := (len(b.order) + chunkSize - 1) / chunkSize
	out.chunks = slices.Grow(out.chunks[:0], count)[:count] // with the memory of earlier answers
	var size atomic.Int64                                   // of the chunks that have been made
	return par.For(ctx, runtime.GOMAXPROCS(0), count, func(i int) error {
		var w *worker
		select {
		case w = <-idle:
		default:
			w = &worker{Answerer: answerer()}
		}
		from, to := i*chunkSize, min((i+1)*chunkSize, len(b.order))
		dst := slices.Grow(out.chunks[i][:0], (usual+usual/8)*(to-from))
		out.chunks[i] = b.chunk(w, from, to, dst, min(allAnswers-int(size.Load()), mostChunk))
		size.Add(int64(len(out.chunks[i])))
		w.Rest()
		idle <- w
		return nil
	})
}

// chunk appends the answers to the questions [from, to) to dst, until dst has no room for another one.
func (b *batch) chunk(w *worker, from, to int, dst []byte, room int) []byte {
	w.addrs = w.addrs[:0]
	for _, q := range b.order[from:to] {
		if q.Part == plain {
			w.addrs = append(w.addrs, q.Key)
		}
	}
	w.Expect(w.addrs)

	var last answer
	for at := from; at < to; at++ {
		q := b.order[at]
		switch {
		case at > from && q.Part == plain && b.order[at-1].Part == plain && b.order[at-1].Key == q.Key:
			// the last answer
		case len(dst) > room:
			last = late
		default:
			last.from = int32(len(dst))
			dst = w.Answer(dst, b.asked(int32(at)))
			last.to = int32(len(dst))
		}
		b.answers.of[q.Index], b.answers.list[at] = int32(at), last
	}
	return dst
}

// size returns how many bytes the answers have.
func (b *batch) size() (bytes int) {
	for _, chunk := range b.answers.chunks {
		bytes += len(chunk)
	}
	return bytes
}
