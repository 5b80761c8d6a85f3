package symbolizers

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"

	"symkit/internal/par"
)

// Lines are answered in batches. The other side of a pipe waits for answers before it asks again, so a batch ends
// where no more input is there; a file fills batches up to their limit. The lines of a batch are answered in the
// order of their addresses, since what is known of near addresses is near in memory, and written in their own order.
// Three steps work at the same time: a reader reads blocks, a sorter makes batches of them, and Serve answers.

// Questions say how lines are answered.
type Questions struct {
	// Addr returns the address that a line asks for, or any number: it only decides the order of work.
	Addr func(line string) uint64
	// Answerer returns a function for one goroutine, which appends the answer for a line to dst; addr is what Addr
	// returned.
	Answerer func() func(dst []byte, line string, addr uint64) []byte
	// Split makes what follows maxLine bytes of a line a line of its own, as suits texts. Otherwise it is left out,
	// since the other side counts answers.
	Split bool
}

// maxLine is how many bytes a line may have. A path has at most 4,096.
const maxLine = 1 << 20

// Sizes of batches: bytes that are read at once, blocks of these in a batch, lines that a goroutine answers before it
// takes others, and bits of a line's number in batch.order, which are enough for empty lines.
const (
	blockSize  = 1 << 16
	mostBlocks = 31
	chunkSize  = 256
	lineBits   = 22
)

// Serve reads lines from in until its end or that of ctx, and writes the answer for each line to out, in order. Lines
// come without their ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, q Questions) error {
	stop := make(chan struct{})
	defer close(stop)
	r := &reader{in: in, blocks: make(chan []byte, mostBlocks), stop: stop}
	go r.run()
	s := &sorter{reader: r, q: q, batches: make(chan *batch), free: make(chan *batch, 2), stop: stop}
	s.free <- &batch{}
	s.free <- &batch{}
	go s.run()
	for b := range s.batches {
		err := b.answer(ctx, q.Answerer)
		if err != nil {
			return err
		}
		err = b.write(out)
		if err != nil {
			return err
		}
		s.free <- b
	}
	if r.err == io.EOF {
		return ctx.Err()
	}
	return r.err
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
	rest    []byte // the begin of a line whose end was not read yet
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
			if n == mostBlocks {
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
	split   bool     // see Questions.Split
	addrs   []uint64 // by line
	order   []uint64 // lines by address: the low bits of the address, then the line in lineBits
	chunks  [][]byte // answers
	answers []answer // by line
	out     []byte   // answers in the order of the lines
}

// answer is the bytes of chunks[chunk] that answer a line.
type answer struct{ chunk, from, to int32 }

// reset forgets the lines. The batch begins with the begin of a line.
func (b *batch) reset(begin []byte, split bool) {
	b.split = split
	b.bytes = append(b.bytes[:0], begin...)
	b.ends, b.addrs, b.order = b.ends[:0], b.addrs[:0], b.order[:0]
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
func (b *batch) sort(addr func(line string) uint64) (rest []byte) {
	last := b.start(len(b.ends))
	b.text = string(b.bytes[:last])
	for i := range b.ends {
		a := addr(b.line(i))
		b.addrs = append(b.addrs, a)
		b.order = append(b.order, a<<lineBits|uint64(i))
	}
	slices.Sort(b.order)
	return bytes.Clone(b.bytes[last:])
}

// answer answers the lines.
func (b *batch) answer(ctx context.Context, answerer func() func(dst []byte, line string, addr uint64) []byte) error {
	b.answers = slices.Grow(b.answers[:0], len(b.ends))[:len(b.ends)]
	count := (len(b.ends) + chunkSize - 1) / chunkSize
	for len(b.chunks) < count {
		b.chunks = append(b.chunks, nil)
	}
	return par.Each(ctx, runtime.GOMAXPROCS(0), count, func() func(int) error {
		answerLine := answerer()
		return func(i int) error {
			dst := b.chunks[i][:0]
			for _, key := range b.order[i*chunkSize : min((i+1)*chunkSize, len(b.order))] {
				n, from := int(key%(1<<lineBits)), len(dst)
				dst = answerLine(dst, b.line(n), b.addrs[n])
				b.answers[n] = answer{int32(i), int32(from), int32(len(dst))}
			}
			b.chunks[i] = dst
			return nil
		}
	})
}

// write writes the answers in the order of the lines.
func (b *batch) write(out io.Writer) error {
	b.out = b.out[:0]
	for _, a := range b.answers {
		text := b.chunks[a.chunk][a.from:a.to]
		if len(b.out)+len(text) > 2*blockSize && len(b.out) > 0 {
			_, err := out.Write(b.out)
			if err != nil {
				return err
			}
			b.out = b.out[:0]
		}
		b.out = append(b.out, text...)
	}
	_, err := out.Write(b.out)
	return err
}
