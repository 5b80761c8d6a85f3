package load

import (
	"bytes"
	"compress/zlib"
	"context"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"symkit/elfx"
	"symkit/internal/mem"
	"symkit/test/mutant"
)

// infoFile returns a file with a compressed .debug_info.
func infoFile(t *testing.T, info []byte) *elfx.File {
	t.Helper()
	var b bytes.Buffer
	err := binary.Write(&b, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(len(info)), Addralign: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := zlib.NewWriter(&b)
	w.Write(info)
	w.Close()
	f, err := elfx.NewFile("program", mutant.Program(16, mutant.Section{Name: ".debug_info", Flags: elf.SHF_COMPRESSED, Data: b.Bytes()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestInflater: whatever units there are, the segments hold all of .debug_info in order,
// each from the start of a unit to the end of one; with a pool, buffers are used again.
func TestInflater(t *testing.T) {
	defer SetSegments(360<<10, 1<<20)()
	seeds := uint64(9)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var info []byte
		ends := map[int]bool{0: true}
		for len(info) < 2<<20 {
			n := 12 + rnd.IntN(1<<(4+rnd.IntN(17)))
			info = binary.LittleEndian.AppendUint32(info, uint32(n-4))
			for range (n - 4) / 8 {
				info = binary.LittleEndian.AppendUint64(info, rnd.Uint64N(1<<20))
			}
			info = append(info, make([]byte, (n-4)%8)...)
			ends[len(info)] = true
		}

		f := infoFile(t, info)
		out := make(chan *segment, 1)
		x := &inflater{ctx: t.Context(), section: f.Section(".debug_info"), size: len(info), out: out}
		if seed%3 != 0 {
			x.pool = newPool()
		}
		failed := make(chan error, 1)
		go func() { failed <- x.run() }()
		at := 0
		for s := range out {
			end := s.at + len(s.data)
			if s.at != at || !ends[end] || !bytes.Equal(s.data, info[at:end]) {
				t.Fatalf("seed %d: segment [%#x, %#x) after %#x", seed, s.at, end, at)
			}
			at = end
			s.release()
		}
		err := <-failed
		if err != nil || at != len(info) {
			t.Fatalf("seed %d: %v, %d of %d bytes", seed, err, at, len(info))
		}
		if x.pool == nil {
			continue
		}
		// Two buffers of the largest unit are allowed, whatever the limit.
		if len(x.pool.all) != len(x.pool.spare) || x.pool.bytes > max(segmentsBytes, 2*(1<<20+2*segmentSize)) {
			t.Errorf("seed %d: %d buffers in use, %d bytes in all", seed, len(x.pool.all)-len(x.pool.spare), x.pool.bytes)
		}
		x.pool.release()
	}
}

// TestPoolWaits: with enough buffers in use, get waits for one, or for the context.
func TestPoolWaits(t *testing.T) {
	defer SetSegments(1<<10, 3<<10)()
	p := newPool()
	ctx, cancel := context.WithCancel(t.Context())
	first, second := p.get(ctx, 1<<10), p.get(ctx, 2<<10)

	got := make(chan *mem.Buffer)
	go func() { got <- p.get(ctx, 1<<10) }()
	select {
	case <-got:
		t.Fatal("a third buffer, above the limit")
	case <-time.After(10 * time.Millisecond):
	}
	p.put(first)
	if <-got != first {
		t.Error("the buffer that was given back is not used again")
	}

	go func() { got <- p.get(ctx, 4<<10) }()
	cancel()
	if len((<-got).Bytes()) != 4<<10 {
		t.Error("no buffer after the context was done")
	}
	p.put(second)
}
