package corefile

import (
	"bytes"
	"slices"

	"symkit/internal/mem"
)

// pageSize is the unit in which memory is kept, whatever the page size of the machine.
const pageSize = 1 << pageBits
const pageBits = 12

// class is the importance of a page of memory for a walk; a lower class is more important.
type class uint8

const (
	needed   class = iota // stacks at the stack pointers, headers and dynamic sections of modules
	likely                // memory that registers and stacks point to, the rest of stacks
	possible              // all other memory
	classes
)

// kept is memory of a process within a budget. Pages of zeros take no memory. When the
// budget is used up, pages of the least important class are dropped, the oldest first.
type kept struct {
	slots   []*mem.Buffer
	pages   map[uint64]slot // by page number; a page that is not here is zeros, or dropped
	free    []uint32        // slots
	used    uint32          // slots in use
	most    uint32          // limit of used
	queues  [classes][]uint64
	next    [classes]int // first entry of the queue that is not looked at yet
	dropped map[uint64]*[dropBlock / 64]uint64
	lost    [classes]uint64 // number of dropped pages
}

// slot is the place of a page, and the page's class.
type slot struct {
	index uint32
	class class
}

// slotBlock is how many slots are allocated at a time, dropBlock how many pages share a bitmap
// of those that were dropped.
const (
	slotBlock = 1024
	dropBlock = 4096
)

// leastMemory is the least budget in bytes.
const leastMemory = 1 << 20

func newKept(budget uint64) *kept {
	budget = min(max(budget, leastMemory), 1<<40)
	return &kept{pages: map[uint64]slot{}, most: uint32(budget >> pageBits), dropped: map[uint64]*[dropBlock / 64]uint64{}}
}

// release frees the memory.
func (k *kept) release() error {
	mem.ReleaseAll(k.slots)
	k.slots, k.pages = nil, nil
	return nil
}

// at returns the bytes of a slot.
func (k *kept) at(index uint32) []byte {
	return k.slots[index/slotBlock].Bytes()[index%slotBlock<<pageBits:][:pageSize:pageSize]
}

var zeros [pageSize]byte

// put keeps data, at most a page, that is loaded at addr and does not cross a page.
func (k *kept) put(addr uint64, data []byte, c class) {
	page := addr >> pageBits
	have, ok := k.pages[page]
	switch {
	case !ok && bytes.Equal(data, zeros[:len(data)]), k.isDropped(page):
		return
	case !ok:
		have, ok = k.take(c)
		if !ok {
			k.drop(page, c)
			return
		}
		clear(k.at(have.index))
		k.pages[page] = have
		k.queues[c] = append(k.queues[c], page)
	}
	copy(k.at(have.index)[addr&(pageSize-1):], data)
}

// take returns a slot for a page of a class. It returns false if the pages in all slots are
// as important.
func (k *kept) take(c class) (s slot, ok bool) {
	s.class = c
	switch n := len(k.free); {
	case n > 0:
		s.index, k.free = k.free[n-1], k.free[:n-1]
		return s, true
	case k.used < k.most:
		if k.used%slotBlock == 0 {
			k.slots = append(k.slots, mem.NewBuffer(slotBlock*pageSize))
		}
		s.index = k.used
		k.used++
		return s, true
	}

	// A page of a worse class is dropped, or an older one of the last class.
	for worst := possible; worst > c || worst == c && c == possible; worst-- {
		for k.next[worst] < len(k.queues[worst]) {
			page := k.queues[worst][k.next[worst]]
			k.advance(worst)
			old, have := k.pages[page]
			if !have || old.class != worst {
				continue
			}
			delete(k.pages, page)
			k.drop(page, worst)
			s.index = old.index
			return s, true
		}

		// All entries of the queue are used up.
		k.queues[worst], k.next[worst] = nil, 0
	}
	return s, false
}

// advance moves on in the queue of a class. The entries that were looked at are removed once they
// are most of the queue.
func (k *kept) advance(c class) {
	k.next[c]++
	if n := k.next[c]; n >= slotBlock && n > len(k.queues[c])/2 {
		k.queues[c] = append(k.queues[c][:0], k.queues[c][n:]...)
		k.next[c] = 0
	}
}

// drop records that the contents of a page are unknown.
func (k *kept) drop(page uint64, c class) {
	block := k.dropped[page/dropBlock]
	if block == nil {
		block = new([dropBlock / 64]uint64)
		k.dropped[page/dropBlock] = block
	}
	block[page%dropBlock/64] |= 1 << (page % 64)
	k.lost[c]++
}

// isDropped reports whether the contents of a page are unknown.
func (k *kept) isDropped(page uint64) bool {
	if k == nil {
		return false // a file
	}
	block := k.dropped[page/dropBlock]
	return block != nil && block[page%dropBlock/64]>>(page%64)&1 != 0
}

// page returns the contents of a page, or nil if they were dropped. The caller has checked
// that the process has the page.
func (k *kept) page(number uint64) []byte {
	s, ok := k.pages[number]
	switch {
	case ok:
		return k.at(s.index)
	case k.isDropped(number):
		return nil
	}
	return zeros[:]
}

// maxCopy bounds the bytes that are copied because they cross pages.
const maxCopy = 16 << 20

// bytes returns the n bytes at addr, or nil if not all of them are kept. Bytes of one page are
// aliased, others copied.
func (k *kept) bytes(addr, n uint64) []byte {
	at := addr & (pageSize - 1)
	if n <= pageSize-at {
		page := k.page(addr >> pageBits)
		if page == nil {
			return nil
		}
		return page[at:][:n:n]
	}
	if n > maxCopy {
		return nil
	}

	out := make([]byte, 0, n)
	for uint64(len(out)) < n {
		page := k.page((addr + uint64(len(out))) >> pageBits)
		if page == nil {
			return nil
		}
		from := (addr + uint64(len(out))) & (pageSize - 1)
		out = append(out, page[from:min(pageSize, from+n-uint64(len(out)))]...)
	}
	return out
}

// from returns a copy of up to n bytes from addr on, up to the first page that was dropped.
func (k *kept) from(addr, n uint64) []byte {
	var out []byte
	for uint64(len(out)) < n {
		at := addr + uint64(len(out))
		page := k.page(at >> pageBits)
		if page == nil {
			break
		}
		part := page[at&(pageSize-1):]
		out = append(out, part[:min(uint64(len(part)), n-uint64(len(out)))]...)
	}
	return out
}

// numbers returns the numbers of the pages up to a class that are not zeros, in order.
func (k *kept) numbers(worst class) (out []uint64) {
	if k == nil {
		return nil // a file that can be read as a whole
	}
	for number, s := range k.pages {
		if s.class <= worst {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return out
}
