package naming

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"symkit/internal/limitof"
	"symkit/limits"
)

// Table gives each distinct name a number. It is safe for concurrent use. Which
// number a name gets depends on the order in which goroutines add names; the text of a
// name does not.
type Table struct {
	// Linkage, which is set before the first name, makes the text of a name with a linkage name that one.
	Linkage bool

	seed   maphash.Seed
	shards [shardCount]shard

	limit, most uint64 // bytes that all texts may have; limit is half of most if units are named concurrently
	read, texts atomic.Uint64

	turn     *turn // nil if units are named concurrently
	exceeded error // of the limit
}

// shardCount is a power of two. The low bits of a number are its shard.
const shardCount = 64

// shard is a part of the table with a lock of its own.
type shard struct {
	mu sync.Mutex
	// slots is a hash table: a name whose slot is taken is in the next free slot. At
	// least half of the slots are free.
	slots []slot
	// blocks hold the names, blockLen in each block but the last, so that a name does
	// not move.
	blocks [][]entry
	count  uint32
}

// slot is an entry of the hash table.
type slot struct {
	hash  uint32
	index uint32 // of the name, plus 1; 0 if the slot is free
}

// entry is a name.
type entry struct {
	Key
	// order decides between equal keys that come from different DIEs: the text
	// is made of the key with the lowest order.
	order uint64
	text  string // empty until setText is called
	sound bool   // text can be written as it is, see emit.OriginName
}

const (
	blockLen   = 64
	firstSlots = 16
)

// NewTable returns an empty table for a file of size bytes. With inTurn, one goroutine alone names units.
func NewTable(size uint64, l limits.Limits, inTurn bool) *Table {
	t := &Table{seed: maphash.MakeSeed(), most: l.Max(limitof.Names, size), exceeded: l.Exceeded(limitof.Names, size)}
	t.limit = t.most
	if inTurn {
		t.turn = new(turn)
	} else {
		t.limit /= 2
	}
	for i := range t.shards {
		t.shards[i].slots = make([]slot, firstSlots)
	}
	return t
}

// Add returns a number for a text that is not made of a Key.
func (t *Table) Add(text string) uint32 {
	s := &t.shards[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&entry{text: text}) * shardCount
}

// number returns the number of k's name. mine reports whether the caller must make the
// text of k and call setText with it: the name is new, or order is lower than the
// order of the key that the table had, and the text of that key is another one or is not
// set yet.
func (t *Table) number(k *Key, order uint64) (number uint32, mine bool) {
	hash := maphash.Bytes(t.seed, k.ID())
	if k.scoped() {
		hash ^= uint64(k.Decl) * 0x9e3779b97f4a7c15
	}

	shard := uint32(hash % shardCount)
	s := &t.shards[shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	index, mine := s.find(k, order, uint32(hash>>32), t.turn)
	return index*shardCount + shard, mine
}

// find is number within the shard. The caller holds the lock.
func (s *shard) find(k *Key, order uint64, hash uint32, turn *turn) (index uint32, mine bool) {
	mask := uint32(len(s.slots) - 1)
	i := hash & mask
	for s.slots[i].index != 0 {
		if s.slots[i].hash == hash {
			index := s.slots[i].index - 1
			e := s.at(index)
			if e.equal(k) {
				return index, s.replace(e, k, order, turn)
			}
		}
		i = (i + 1) & mask
	}

	index = s.add(&entry{Key: *k, order: order})
	turn.add(s.at(index))
	s.slots[i] = slot{hash, index + 1}
	if int(s.count) > len(s.slots)/2 {
		s.grow()
	}
	return index, true
}

// replace replaces an equal key by k if order is lower. replace reports whether the
// caller must make the text: the old key has another text, or has none yet.
func (s *shard) replace(e *entry, k *Key, order uint64, turn *turn) bool {
	if order >= e.order {
		return false
	}
	turn.replace(e)

	// Equal linkage names of one language have equal texts. The text of a plain name
	// depends on the DIE, whose scope it gets.
	same := len(k.Linkage) > 0 && e.Decl == k.Decl && e.Unit == k.Unit && e.Language == k.Language &&
		string(e.Linkage) == string(k.Linkage) && string(e.Plain) == string(k.Plain)
	if !same {
		e.text = ""
	}

	// If another goroutine is making the text of the old key, setText will drop that
	// text, since its order is no longer the lowest.
	e.Key, e.order = *k, order
	return e.text == ""
}

// add adds a name and returns its index.
func (s *shard) add(e *entry) uint32 {
	if s.count%blockLen == 0 {
		s.blocks = append(s.blocks, make([]entry, 0, blockLen))
	}
	last := &s.blocks[len(s.blocks)-1]
	*last = append(*last, *e)
	s.count++
	return s.count - 1
}

// at returns the name with an index.
func (s *shard) at(i uint32) *entry { return &s.blocks[i/blockLen][i%blockLen] }

// grow doubles the slots.
func (s *shard) grow() {
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	clear(s.slots) // pages that are read before they are written cost the system twice
	mask := uint32(len(s.slots) - 1)
	for _, o := range old {
		if o.index == 0 {
			continue
		}
		i := o.hash & mask
		for s.slots[i].index != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = o
	}
}

// setText sets the text of a number, unless a key of a lower order was added meanwhile.
// sound is set if the text can be written as it is.
func (t *Table) setText(number uint32, order uint64, text string, sound bool) {
	s := &t.shards[number%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at(number / shardCount)
	if e.order == order {
		e.text, e.sound = text, sound
	}
}

// at returns the name with a number. No goroutine adds names meanwhile.
func (t *Table) at(number uint32) *entry { return t.shards[number%shardCount].at(number / shardCount) }

// Key returns the key of a number, Text the text, and IsSound reports whether
// the text can be written as it is (see emit.OriginName). No goroutine adds names
// meanwhile.
func (t *Table) Key(number uint32) *Key     { return &t.at(number).Key }
func (t *Table) Text(number uint32) string  { return t.at(number).text }
func (t *Table) IsSound(number uint32) bool { return t.at(number).sound }

// Limit is above all numbers.
func (t *Table) Limit() uint32 {
	most := uint32(0)
	for i := range t.shards {
		most = max(most, t.shards[i].count)
	}
	return most * shardCount
}
