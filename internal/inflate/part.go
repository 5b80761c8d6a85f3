package inflate

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"symkit/internal/mem"
)

// part is a stretch of blocks that a second goroutine decodes before the output in front of
// the stretch is known.
//
// Matches of these blocks may copy any of the Window bytes in front. So the stretch is
// decoded into two buffers with different bytes in the place of the window: where the two
// differ, the pair of bytes says which byte of the window belongs there. As soon as the
// last Window bytes are equal in both, one buffer is enough.
//
// Where a block begins is a guess, which is right if the decoder of the output in front
// arrives at that bit. Otherwise the stretch is dropped: a part has no errors of its own.
type part struct {
	src    []byte
	from   int           // the byte of src from which on a block is looked for
	wanted atomic.Bool   // the output so far is waited for
	done   chan struct{} // closed when all fields are final

	start, end    int // the first bit of the stretch, and the first one after it
	size          int // of the output
	alike         int // the output from here on is equal in both buffers
	first, second *mem.Buffer
}

// Sizes of parts, in bytes. They are variables for tests.
var (
	partAhead  = 8 << 20  // of src between the decoder and the part that is started
	partSpace  = 24 << 20 // of output, at most
	partSearch = 1 << 20  // of src, in which a part looks for a block
)

// newPart starts a part ahead of a decoder. The caller frees the part.
func newPart(d *decoder) *part {
	p := &part{src: d.src}
	if len(p.src) >= 2*partAhead {
		p.first, p.second = mem.NewBuffer(Window+partSpace), mem.NewBuffer(Window+partSpace)
		fillWindows(p.first.Bytes(), p.second.Bytes())
	}
	p.begin(d)
	return p
}

// free ends the part, wherever that is.
func (p *part) free() {
	p.finish()
	if p.first != nil {
		p.first.Release()
		p.second.Release()
	}
}

// begin starts the part anew, ahead of the decoder, unless src ends too soon.
func (p *part) begin(d *decoder) {
	p.from = d.pos() + partAhead
	if len(p.src)-p.from < partAhead {
		return
	}
	p.start, p.end, p.size, p.alike = 0, 0, 0, 0
	p.wanted.Store(false)
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		_ = mem.Guard(func() error { p.decode(); return nil }) // the decoder of the rest reads the same bytes
	}()
}

// finish ends the goroutine of the part, if there is one, and waits for its last block.
func (p *part) finish() {
	p.wanted.Store(true)
	if p.done != nil {
		<-p.done
		p.done = nil
	}
}

// take is called in front of each block of a decoder. If the block is the first one of the
// part, the decoder continues after the part. A part that has been passed begins anew.
func (p *part) take(d *decoder) {
	if p.done == nil || d.bit() < 8*p.from {
		return
	}

	p.finish()
	if p.start == d.bit() && d.out >= Window && p.size <= d.size-d.before-d.out {
		p.copyTo(d)
		d.seek(p.end)
	}
	p.begin(d)
}

// copyTo appends the output of the part to that of the decoder.
func (p *part) copyTo(d *decoder) {
	var window [Window]byte
	copy(window[:], d.dst[d.out-Window:])

	// After a report, dst has space for a chunk, or none if the consumer wants no more.
	d.report()
	first, second := p.first.Bytes()[Window:], p.second.Bytes()[Window:]
	for at := 0; at < p.size && len(d.dst) > d.out; {
		n := copy(d.dst[d.out:], first[at:min(at+chunk, p.size)])
		if unlike := min(n, p.alike-at); unlike > 0 {
			resolve(d.dst[d.out:][:unlike], second[at:], &window)
		}
		at += n
		d.out += n
		d.report()
	}
}

// decode decodes blocks until the output is wanted, the buffers are full, or a block is the
// last one or damaged.
func (p *part) decode() {
	a, b := decoders.Get().(*decoder), decoders.Get().(*decoder)
	defer a.free()
	defer b.free()

	// The first block that can be decoded.
	start := 8 * p.from
	for ; ; start++ {
		if p.wanted.Load() || start >= 8*(p.from+partSearch) {
			return
		}
		if !maybeBlock(p.src, start) {
			continue
		}
		p.continueAt(a, p.first, start)
		_, err := a.block()
		if err == nil {
			break
		}
	}

	// The same block with the other window, and all that follow.
	p.continueAt(b, p.second, start)
	for alike := false; ; {
		if !alike {
			_, err := b.block()
			if err != nil {
				return
			}
			p.alike = a.out - Window
			alike = p.alike >= Window && bytes.Equal(a.dst[p.alike:a.out], b.dst[p.alike:a.out])
		}
		p.start, p.end, p.size = start, a.bit(), a.out-Window

		if p.wanted.Load() || !maybeMore(a) {
			return
		}
		_, err := a.block()
		if err != nil {
			return
		}
	}
}

// continueAt makes a decoder begin at a bit of src, with output that follows a window.
func (p *part) continueAt(d *decoder, buffer *mem.Buffer, bit int) {
	dst := buffer.Bytes()
	d.reset(dst, len(dst), p.src, nil)
	d.out, d.final = Window, Window
	d.seek(bit)
}

// maybeMore reports whether the next block is not the last one.
func maybeMore(d *decoder) bool {
	d.refill()
	return d.count > 0 && d.bits&1 == 0
}

// maybeBlock reports whether a dynamic block that is not the last one can begin at a bit:
// few bits look like the start of one (RFC 1951 §3.2.7).
func maybeBlock(src []byte, bit int) bool {
	const (
		header   = 0b100 // BFINAL, BTYPE
		preAt    = 3 + 14
		complete = 1 << 7
	)
	at, preByte := bit/8, (bit+preAt)/8
	if preByte+8 > len(src) {
		return false
	}
	bits := binary.LittleEndian.Uint64(src[at:]) >> (bit % 8)
	lits, dists, pres := bits>>3&31+257, bits>>8&31+1, bits>>13&15+4
	if bits&7 != header || lits > maxLitSyms || dists > maxDistSyms {
		return false
	}

	// The code that the lengths are written in is complete.
	sum := 0
	bits = binary.LittleEndian.Uint64(src[preByte:]) >> ((bit + preAt) % 8)
	for range pres {
		if n := bits & 7; n > 0 {
			sum += complete >> n
		}
		bits >>= 3
	}
	return sum == complete
}

// fillWindows fills the windows in front of two buffers. The two bytes of a place differ from
// each other, and no two places have the same pair.
func fillWindows(first, second []byte) {
	for i := range Window {
		a, b := i/255, i%255
		if b >= a {
			b++
		}
		first[i], second[i] = byte(a), byte(b)
	}
}

// resolve replaces the bytes of dst that differ from those of second, as fillWindows wrote
// them, by those of the window.
func resolve(dst, second []byte, window *[Window]byte) {
	for i := 0; i < len(dst); {
		if len(dst)-i >= 8 && binary.LittleEndian.Uint64(dst[i:]) == binary.LittleEndian.Uint64(second[i:]) {
			i += 8
			continue
		}
		if a, b := int(dst[i]), int(second[i]); a != b {
			if b > a {
				b--
			}
			dst[i] = window[(255*a+b)%Window]
		}
		i++
	}
}
