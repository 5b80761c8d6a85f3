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
	// order of the dump. They can overlap. Wide is the number of those of the 64-bit list.
	Ranges []Range
	Wide   int
	// sorted is the same memory and the stacks of threads by address, without
	// overlaps.
	sorted []Range
}

// Range returns the memory that a descriptor is about, or an error if the memory is not in the file.
// A descriptor of no bytes is an empty range, wherever it points.
func (d *Dump) Range(m *MemoryDescriptor) (Range, error) {
	if m.Memory.Size == 0 {
		return Range{Base: m.Base}, nil
	}
	c := d.at(m.Memory)

	// A range may end with the last address of the address space, but not go past it.
	if m.Base+uint64(m.Memory.Size)-1 < m.Base {
		c.Fail(m.At, ErrRange)
	}
	off := c.Pos()
	return Range{m.Base, c.Bytes(uint64(c.Len())), off}, c.Err()
}

// Stack returns the stack of a thread: it is empty if it is not in the file.
func (d *Dump) Stack(t *Thread) Range {
	r, err := d.Range(&t.Stack)
	if err != nil {
		return Range{}
	}
	return r
}

// readMemory decodes MINIDUMP_MEMORY_LIST. A range outside the file is lost
// alone.
func (d *Dump) readMemory(c wire.Cursor) error {
	n, all := list[MemoryDescriptor](&c)
	d.Memory.Ranges = slices.Grow(d.Memory.Ranges, n)
	for m := range all {
		r, err := d.Range(m)
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
	var head memory64List
	read(&c, &head)
	if c.Err() == nil && head.Count > uint64(c.Len())/sizeOf[MemoryDescriptor64]() {
		c.Fail(head.At, ErrCount)
	}
	if c.Err() != nil {
		return c.Err()
	}
	data := d.rest(head.Base, head.BaseAt)
	if data.Err() != nil {
		return data.Err()
	}

	// The data of each range begins where that of the range before it ends.
	d.Memory.Ranges = slices.Grow(d.Memory.Ranges, int(head.Count))
	for m := range records[MemoryDescriptor64](&c, int(head.Count), sizeOf[MemoryDescriptor64]()) {
		// An impossible size ends the list, because the places of all later ranges follow
		// from it.
		if m.Size > 0 && m.Base+m.Size-1 < m.Base {
			c.Fail(m.At, ErrRange)
			break
		}

		// Keep the part of the range that a truncated file still has.
		short := m.Size > uint64(data.Len())
		off := data.Pos()
		b := data.Bytes(min(m.Size, uint64(data.Len())))
		d.Memory.Ranges = append(d.Memory.Ranges, Range{m.Base, b, off})
		d.Memory.Wide++
		if short {
			c.Fail(m.SizeAt, wire.ErrTruncated)
			break
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
		all = append(all, d.Stack(&d.Threads[i]))
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
			n := len(prev.Data)
			if len(r.Data) > 0 && prev.End() == r.Base && prev.Off+n == r.Off {
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

// MemCommit is the state of pages that have memory.
const MemCommit = 0x1000

// Access reports whether the process may read the pages, write them, and execute code in them. The
// PAGE_* constants have one bit each; guard pages allow nothing.
func (m *MemoryInfo) Access() (read, write, execute bool) {
	const readable, writable, executable, guard = 0xee, 0xcc, 0xf0, 0x100
	p := m.Protection
	if m.State != MemCommit || p&guard != 0 {
		p = 0
	}
	return p&readable != 0, p&writable != 0, p&executable != 0
}

// readMemoryInfo decodes MINIDUMP_MEMORY_INFO_LIST. An impossible range is lost
// alone.
func (d *Dump) readMemoryInfo(c wire.Cursor) error {
	n, all := table[MemoryInfo](&c, sizeOf[MemoryInfo](), true)
	d.MemoryInfo = slices.Grow(d.MemoryInfo, n)
	for m := range all {
		if m.Size == 0 || m.Base+m.Size-1 < m.Base {
			d.lose(MemoryInfoListStream, &wire.Error{Section: Section, Offset: m.At, Err: ErrRange})
			continue
		}
		d.MemoryInfo = append(d.MemoryInfo, *m)
	}
	return c.Err()
}
