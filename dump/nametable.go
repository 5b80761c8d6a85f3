package dump

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// nameTable gives names numbers, the same namings the same one. Which number it
// is depends on who comes first; what it stands for does not.
type nameTable struct {
	seed    maphash.Seed
	shards  [nameShards]nameShard
	wanted  []atomic.Uint32 // a bit for each number
	size    int             // about so many names
	origins atomic.Pointer[knownOrigins]
	blocks  nameBlocks // of all shards
}

// bytesPerName: a file has at least so many bytes for each name, or the table
// grows.
const bytesPerName = 8192

// nameShards is a power of two: the last bits of a number tell its shard.
const nameShards = 64

type nameShard struct {
	mu sync.Mutex
	// slots are found by hash, the next ones in their places if those are taken;
	// at least half are free. One lookup is mostly one cache line.
	slots []nameSlot
	// blocks hold the names, nameBlock in each but the last: names do not move.
	blocks [][]named
	count  uint32
}

// nameSlot is where a name is found.
type nameSlot struct {
	hash  uint32
	index uint32 // + 1
}

const nameBlock = 64

// nameBlocks is memory for blocks. Many are made at once: the system is asked for all
// their pages, and has none to copy that the collector read before they were written.
type nameBlocks struct {
	mu   sync.Mutex
	free []named
	next int // blocks to make
}

// mostBlocks is how many blocks are made at once at most.
const mostBlocks = 16

// take returns an empty block.
func (b *nameBlocks) take() []named {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) == 0 {
		b.next = min(max(2*b.next, 1), mostBlocks)
		b.free = make([]named, b.next*nameBlock)
		elfx.Populate(b.free)
	}
	block := b.free[:0:nameBlock]
	b.free = b.free[nameBlock:]
	return block
}

// at returns the name with an index.
func (s *nameShard) at(i uint32) *named { return &s.blocks[i/nameBlock][i%nameBlock] }

// add adds a name and returns its index.
func (s *nameShard) add(n named, more *nameBlocks) uint32 {
	if s.count%nameBlock == 0 {
		s.blocks = append(s.blocks, more.take())
	}
	last := &s.blocks[len(s.blocks)-1]
	*last = append(*last, n)
	s.count++
	return s.count - 1
}

// named is a naming and the text it gives.
type named struct {
	naming
	// order decides between namings that are the same name but come from
	// different places: the lowest holds.
	order uint64
	plain bool // its scope is not in text yet
	sound bool // text can be written as it is, see emit.OriginName
}

// newNameTable makes a table for about so many names.
func newNameTable(size int) *nameTable {
	t := &nameTable{seed: maphash.MakeSeed(), size: size}
	slots := 1 << bits.Len(uint(2*size/nameShards))
	for i := range t.shards {
		t.shards[i].slots = newSlots(slots)
	}
	return t
}

// newSlots makes free slots, and writes them: memory that is read first, as slots
// are, costs the system twice, and the other processors an interrupt.
func newSlots(n int) []nameSlot {
	slots := make([]nameSlot, n)
	clear(slots)
	return slots
}

// intern returns the number of a naming's name.
func (t *nameTable) intern(n *naming, order uint64) uint32 {
	hash := maphash.Bytes(t.seed, n.key)
	if n.scoped() {
		hash ^= uint64(n.decl) * 0x9e3779b97f4a7c15
	}
	number := uint32(hash % nameShards)
	s := &t.shards[number]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.intern(n, order, uint32(hash>>32), &t.blocks)*nameShards + number
}

// intern returns the index of a naming's name.
func (s *nameShard) intern(n *naming, order uint64, hash uint32, more *nameBlocks) uint32 {
	slot := s.slot(hash, n)
	if slot.index == 0 {
		i := s.add(named{naming: *n, order: order}, more)
		if *slot = (nameSlot{hash, i + 1}); int(s.count) > len(s.slots)/2 {
			s.grow()
		}
		return i
	}
	i := slot.index - 1
	if e := s.at(i); order < e.order {
		s.replace(e, n, order)
	}
	return i
}

// replace makes n what e stands for: the same name from elsewhere. Its text stays where it is
// made of the same linkage name.
func (s *nameShard) replace(e *named, n *naming, order uint64) {
	text, sound := "", false
	if e.linkage && n.linkage && e.language == n.language {
		text, sound = e.text, e.sound
	}
	if e.naming, e.order, e.sound = *n, order, false; text != "" {
		e.text, e.sound = text, sound
	}
}

// slot returns the slot of a naming's name, or a free one for it.
func (s *nameShard) slot(hash uint32, n *naming) *nameSlot {
	for i := hash; ; i++ {
		slot := &s.slots[i&uint32(len(s.slots)-1)]
		if slot.index == 0 || slot.hash == hash && s.at(slot.index-1).same(n) {
			return slot
		}
	}
}

// grow doubles the slots.
func (s *nameShard) grow() {
	old := s.slots
	s.slots = newSlots(2 * len(old))
	for _, o := range old {
		if o.index == 0 {
			continue
		}
		i := o.hash
		for s.slots[i&uint32(len(s.slots)-1)].index != 0 {
			i++
		}
		s.slots[i&uint32(len(s.slots)-1)] = o
	}
}

// same tells whether a naming is of the same name.
func (e *named) same(n *naming) bool {
	scoped := n.scoped()
	return bytes.Equal(e.key, n.key) && e.scoped() == scoped &&
		(!scoped || e.decl == n.decl && e.unit.Data() == n.unit.Data())
}

// add returns the number of a name whose text is known. Nothing is interned
// meanwhile.
func (t *nameTable) add(text string) uint32 {
	return t.shards[0].add(named{naming: naming{text: text}}, &t.blocks) * nameShards
}

// at returns the name with a number.
func (t *nameTable) at(id uint32) *named { return t.shards[id%nameShards].at(id / nameShards) }

// untold returns the linkage name with a number and the language of its unit, if it has
// no text and is still that of an order. Others may be interned meanwhile.
func (t *nameTable) untold(id uint32, order uint64) (key []byte, language dwarfx.Language) {
	s := &t.shards[id%nameShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at(id / nameShards); e.order == order && e.linkage && e.text == "" {
		return e.key, e.language
	}
	return nil, 0
}

// tell gives that name its text; sound as in named.
func (t *nameTable) tell(id uint32, order uint64, text string, sound bool) {
	s := &t.shards[id%nameShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at(id / nameShards); e.order == order {
		e.text, e.sound = text, sound
	}
}

// wantNone unmarks all names.
func (t *nameTable) wantNone() { t.wanted = make([]atomic.Uint32, t.limit()/32) }

// want marks the name with a number that it had at the last wantNone.
func (t *nameTable) want(id uint32) {
	if word, bit := &t.wanted[id/32], uint32(1)<<(id%32); word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// wantAdded marks the name with a number, however new it is. Nobody else marks any
// meanwhile.
func (t *nameTable) wantAdded(id uint32) {
	if more := int(id/32) + 1 - len(t.wanted); more > 0 {
		t.wanted = append(t.wanted, make([]atomic.Uint32, more)...)
	}
	t.want(id)
}

// isWanted tells whether the name with a number is marked.
func (t *nameTable) isWanted(id uint32) bool {
	return int(id/32) < len(t.wanted) && t.wanted[id/32].Load()&(1<<(id%32)) != 0
}

// wantedCount returns how many names are marked.
func (t *nameTable) wantedCount() (n int) {
	for i := range t.wanted {
		n += bits.OnesCount32(t.wanted[i].Load())
	}
	return n
}

// limit is above all numbers, and a multiple of nameShards.
func (t *nameTable) limit() uint32 {
	most := uint32(0)
	for i := range t.shards {
		most = max(most, t.shards[i].count)
	}
	return most * nameShards
}

// byUnit returns the numbers of the wanted names of some shards, by the unit that their
// scopes are in.
func (t *nameTable) byUnit(from, to int) map[*dwarfx.Unit][]declared {
	groups := map[*dwarfx.Unit][]declared{}
	var last *dwarfx.Unit
	var list []declared // of last
	for number := from; number < to; number++ {
		s := &t.shards[number]
		for i := range s.count {
			id := i*nameShards + uint32(number)
			if !t.isWanted(id) {
				continue
			}
			e := s.at(i)
			if e.unit != last { // names of one unit came one after the other
				if last != nil {
					groups[last] = list
				}
				last, list = e.unit, groups[e.unit]
			}
			list = append(list, declared{e.decl, id})
		}
	}
	if last != nil {
		groups[last] = list
	}
	return groups
}
