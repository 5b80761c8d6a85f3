package symbolizers

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"runtime"
	"slices"
	"strings"

	"symkit/internal/par"
)

// Lines are answered in batches. The other side of a pipe waits for answers before it asks again, so a batch ends
// where no more input is there; a file fills batches up to their limit. The lines of a batch are answered in the
// order of their addresses, since what is known of near addresses is near in memory, and written in their own order.

// Questions say how lines are answered.
type Questions struct {
	// Addr returns the address that a line asks for, or any number: it only decides the order of work.
	Addr func(line string) uint64
	// Answer appends the answer for a line to dst; addr is what Addr returned. It is called from several
	// goroutines.
	Answer func(dst []byte, line string, addr uint64) []byte
	// Split makes what follows maxLine bytes of a line a line of its own, as suits texts. Otherwise it is left out,
	// since the other side counts answers.
	Split bool
}

// maxLine is how many bytes a line may have. A path has at most 4,096.
const maxLine = 1 << 20

// Sizes of batches: bytes that are read at once, blocks of these in a batch, and lines that a goroutine answers before
// it takes others.
const (
	blockSize  = 1 << 16
	mostBlocks = 16
	chunkSize  = 256
)

// Serve reads lines from in until its end or that of ctx, and writes the answer for each line to out, in order. Lines
// come without their ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, q Questions) error {
	r := &reader{in: in, blocks: make(chan []byte, mostBlocks), stop: make(chan struct{})}
	defer close(r.stop)
	go r.run()
	b := batch{q: q}
	for {
		block, more := <-r.blocks
		for n := 1; more && n < mostBlocks; n++ {
			b.add(block)
			block = nil
			select {
			case block, more = <-r.blocks:
				continue
			default:
			}
			break
		}
		b.add(block)
		if !more && r.err == io.EOF {
			b.end()
		}
		err := b.flush(ctx, out)
		if err != nil {
			return err
		}
		if !more {
			if r.err == io.EOF {
				return nil
			}
			return r.err
		}
	}
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

// batch is lines to answer.
type batch struct {
	q       Questions
	text    []byte // complete lines without their ends, then the begin of the next one
	ends    []int  // of lines in text
	over    bool   // the rest of the current line is left out
	order   []question
	chunks  [][]byte // answers
	answers []answer // by line
}

// question is a line of a batch.
type question struct {
	addr uint64
	line int32
}

// answer is the bytes of chunks[chunk] that answer a line.
type answer struct{ chunk, from, to int32 }

// add adds bytes of the input.
func (b *batch) add(block []byte) {
	for len(block) > 0 {
		n := bytes.IndexByte(block, '\n')
		if n < 0 {
			n = len(block)
		}
		start := 0
		if len(b.ends) > 0 {
			start = b.ends[len(b.ends)-1]
		}
		room := maxLine - (len(b.text) - start)
		switch {
		case b.over && n == len(block):
			return
		case b.over:
			b.over = false
			block = block[n+1:]
		case n > room:
			b.text = append(b.text, block[:room]...)
			block = block[room:]
			b.ends = append(b.ends, len(b.text))
			b.over = !b.q.Split
		case n == len(block):
			b.text = append(b.text, block...)
			return
		default:
			b.text = append(b.text, block[:n]...)
			block = block[n+1:]
			b.ends = append(b.ends, len(b.text))
		}
	}
}

// end makes a line of what follows the last one.
func (b *batch) end() {
	if len(b.ends) == 0 && len(b.text) > 0 || len(b.ends) > 0 && b.ends[len(b.ends)-1] < len(b.text) {
		b.ends = append(b.ends, len(b.text))
	}
}

// flush writes the answers for the lines and forgets the lines.
func (b *batch) flush(ctx context.Context, out io.Writer) error {
	if len(b.ends) == 0 {
		return ctx.Err()
	}
	last := b.ends[len(b.ends)-1]
	text := string(b.text[:last])
	b.text = append(b.text[:0], b.text[last:]...)
	ends := b.ends
	line := func(i int32) string {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		return strings.TrimSuffix(text[from:ends[i]], "\r")
	}
	b.order, b.answers = b.order[:0], slices.Grow(b.answers[:0], len(ends))[:len(ends)]
	for i := range ends {
		b.order = append(b.order, question{b.q.Addr(line(int32(i))), int32(i)})
	}
	slices.SortFunc(b.order, func(x, y question) int { return cmp.Compare(x.addr, y.addr) })

	count := (len(ends) + chunkSize - 1) / chunkSize
	for len(b.chunks) < count {
		b.chunks = append(b.chunks, nil)
	}
	err := par.For(ctx, runtime.GOMAXPROCS(0), count, func(i int) error {
		dst := b.chunks[i][:0]
		for _, q := range b.order[i*chunkSize : min((i+1)*chunkSize, len(b.order))] {
			from := len(dst)
			dst = b.q.Answer(dst, line(q.line), q.addr)
			b.answers[q.line] = answer{int32(i), int32(from), int32(len(dst))}
		}
		b.chunks[i] = dst
		return nil
	})
	b.ends = b.ends[:0]
	if err != nil {
		return err
	}
	return b.write(out)
}

// write writes the answers in the order of the lines.
func (b *batch) write(out io.Writer) error {
	buf := make([]byte, 0, 2*blockSize)
	for _, a := range b.answers {
		text := b.chunks[a.chunk][a.from:a.to]
		if len(buf)+len(text) > cap(buf) && len(buf) > 0 {
			_, err := out.Write(buf)
			if err != nil {
				return err
			}
			buf = buf[:0]
		}
		buf = append(buf, text...)
	}
	_, err := out.Write(buf)
	return err
}
