package inflate

import (
	"bytes"
	"errors"
	"fmt"
	"hash/adler32"
	"math/rand/v2"
	"testing"

	"symkit/located"
)

// slider is a consumer of ZlibSliding that continues in buffers of random sizes, and
// checks the arguments that it gets.
type slider struct {
	rnd   *rand.Rand
	jobs  int
	least bool   // no buffer is larger, and nothing more is kept, than has to be
	plain []byte // what is to come
	size  int
	at    int // of the buffer, in the output
	done  int // of the output
	calls int
	moves int
	made  [][]byte // the buffers, with the memory after them
	left  []keptBuffer
	wrong []string
}

// keptBuffer is a buffer that was left, and what was in it.
type keptBuffer struct{ buf, was []byte }

// behind is how much memory behind each buffer must stay as it is.
const behind = 64

func (x *slider) errorf(format string, args ...any) {
	x.wrong = append(x.wrong, fmt.Sprintf(format, args...))
}

// buffer returns a buffer with space for Space bytes after the kept ones, or for all.
func (x *slider) buffer(kept int) []byte {
	n := kept + min(Space, x.size-x.at-kept)
	if !x.least && x.rnd.IntN(3) > 0 {
		n += x.rnd.IntN(2 * Space)
	}
	all := bytes.Repeat([]byte{0xa5}, n+behind)
	x.made = append(x.made, all)
	return all[:n:n]
}

func (x *slider) slide(buf []byte, done int) ([]byte, int) {
	if x.calls++; x.calls == 1 {
		if buf != nil || done != 0 {
			x.errorf("first called with %d bytes, %d done", len(buf), done)
		}
		return x.buffer(0), 0
	}
	if now := x.at + done; done > len(buf) || now > x.size || now <= x.done && now > 0 || now-x.done > Space {
		x.errorf("%d bytes are final, then %d of %d", x.done, now, x.size)
	}
	from := x.done - x.at
	if x.done = x.at + done; !bytes.Equal(buf[from:done], x.plain[x.at+from:x.done]) {
		x.errorf("wrong bytes in [%d, %d)", x.at+from, x.done)
	}
	enough := len(buf)-done >= Space || x.at+len(buf) == x.size
	if enough && (x.least || x.rnd.IntN(3) > 0) {
		return buf, done
	}
	x.moves++
	kept := min(done, Window)
	if more := done - kept; more > 0 && !x.least && x.rnd.IntN(2) > 0 {
		kept += x.rnd.IntN(min(more, Space) + 1)
	}
	x.at += done - kept
	next := x.buffer(kept)
	copy(next, buf[done-kept:done])
	x.left = append(x.left, keptBuffer{buf, bytes.Clone(buf[:done])})
	return next, kept
}

// inflate inflates src, checks the buffers that were left, and returns the error of the
// stream.
func (x *slider) inflate(src []byte) error {
	err := ZlibSliding(x.size, src, x.jobs, x.slide)
	for _, b := range x.left {
		if !bytes.Equal(b.buf[:len(b.was)], b.was) {
			x.errorf("a buffer of %d bytes was written to when it was left", len(b.buf))
		}
	}
	for _, all := range x.made {
		if n := len(all) - behind; !bytes.Equal(all[n:], bytes.Repeat([]byte{0xa5}, behind)) {
			x.errorf("written behind a buffer of %d bytes", n)
		}
	}
	if err == nil && x.done != x.size {
		x.errorf("%d of %d bytes at the end", x.done, x.size)
	}
	return err
}

// policies are sliders for plain.
func policies(plain []byte, size int) (list []*slider) {
	for seed := range uint64(6) {
		list = append(list, &slider{rnd: rand.New(rand.NewPCG(seed, 7)), least: seed == 0, plain: plain, size: size})
	}
	return list
}

// TestSliding: whatever buffers the output is inflated into, it is the same, and each
// byte is final when it is reported as final.
func TestSliding(t *testing.T) {
	noise := make([]byte, 700_000)
	for i, rnd := 0, rand.New(rand.NewPCG(3, 4)); i < len(noise); i++ {
		noise[i] = byte(rnd.Uint32())
	}
	for name, plain := range map[string][]byte{
		"nothing": nil, "a byte": {7}, "a window": sample(Window), "a chunk": sample(chunk), "Space": sample(Space), "Space and a byte": sample(Space + 1),
		"records": sample(3_000_000), "noise": noise, "zeros": make([]byte, 2_000_000),
		"far matches": bytes.Repeat(noise[:Window-1], 40), "farthest matches": bytes.Repeat(noise[:Window], 40),
	} {
		for _, level := range []int{-2, 0, 1, 6} {
			src := deflate(t, plain, level)
			for i, x := range policies(plain, len(plain)) {
				err := x.inflate(src)
				if err != nil || x.wrong != nil || len(plain) > 2*Space && x.moves == 0 {
					t.Errorf("%s, level %d, policy %d: %v, %d moves, %v", name, level, i, err, x.moves, x.wrong)
				}
			}
		}
	}
}

// TestSlidingInPlace: the next buffer may be the same memory.
func TestSlidingInPlace(t *testing.T) {
	plain := sample(2_000_000)
	buf, got := make([]byte, Window+Space), 0
	err := ZlibSliding(len(plain), deflate(t, plain, 6), 1, func(old []byte, done int) ([]byte, int) {
		if old == nil {
			return buf, 0
		}
		kept := min(done, Window)
		if at := min(got, Window); !bytes.Equal(old[at:done], plain[got:got+done-at]) {
			t.Fatalf("wrong behind %d", got)
		} else {
			got += done - at
		}
		copy(buf, old[done-kept:done])
		return buf, kept
	})
	if err != nil || got != len(plain) {
		t.Errorf("%d bytes, %v", got, err)
	}
}

// TestSlidingWindow, RFC 1951 §3.2.5: the longest matches from the farthest distance,
// before a slide, across it and after it, for which no more is kept than a
// window. They come where the fast loop is, and at the end.
func TestSlidingWindow(t *testing.T) {
	const block, farthest = maxStored, 32768
	for before := range 3 {
		w := new(bitWriter)
		plain := sample(chunk/block*block + block)
		for at := 0; at < len(plain); at += block {
			w.block(0, 0).bytes(0xff, 0xff, 0, 0).bytes(plain[at:][:block]...)
		}
		match := func(length, distance int, symbol uint) {
			w.fixed(symbol).code(29, 5).bits(uint(distance-24577), 13)
			for range length {
				plain = append(plain, plain[len(plain)-distance])
			}
		}
		w.block(1, 1)
		for range before {
			w.fixed('x')
			plain = append(plain, 'x')
		}
		for range 3 * Space / 258 {
			match(258, farthest, 285)
		}
		for range 10 {
			match(3, farthest, 257)
			match(3, farthest-1, 257)
		}
		src := w.fixed(256).zlib(plain)
		if got, err := peer(src, len(plain)); err != nil || !bytes.Equal(got, plain) {
			t.Fatal(err)
		}
		for i, x := range policies(plain, len(plain)) {
			if err := x.inflate(src); err != nil || x.wrong != nil || x.moves < 3 {
				t.Errorf("%d in front, policy %d: %v, %d moves, %v", before, i, err, x.moves, x.wrong)
			}
		}
	}
}

// TestSlidingSpace: the most that comes between two calls is a chunk that ends in the
// longest match, followed by the end of its block, and the longest stored block.
func TestSlidingSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of one goroutine under the race detector")
	}
	for short := range 12 {
		for _, tail := range []string{"", "x", "xy"} {
			var plain []byte
			w := new(bitWriter).block(0, 1)
			run := func(upto int) { // with matches as far as they go
				for ; len(plain) == 0 || upto-len(plain) < 258 && len(plain) < upto; plain = append(plain, 'a') {
					w.fixed('a')
				}
				for ; upto-len(plain) >= 258; plain = append(plain, bytes.Repeat([]byte{'a'}, 258)...) {
					w.fixed(285).code(0, 5)
				}
				for ; len(plain) < upto; plain = append(plain, 'a') {
					w.fixed('a')
				}
			}
			run(chunk - 5 + short)
			for i := range tail {
				w.fixed(uint(tail[i]))
			}
			plain = append(plain, tail...)
			w.fixed(285).code(1, 5)
			for range 258 {
				plain = append(plain, plain[len(plain)-2])
			}
			w.fixed(256).block(0, 1).fixed(256) // and a block of nothing
			stored := sample(maxStored)
			w.block(0, 0).bytes(0xff, 0xff, 0, 0).bytes(stored...)
			plain = append(plain, stored...)
			w.block(0, 0).bytes(0xff, 0xff, 0, 0).bytes(stored...)
			plain = append(plain, stored...)
			w.block(1, 1)
			for range Space {
				w.fixed('z')
				plain = append(plain, 'z')
			}
			src := w.fixed(256).zlib(plain)
			for i, x := range policies(plain, len(plain)) {
				if err := x.inflate(src); err != nil || x.wrong != nil || x.moves == 0 {
					t.Errorf("%d and %q, policy %d: %v, %v", short, tail, i, err, x.wrong)
				}
			}
		}
	}
}

// TestSlidingErrors: a stream that is damaged anywhere, too long or too short has the
// error that it has in one buffer, at the same place.
func TestSlidingErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of one goroutine under the race detector")
	}
	plain := sample(4 * Space)
	for _, level := range []int{0, 6} {
		src := deflate(t, plain, level)
		same := func(what string, src []byte, size int) error {
			dst := make([]byte, size)
			want := Zlib(dst, src, nil)
			for i, x := range policies(dst, size) {
				if err := x.inflate(src); fmt.Sprint(err) != fmt.Sprint(want) || x.wrong != nil {
					t.Errorf("level %d, %s, policy %d: %v, %v; in one buffer: %v", level, what, i, err, x.wrong, want)
				}
			}
			return want
		}
		damaged := 0
		for seed := range uint64(40) {
			rnd := rand.New(rand.NewPCG(seed, uint64(level)))
			bad := bytes.Clone(src)
			for range 1 + rnd.IntN(3) {
				bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			}
			if same(fmt.Sprintf("seed %d", seed), bad, len(plain)) != nil {
				damaged++
			}
			cut := rnd.IntN(len(src))
			if err := same(fmt.Sprintf("cut at %d", cut), src[:cut], len(plain)); !errors.Is(err, located.ErrTruncated) {
				t.Errorf("cut at %d: %v", cut, err)
			}
		}
		if damaged < 20 {
			t.Errorf("only %d streams are damaged", damaged)
		}
		for _, less := range []int{1, 300, Space, 2 * Space, len(plain)} {
			if err := same(fmt.Sprintf("%d bytes too long", less), src, len(plain)-less); !errors.Is(err, ErrTooLong) {
				t.Error(err)
			}
		}
		for _, more := range []int{1, 300, Space, 3 * Space} {
			if err := same(fmt.Sprintf("%d bytes too short", more), src, len(plain)+more); !errors.Is(err, ErrTooShort) {
				t.Error(err)
			}
		}
		for _, at := range []int{0, 1, len(src) - 4, len(src) - 1} { // header and checksum
			bad := bytes.Clone(src)
			bad[at] ^= 0x20
			same(fmt.Sprintf("byte %d", at), bad, len(plain))
		}
	}
}

// FuzzSliding: whatever the bytes and the buffers, there is the same output or the
// same error as in one buffer, with the loops in Go too. The checksum is mended first,
// as in FuzzInflate.
func FuzzSliding(f *testing.F) {
	for _, level := range []int{-2, 0, 1, 9} {
		f.Add(deflate(f, sample(3000), level), uint32(3000), uint64(1))
		f.Add(deflate(f, bytes.Repeat(sample(3000), 400), level), uint32(1_200_000), uint64(level))
		f.Add(deflate(f, make([]byte, 1<<20), level), uint32(1<<20), uint64(level))
	}
	f.Add(deflate(f, bytes.Repeat(sample(Window), 20), 9), uint32(20*Window), uint64(0))
	f.Fuzz(func(t *testing.T, src []byte, size uint32, seed uint64) {
		size %= 2 << 20
		dst := make([]byte, size)
		err := Zlib(dst, src, nil)
		if e, ok := errors.AsType[*located.Error](err); ok && errors.Is(err, ErrChecksum) {
			sum := adler32.Checksum(dst)
			src = append(bytes.Clone(src[:e.Offset]), byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
			err = Zlib(dst, src, nil)
		}
		slide := func() {
			x := &slider{rnd: rand.New(rand.NewPCG(seed, 1)), least: seed%4 == 0, plain: dst, size: int(size)}
			if got := x.inflate(src); fmt.Sprint(got) != fmt.Sprint(err) || x.wrong != nil {
				t.Fatalf("%v, %v; in one buffer: %v", got, x.wrong, err)
			}
		}
		slide()
		withGoLoops(slide)
	})
}
