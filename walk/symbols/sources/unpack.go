package sources

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"symkit/emit"
	"symkit/internal/limitof"
	"symkit/internal/mem"
	"symkit/internal/packing"
	"symkit/limits"
)

// unpacked is the text of a packed symbol file in memory. Text and index are within
// the limit unpacked-symbols: an allowance of the file by its size, and one of all files together.
type unpacked struct {
	text   []byte
	buffer *mem.Buffer
	limits limits.Limits
	size   uint64 // of the packed file
	taken  int64  // bytes of memory
	shared int64  // those of taken that are beyond the file's own allowance
}

// shared is the number of bytes that all unpacked files take beyond their own allowances.
var shared atomic.Int64

// take counts n bytes of memory, or returns the error of the limit.
func (u *unpacked) take(n int64) error {
	more := u.taken + n - u.own() - u.shared
	if more > 0 {
		if shared.Add(more) > u.together() {
			shared.Add(-more)
			return u.limits.Exceeded(limitof.UnpackedSymbols, u.size)
		}
		u.shared += more
	}
	u.taken += n
	return nil
}

// together returns the allowance of all files together, own that of the file beside it.
func (u *unpacked) together() int64 {
	return int64(min(u.limits.Max(limitof.UnpackedSymbols, 0), math.MaxInt64/4))
}

func (u *unpacked) own() int64 {
	return int64(min(u.limits.Max(limitof.UnpackedSymbols, u.size), math.MaxInt64/2)) - u.together()
}

// left returns the number of bytes that may still be taken.
func (u *unpacked) left() int64 {
	return max(u.own()-u.taken, 0) + max(u.together()-shared.Load(), 0)
}

func (u *unpacked) close() {
	u.buffer.Release()
	shared.Add(-u.shared)
	u.text, u.buffer, u.shared = nil, nil, 0
}

// index returns the index of the text.
func (u *unpacked) index() (*emit.Index, error) {
	x := emit.NewIndexWithin(u.text, u.left())
	if x == nil {
		return nil, u.limits.Exceeded(limitof.UnpackedSymbols, u.size)
	}
	return x, u.take(x.HeapSize())
}

// unpack unpacks a symbol file into memory.
func unpack(data []byte, how packing.How, lim limits.Limits) (*unpacked, error) {
	r, done, err := packing.NewReader(bytes.NewReader(data), how)
	if err != nil {
		return nil, err
	}
	defer done()
	u := &unpacked{limits: lim, size: uint64(len(data))}
	size := max(claimed(data, how), smallText) + 1 // a reader may need space to find the end
	u.buffer = mem.NewBuffer(int(min(size, uint64(u.left())+1, math.MaxInt32)))
	err = u.read(r)
	if err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

// smallText is the size of the first buffer for a text of unknown size.
const smallText = 1 << 20

// claimed returns the size of the unpacked text that the packed file claims, or 0.
func claimed(data []byte, how packing.How) uint64 {
	if how == packing.Gzip {
		return uint64(binary.LittleEndian.Uint32(data[max(len(data)-4, 0):]))
	}
	var h zstd.Header
	if h.Decode(data) != nil || !h.HasFCS {
		return 0
	}
	return h.FrameContentSize
}

// read reads the text. A buffer that turns out to be too small is copied into one of twice the size.
func (u *unpacked) read(r io.Reader) error {
	for {
		all := u.buffer.Bytes()
		n, err := r.Read(all[len(u.text):])
		if over := u.take(int64(n)); over != nil {
			return over
		}
		u.text = all[:len(u.text)+n]
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(u.text) < len(all):
			continue
		}

		larger := mem.NewBuffer(2*len(all) + 1)
		copy(larger.Bytes(), all)
		u.text = larger.Bytes()[:len(all)]
		u.buffer.Release()
		u.buffer = larger
	}
}
