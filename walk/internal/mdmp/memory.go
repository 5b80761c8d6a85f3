package mdmp

import (
	"cmp"
	"slices"
	"sort"

	"symkit/internal/wire"
)

// Range is memory of the process that is in the dump.
type Range struct {
	Base uint64 // address in the process
	Data []byte
	Off  int // of Data in the file
}

// End returns the first address after the range.
func (r *Range) End() uint64 { return r.Base + uint64(len(r.Data)) }

// Memory is all memory in the dump.
type Memory struct {
	// Ranges are those of the lists of memory, the 64-bit one first, in the
	// order of the dump. They can overlap.
	Ranges []Range
	// sorted is the same memory and the stacks of threads by address, without
	// overlaps.
	sorted []Range
}

const (
	memoryDescriptorSize   = 16
	memoryDescriptor64Size = 16
	memoryInfoSize         = 48
)

// memory checks a MINIDUMP_MEMORY_DESCRIPTOR at offset at. A descriptor of no
// bytes is an empty range, wherever it points.
func (d *Dump) memory(base uint64, l Location, at int) (Range, error) {
	if l.Size == 0 {
		return Range{Base: base}, nil
	}
	c := d.at(l)

	// A range may end with the last address of the address space, but not go past it.
	if base+uint64(l.Size)-1 < base {
		c.Fail(at, ErrRange)
	}
	off := c.Pos()
	return Range{base, c.Bytes(uint64(c.Len())), off}, c.Err()
}

// readMemory decodes MINIDUMP_MEMORY_LIST. A range outside the file is lost
// alone.
func (d *Dump) readMemory(c wire.Cursor) error {
	n := count(&c, memoryDescriptorSize)
	d.Memory.Ranges = slices.Grow(d.Memory.Ranges, n)
	for range n {
		at := c.Pos()
		base := c.U64()
		r, err := d.memory(base, location(&c), at)
		if err != nil {
			d.lose(MemoryListStream, err)
			continue
		}
		d.Memory.Ranges = append(d.Memory.Ranges, r)
	}
	return c.Err()
}

// readMemory64 decodes MINIDUMP_MEMORY64_LIST. The data of the ranges follow one another in
// the file, from one offset on. So the first range that is outside the file ends the list;
// the part of that range that is inside the file is kept.
func (d *Dump) readMemory64(c wire.Cursor) error {
	at := c.Pos()
	n := c.U64()
	base := c.U64()
	if c.Err() != nil {
		return c.Err()
	}
	if n > uint64(c.Len())/memoryDescriptor64Size {
		c.Fail(at, ErrCount)
		return c.Err()
	}

	data := d.rest(base, at+8)
	if data.Err() != nil {
		return data.Err()
	}

	// The data of each range begins where that of the range before it ends.
	d.Memory.Ranges = slices.Grow(d.Memory.Ranges, int(n))
	for range n {
		at := c.Pos()
		start, size := c.U64(), c.U64()

		// An impossible size ends the list, because the places of all later ranges follow
		// from it.
		if size > 0 && start+size-1 < start {
			c.Fail(at, ErrRange)
			return c.Err()
		}

		// Keep the part of the range that a truncated file still has.
		short := size > uint64(data.Len())
		off := data.Pos()
		b := data.Bytes(min(size, uint64(data.Len())))
		d.Memory.Ranges = append(d.Memory.Ranges, Range{start, b, off})
		if short {
			c.Fail(at+8, wire.ErrTruncated)
			return c.Err()
		}
	}
	return c.Err()
}

// indexMemory sorts the memory, stacks included, for Bytes. Where ranges overlap, the range
// that begins first counts. Ranges that touch both in the process and in the file are
// joined.
func (d *Dump) indexMemory() {
	all := make([]Range, 0, len(d.Memory.Ranges)+len(d.Threads))
	all = append(all, d.Memory.Ranges...)
	// A stack need not be in any list of memory.
	for i := range d.Threads {
		all = append(all, d.Threads[i].Stack)
	}

	// Of ranges that begin at the same address, the longest comes first.
	slices.SortStableFunc(all, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(len(b.Data), len(a.Data)))
	})

	// out reuses the array of all: it never gets ahead of the ranges that were read.
	out := all[:0]
	for _, r := range all {
		if len(out) > 0 {
			prev := &out[len(out)-1]
			// Bytes that the previous range has already are cut off.
			r = r.from(prev.Base + uint64(len(prev.Data)) - 1)
			if n := len(prev.Data); len(r.Data) > 0 && prev.End() == r.Base && prev.Off+n == r.Off {
				prev.Data = d.data[prev.Off:][:n+len(r.Data)]
				continue
			}
		}
		if len(r.Data) > 0 {
			out = append(out, r)
		}
	}
	d.Memory.sorted = slices.Clip(out)
}

// from returns the part of the range after the address last.
func (r Range) from(last uint64) Range {
	if r.Base > last {
		return r
	}
	n := last - r.Base // no overflow: the range may cover the last address
	if n >= uint64(len(r.Data)) {
		return Range{}
	}
	return Range{last + 1, r.Data[n+1:], r.Off + int(n) + 1}
}

// At returns the memory from addr to the end of the range that has addr, or nil.
func (m *Memory) At(addr uint64) []byte {
	i := sort.Search(len(m.sorted), func(i int) bool { return m.sorted[i].Base > addr }) - 1
	if i < 0 || addr-m.sorted[i].Base >= uint64(len(m.sorted[i].Data)) {
		return nil
	}
	return m.sorted[i].Data[addr-m.sorted[i].Base:]
}

// Bytes aliases the n bytes at addr. It returns nil if no single range of the dump
// has all of them.
func (m *Memory) Bytes(addr, n uint64) []byte {
	b := m.At(addr)
	if b == nil || n > uint64(len(b)) {
		return nil
	}
	return b[:n:n]
}

// MemoryInfo is MINIDUMP_MEMORY_INFO: a range of pages of one kind.
type MemoryInfo struct {
	Base, AllocationBase uint64
	AllocationProtection uint32 // PAGE_*
	Size                 uint64
	State                uint32 // MEM_COMMIT, MEM_RESERVE, MEM_FREE
	Protection           uint32 // PAGE_*
	Type                 uint32 // MEM_PRIVATE, MEM_MAPPED, MEM_IMAGE
}

// The states of pages.
const (
	MemCommit  = 0x1000
	MemReserve = 0x2000
	MemFree    = 0x10000
)

// readable, writable and executable are the sets of PAGE_* constants (each has
// one bit) that allow an access.
const (
	readable   = 0x02 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80
	writable   = 0x04 | 0x08 | 0x40 | 0x80
	executable = 0x10 | 0x20 | 0x40 | 0x80
	pageGuard  = 0x100
)

// Readable reports whether the process may read the pages.
func (m *MemoryInfo) Readable() bool { return m.allows(readable) }

// Writable reports whether the process may write the pages.
func (m *MemoryInfo) Writable() bool { return m.allows(writable) }

// Executable reports whether the process may execute code in the pages.
func (m *MemoryInfo) Executable() bool { return m.allows(executable) }

// allows reports whether pages are committed, have one of the protections in set, and are no
// guard pages.
func (m *MemoryInfo) allows(set uint32) bool {
	return m.State == MemCommit && m.Protection&set != 0 && m.Protection&pageGuard == 0
}

// readMemoryInfo decodes MINIDUMP_MEMORY_INFO_LIST. An impossible range is lost
// alone.
func (d *Dump) readMemoryInfo(c wire.Cursor) error {
	list := tableHeader(&c, memoryInfoSize, true)
	infos := make([]MemoryInfo, 0, list.n)
	for range list.n {
		at := c.Pos()
		r := c.Sub(list.size)
		m := MemoryInfo{Base: r.U64(), AllocationBase: r.U64(), AllocationProtection: r.U32()}
		r.Skip(4)
		m.Size, m.State, m.Protection, m.Type = r.U64(), r.U32(), r.U32(), r.U32()
		if m.Size == 0 || m.Base+m.Size-1 < m.Base {
			d.lose(MemoryInfoListStream, &wire.Error{Section: Section, Offset: at, Err: ErrRange})
			continue
		}
		infos = append(infos, m)
	}

	d.MemoryInfo = infos
	return c.Err()
}
