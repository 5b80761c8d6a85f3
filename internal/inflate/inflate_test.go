package inflate

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"math/rand/v2"
	"testing"

	"symkit/located"
)

// peer is compress/zlib with Zlib's rule for the size: exactly size bytes.
func peer(src []byte, size int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err == nil && len(plain) != size {
		err = errors.New("wrong size")
	}
	return plain, err
}

func deflate(tb testing.TB, plain []byte, level int) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		tb.Fatal(err)
	}
	w.Write(plain)
	w.Close()
	return b.Bytes()
}

// sample is n bytes of what a .debug_info is like: short records that repeat
// with small changes, numbers that nothing predicts, and runs.
func sample(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+300)
	for len(b) < n {
		switch k := rnd.IntN(16); {
		case k == 0:
			b = append(b, bytes.Repeat([]byte{byte(k)}, rnd.IntN(280))...)
		case k < 9 && len(b) > 0:
			from := len(b) - 1 - rnd.IntN(min(len(b), 1<<(4+k)))
			b = append(b, b[from:min(len(b), from+3+rnd.IntN(9))]...)
		default:
			b = append(b, byte(rnd.IntN(90)), byte(rnd.NormFloat64()*20), 0, byte(k))
		}
	}
	return b[:n]
}

func TestGood(t *testing.T) {
	long := sample(70000)
	for _, c := range []struct {
		name string
		w    *bitWriter
		want string
	}{
		{"RFC 1951 §3.2.4 stored", new(bitWriter).block(0, 0).bytes(3, 0, 0xfc, 0xff).bytes([]byte("abc")...).
			block(1, 0).bytes(0, 0, 0xff, 0xff), "abc"},
		{"RFC 1951 §3.2.6 fixed", new(bitWriter).block(1, 1).fixed('a', 200, 256), "a\xc8"},
		{"RFC 1951 §3.2.6 fixed, twice", new(bitWriter).block(0, 1).fixed('a', 256).block(1, 1).fixed('b', 256), "ab"},
		{"RFC 1951 §3.2.3 match from an earlier block", new(bitWriter).block(0, 1).fixed('a', 'b', 256).
			block(1, 1).fixed(258).code(1, 5).fixed(256), "ababab"},
		{"RFC 1951 §3.2.5 length 258 is symbol 285", new(bitWriter).block(1, 1).fixed('x', 285).code(0, 5).fixed(256),
			string(bytes.Repeat([]byte("x"), 259))},
		{"RFC 1951 §3.2.5 length 258 is also 284 and 31", new(bitWriter).block(1, 1).fixed('x', 284).bits(31, 5).code(0, 5).fixed(256),
			string(bytes.Repeat([]byte("x"), 259))},
		{"RFC 1951 §3.2.7 one distance code of one bit", new(bitWriter).dynamic(258, 1).zeros(97).lengths(1).zeros(158).lengths(2, 2, 1).
			code(0, 1).code(3, 2).code(0, 1).code(2, 2), "aaaa"},
		{"RFC 1951 §3.2.7 no distance code", new(bitWriter).dynamic(257, 1).zeros(97).lengths(1).zeros(158).lengths(1, 0).
			code(0, 1).code(1, 1), "a"},
		{"RFC 1951 §3.2.7 end of block only", new(bitWriter).dynamic(257, 1).zeros(256).lengths(1, 0).code(0, 1), ""},
		{"RFC 1951 §3.2.7 repeat across the alphabets", new(bitWriter).dynamic(257, 4).zeros(253).lengths(2, 2, 2, 2, 16).bits(1, 2).
			code(0, 2).code(3, 2), "\xfd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := c.w.zlib([]byte(c.want))
			dst := make([]byte, len(c.want))
			if err := Zlib(dst, src, nil); err != nil || string(dst) != c.want {
				t.Errorf("%q, %v; want %q", dst, err, c.want)
			}
			if plain, err := peer(src, len(c.want)); err != nil || string(plain) != c.want {
				t.Errorf("compress/zlib: %q, %v; want %q", plain, err, c.want)
			}
		})
	}
	// RFC 1950 §2.2: what follows the checksum is not part of the stream.
	if err := Zlib(make([]byte, len(long)), append(deflate(t, long, 6), "pad"...), nil); err != nil {
		t.Error(err)
	}
}

func TestBad(t *testing.T) {
	fixed := func() *bitWriter { return new(bitWriter).block(1, 1) }
	for _, c := range []struct {
		name   string
		src    []byte
		size   int
		err    error
		offset int
	}{
		{"RFC 1950 §2.2 method", []byte{0x79, 0x9c - 3}, 1, ErrHeader, 0},
		{"RFC 1950 §2.2 window", []byte{0x88, 0x1c}, 1, ErrHeader, 0},
		{"RFC 1950 §2.2 FCHECK", []byte{0x78, 0x9d}, 1, ErrHeader, 0},
		{"RFC 1950 §2.2 FDICT", []byte{0x78, 0xbb, 0, 0, 0, 1}, 1, ErrDictionary, 1},
		{"RFC 1950 §2.2 no header", []byte{0x78}, 1, located.ErrTruncated, 1},
		{"RFC 1950 §2.2 ADLER32", fixed().fixed('a', 256).zlib([]byte("b")), 1, ErrChecksum, 5},
		{"RFC 1950 §2.2 ADLER32 missing", fixed().fixed('a', 256).zlib(nil)[:7], 1, located.ErrTruncated, 7},
		{"RFC 1951 §3.2.3 block type", new(bitWriter).block(1, 3).zlib(nil), 1, ErrBlockType, 2},
		{"RFC 1951 §3.2.3 second block type", new(bitWriter).block(0, 1).fixed('a', 256).block(1, 3).zlib(nil), 1, ErrBlockType, 4},
		{"RFC 1951 §3.2.4 NLEN", new(bitWriter).block(1, 0).bytes(1, 0, 0xff, 0xff, 'a').zlib([]byte("a")), 1, ErrStored, 3},
		{"RFC 1951 §3.2.4 too long", new(bitWriter).block(1, 0).bytes(2, 0, 0xfd, 0xff, 'a', 'b').zlib([]byte("ab")), 1, ErrTooLong, 3},
		{"RFC 1951 §3.2.4 truncated", new(bitWriter).block(1, 0).bytes(9, 0, 0xf6, 0xff, 'a').zlib(nil), 9, located.ErrTruncated, 12},
		{"RFC 1951 §3.2.2 end of block missing", fixed().fixed('a').zlib(nil)[:4], 1, located.ErrTruncated, 4},
		{"literal too long", fixed().fixed('a', 'b', 256).zlib([]byte("ab")), 1, ErrTooLong, 3},
		{"match too long", fixed().fixed('a', 257).code(0, 5).fixed(256).zlib([]byte("aaaa")), 3, ErrTooLong, 3},
		{"too short", fixed().fixed('a', 256).zlib([]byte("a")), 2, ErrTooShort, 5},
		{"RFC 1951 §3.2.5 distance", fixed().fixed('a', 257).code(1, 5).fixed(256).zlib(nil), 9, ErrDistance, 4},
		{"RFC 1951 §3.2.6 symbol 286", fixed().fixed('a', 286).code(0, 5).fixed(256).zlib(nil), 9, ErrSymbol, 3},
		{"RFC 1951 §3.2.6 symbol 287", fixed().fixed('a', 287).code(0, 5).fixed(256).zlib(nil), 9, ErrSymbol, 3},
		{"RFC 1951 §3.2.6 distance symbol 30", fixed().fixed('a', 257).code(30, 5).fixed(256).zlib(nil), 9, ErrSymbol, 4},
		{"RFC 1951 §3.2.6 distance symbol 31", fixed().fixed('a', 257).code(31, 5).fixed(256).zlib(nil), 9, ErrSymbol, 4},
		{"RFC 1951 §3.2.7 HLIT 287", new(bitWriter).dynamic(287, 1).zlib(nil), 1, ErrCodeCount, 2},
		{"RFC 1951 §3.2.7 HLIT 288", new(bitWriter).dynamic(288, 1).zlib(nil), 1, ErrCodeCount, 2},
		{"RFC 1951 §3.2.7 HDIST 31", new(bitWriter).dynamic(257, 31).zlib(nil), 1, ErrCodeCount, 2},
		{"RFC 1951 §3.2.7 HDIST 32", new(bitWriter).dynamic(257, 32).zlib(nil), 1, ErrCodeCount, 2},
		{"RFC 1951 §3.2.7 code length code over-subscribed", new(bitWriter).block(1, 2).bits(0, 14).bits(0o1111, 12).zlib(nil), 1, ErrCodeSet, 2},
		{"RFC 1951 §3.2.7 code length code incomplete", new(bitWriter).block(1, 2).bits(0, 14).bits(0o2200, 12).zlib(nil), 1, ErrCodeSet, 2},
		{"RFC 1951 §3.2.7 code length code empty", new(bitWriter).block(1, 2).bits(0, 14).bits(0, 12).zlib(nil), 1, ErrCode, 5},
		{"RFC 1951 §3.2.7 code length code of one symbol, other bit", new(bitWriter).block(1, 2).bits(0, 14).bits(0o1000, 12).bits(1, 1).zlib(nil), 1, ErrCode, 5},
		{"RFC 1951 §3.2.7 repeat first", new(bitWriter).dynamic(257, 1).lengths(16).bits(0, 2).zlib(nil), 1, ErrRepeat, 11},
		{"RFC 1951 §3.2.7 repeat too often", new(bitWriter).dynamic(257, 1).zeros(138).zeros(110).lengths(18).bits(0, 7).zlib(nil), 1, ErrRepeat, 14},
		{"RFC 1951 §3.2.7 literal code over-subscribed", new(bitWriter).dynamic(257, 1).zeros(254).lengths(1, 1, 1, 0).zlib(nil), 1, ErrCodeSet, 2},
		{"RFC 1951 §3.2.7 literal code incomplete", new(bitWriter).dynamic(257, 1).zeros(255).lengths(2, 2, 0).zlib(nil), 1, ErrCodeSet, 2},
		{"RFC 1951 §3.2.7 one literal code of two bits", new(bitWriter).dynamic(257, 1).zeros(256).lengths(2, 0).zlib(nil), 1, ErrCodeSet, 2},
		{"RFC 1951 §3.2.7 no literal code", new(bitWriter).dynamic(257, 1).zeros(257).lengths(0).zlib(nil), 1, ErrCode, 14},
		{"RFC 1951 §3.2.7 end of block only, other bit", new(bitWriter).dynamic(257, 1).zeros(256).lengths(1, 0).code(1, 1).zlib(nil), 1, ErrCode, 15},
		{"RFC 1951 §3.2.7 distance code incomplete", new(bitWriter).dynamic(257, 2).zeros(256).lengths(1, 2, 2).zlib(nil), 1, ErrCodeSet, 2},
		{"RFC 1951 §3.2.7 no distance code, used", new(bitWriter).dynamic(258, 1).zeros(256).lengths(1, 1, 0).code(1, 1).zlib(nil), 9, ErrCode, 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkError(t, Zlib(make([]byte, c.size), c.src, nil), c.err, c.offset)
			if plain, err := peer(c.src, c.size); err == nil {
				t.Errorf("compress/zlib accepts it: %q", plain)
			}
		})
	}
}

func checkError(t *testing.T, err, want error, offset int) {
	t.Helper()
	e, ok := errors.AsType[*located.Error](err)
	if !ok || !errors.Is(err, want) || e.Offset != offset || e.Section != section {
		t.Errorf("%v; want %s+%#x: %v", err, section, offset, want)
	}
}

// The same errors, out of fast's middle: 1000 literals in front, and enough
// behind.
func TestBadInFast(t *testing.T) {
	for _, c := range []struct {
		name  string
		item  func(w *bitWriter)
		err   error
		after int // bits from the item to the place of the error
	}{
		{"RFC 1951 §3.2.5 distance", func(w *bitWriter) { w.fixed(257).code(29, 5).bits(8191, 13) }, ErrDistance, 7},
		{"RFC 1951 §3.2.6 symbol 286", func(w *bitWriter) { w.fixed(286) }, ErrSymbol, 0},
		{"RFC 1951 §3.2.6 symbol 30", func(w *bitWriter) { w.fixed(264).code(30, 5) }, ErrSymbol, 7},
		{"RFC 1951 §3.2.3 block type", func(w *bitWriter) { w.fixed(256).block(0, 3) }, ErrBlockType, 7},
	} {
		for lead := range 9 { // every place in a byte
			w := new(bitWriter).block(0, 1)
			for range 1000 {
				w.fixed('a')
			}
			for range lead {
				w.fixed(200) // nine bits
			}
			at := len(w.data)*8 - int(-w.used&7) + c.after
			c.item(w)
			for range 1000 {
				w.fixed('b')
			}
			t.Run(fmt.Sprint(c.name, lead), func(t *testing.T) {
				checkError(t, Zlib(make([]byte, 5000), w.zlib(nil), nil), c.err, headerSize+at/8)
			})
		}
	}
}

func TestTruncatedEverywhere(t *testing.T) {
	for level := range 10 {
		plain := sample(3000)
		src := deflate(t, plain, level)
		dst := make([]byte, len(plain))
		for n := range src {
			checkError(t, Zlib(dst, src[:n], nil), located.ErrTruncated, n)
		}
		for _, size := range []int{0, 1, len(plain) - 300, len(plain) - 1} {
			if err := Zlib(dst[:size], src, nil); !errors.Is(err, ErrTooLong) {
				t.Errorf("level %d, %d bytes: %v", level, size, err)
			}
		}
		for _, more := range []int{1, 300} {
			checkError(t, Zlib(make([]byte, len(plain)+more), src, nil), ErrTooShort, len(src)-4)
		}
	}
}

// Every distance below a few words, at every length, in fast and at the end.
func TestOverlappingMatches(t *testing.T) {
	for distance := 1; distance <= 40; distance++ {
		var plain []byte
		for length := 3; length <= 300; length += 1 + length/40 {
			plain = append(plain, sample(length)...)
			plain = append(plain, sample(distance)...)
			for range length {
				plain = append(plain, plain[len(plain)-distance])
			}
		}
		dst := make([]byte, len(plain))
		if err := Zlib(dst, deflate(t, plain, 9), nil); err != nil || !bytes.Equal(dst, plain) {
			t.Errorf("distance %d: %v", distance, err)
		}
	}
}

func TestProgress(t *testing.T) {
	plain := sample(3*chunk + 1000)
	for _, level := range []int{0, 6} {
		var calls []int
		src, dst := deflate(t, plain, level), make([]byte, len(plain))
		err := Zlib(dst, src, func(done int) {
			if !bytes.Equal(dst[:done], plain[:done]) {
				t.Errorf("level %d: the first %d bytes are not final", level, done)
			}
			calls = append(calls, done)
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(calls) < 3 || calls[len(calls)-1] != len(plain) {
			t.Errorf("level %d: calls at %d", level, calls)
		}
		last := 0
		for _, done := range calls {
			if done <= last || done-last > chunk+1<<16 {
				t.Errorf("level %d: calls at %d", level, calls)
			}
			last = done
		}
	}
	calls := 0
	if err := Zlib(nil, deflate(t, nil, 6), func(done int) { calls += done + 1 }); err != nil || calls != 1 {
		t.Errorf("empty stream: %d calls, %v", calls, err)
	}
}

// RFC 1950 §8.2, against hash/adler32, with the bytes that make sums largest
// too.
func TestAdler32(t *testing.T) {
	for n := 0; n < 20000; n += 37 {
		for _, p := range [][]byte{sample(n), bytes.Repeat([]byte{255}, n)} {
			cut := n / 3
			if got, want := adler32sum(adler32sum(1, p[:cut]), p[cut:]), adler32.Checksum(p); got != want {
				t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
			}
		}
	}
	if got := adler32sum(1, bytes.Repeat([]byte{255}, 1<<20)); got != adler32.Checksum(bytes.Repeat([]byte{255}, 1<<20)) {
		t.Errorf("1 MiB of 255: %#x", got)
	}
}

func TestAllocs(t *testing.T) {
	plain := sample(100000)
	src, dst := deflate(t, plain, 6), make([]byte, len(plain))
	if n := testing.AllocsPerRun(100, func() { Zlib(dst, src, nil) }); n > 0 {
		t.Errorf("%v allocations per call", n)
	}
}

// withGoLoops calls f with the loops in Go, which other processors have.
func withGoLoops(f func()) {
	chooseLoops() // not during the test
	oldRounds, oldSums := rounds, adlerSums
	rounds, adlerSums = (*decoder).roundsGo, adlerSumsGo
	defer func() { rounds, adlerSums = oldRounds, oldSums }()
	f()
}

// What holds with assembly holds without.
func TestGoLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of one goroutine under the race detector")
	}
	withGoLoops(func() {
		t.Run("Good", TestGood)
		t.Run("Bad", TestBad)
		t.Run("BadInFast", TestBadInFast)
		t.Run("TruncatedEverywhere", TestTruncatedEverywhere)
		t.Run("OverlappingMatches", TestOverlappingMatches)
		t.Run("Progress", TestProgress)
		t.Run("SlidingWindow", TestSlidingWindow)
		t.Run("SlidingSpace", TestSlidingSpace)
		t.Run("Adler32", TestAdler32)
		t.Run("Allocs", TestAllocs)
	})
}
