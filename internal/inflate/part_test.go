package inflate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// smallParts makes parts of a few blocks.
func smallParts(t testing.TB) {
	ahead, space := partAhead, partSpace
	partAhead, partSpace = 10<<10, 300<<10
	t.Cleanup(func() { partAhead, partSpace = ahead, space })
}

// words returns so many bytes of text with few words, of which some are new.
func words(seed uint64, size int) (text []byte) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	for len(text) < size {
		word := rnd.IntN(1000)
		if rnd.IntN(8) == 0 {
			word = rnd.Int()
		}
		text = fmt.Appendf(text, "%d ", word)
	}
	return text[:size]
}

// TestPart: parts are found, taken, and have the output of the stream.
func TestPart(t *testing.T) {
	smallParts(t)
	plain := words(1, 3_000_000)
	src := deflate(t, plain, 6)

	chooseLoops()
	d, got := new(decoder), make([]byte, len(plain))
	d.reset(got, len(got), src, nil)
	p := newPart(d)
	defer p.free()
	taken := 0
	err := d.blocks(func() {
		if p.done != nil {
			<-p.done // so that the parts do not depend on the scheduler
		}
		at := d.bit()
		p.take(d)
		if d.bit() != at {
			taken++
		}
	})
	if err != nil || taken < 5 || !bytes.Equal(got, plain) {
		t.Errorf("%v, %d parts, equal: %v", err, taken, bytes.Equal(got, plain))
	}
}

// TestPartSliding: whatever the buffers and the blocks, the output is that of one goroutine.
func TestPartSliding(t *testing.T) {
	smallParts(t)
	noise := make([]byte, 200_000)
	for i, rnd := 0, rand.New(rand.NewPCG(3, 4)); i < len(noise); i++ {
		noise[i] = byte(rnd.Uint32())
	}
	for name, plain := range map[string][]byte{
		"words": words(2, 800_000), "noise": noise, "far matches": bytes.Repeat(noise[:Window-1], 10),
		"words, noise, zeros": bytes.Join([][]byte{words(3, 300_000), noise, make([]byte, 300_000), words(4, 300_000)}, nil),
	} {
		for _, level := range []int{-2, 0, 1, 6} {
			src := deflate(t, plain, level)
			for i, x := range policies(plain, len(plain)) {
				x.jobs = 2
				err := x.inflate(src)
				if err != nil || x.wrong != nil {
					t.Errorf("%s, level %d, policy %d: %v, %v", name, level, i, err, x.wrong)
				}
			}
		}
	}
}

// TestPartStopped: a consumer that wants no more ends the stream, wherever that is.
func TestPartStopped(t *testing.T) {
	smallParts(t)
	plain := words(5, 2_000_000)
	src := deflate(t, plain, 6)
	dst := make([]byte, len(plain))
	for most := range 12 {
		stopped := false
		err := ZlibSliding(len(plain), src, 2, func(_ []byte, done int) ([]byte, int) {
			if done > most*chunk && done < len(plain) {
				stopped = true
				return nil, 0
			}
			return dst, done
		})
		if (err == nil) == stopped {
			t.Errorf("after %d chunks: %v", most, err)
		}
	}
}

// FuzzPart: of a damaged stream, two goroutines find the output and the error of one.
func FuzzPart(f *testing.F) {
	smallParts(f)
	f.Add(uint64(1), uint8(6), uint32(0), uint8(0))
	f.Add(uint64(2), uint8(1), uint32(30_000), uint8(1))
	f.Add(uint64(3), uint8(9), uint32(50_000), uint8(0x80))
	f.Fuzz(func(t *testing.T, seed uint64, level uint8, at uint32, flip uint8) {
		plain := words(seed, 150_000)
		src := deflate(t, plain, int(level%12)-2)
		src[int(at)%len(src)] ^= flip

		var outputs [2][]byte
		var errs [2]error
		for i := range outputs {
			dst := make([]byte, len(plain))
			errs[i] = ZlibSliding(len(plain), src, 1+i, func(_ []byte, done int) ([]byte, int) {
				outputs[i] = dst[:done]
				return dst, done
			})
		}

		both := min(len(outputs[0]), len(outputs[1])) // reports before an error have other places
		if fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) || !bytes.Equal(outputs[0][:both], outputs[1][:both]) {
			t.Errorf("one goroutine: %d bytes, %v; two: %d bytes, %v", len(outputs[0]), errs[0], len(outputs[1]), errs[1])
		}
		if errs[0] == nil && !bytes.Equal(outputs[1], plain) {
			t.Error("accepted with another output")
		}
	})
}
