package naming

import (
	"hash/maphash"

	"symkit/internal/hashindex"
)

// texts numbers strings. Number 0 is the empty
// string. The strings lie in large blocks, so that the garbage collector finds no pointer in
// hundreds of thousands of names.
type texts struct {
	seed   maphash.Seed
	index  hashindex.Index
	spans  []span // by number
	blocks [][]byte
}

// span is where a string is.
type span struct{ block, pos, size uint32 }

// textBlock is the size of a block in bytes; a longer string has a block of its own.
const textBlock = 64 << 10

func newTexts() texts {
	return texts{seed: maphash.MakeSeed(), spans: make([]span, 1)}
}

// hash returns the hash with which number is called.
func (t *texts) hash(s []byte) uint64 { return maphash.Bytes(t.seed, s) }

// number returns the number of a string.
func (t *texts) number(hash uint64, s []byte) uint32 {
	if len(s) == 0 {
		return 0
	}
	n, ok := t.find(hash, s)
	if !ok {
		n = t.add(s)
		t.index.Add(hash, n)
	}
	return n
}

// find returns the number of a string that is not empty, false if it has none.
func (t *texts) find(hash uint64, s []byte) (n uint32, ok bool) {
	return t.index.Find(hash, func(n uint32) bool { return string(t.bytes(n)) == string(s) })
}

// add adds a string, which find does not find, and returns its number.
func (t *texts) add(s []byte) uint32 {
	if len(s) == 0 {
		return 0
	}

	// The string goes to the end of the last block.
	b := len(t.blocks) - 1
	if b < 0 || cap(t.blocks[b])-len(t.blocks[b]) < len(s) {
		t.blocks = append(t.blocks, make([]byte, 0, max(textBlock, len(s))))
		b++
	}
	t.spans = append(t.spans, span{uint32(b), uint32(len(t.blocks[b])), uint32(len(s))})
	t.blocks[b] = append(t.blocks[b], s...)
	return uint32(len(t.spans) - 1)
}

// bytes returns the string with a number.
func (t *texts) bytes(n uint32) []byte {
	s := t.spans[n]
	if s.size == 0 {
		return nil
	}
	return t.blocks[s.block][s.pos:][:s.size]
}
