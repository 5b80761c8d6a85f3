package rawdump

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	"symkit/walk/internal/mdmp"
)

// region is memory of the process: where it was, and where it is in the file.
type region struct{ base, size, rva uint64 }

// contents returns the bytes of a region. It returns false for a region without bytes: Windows
// writes an offset of 0 for a stack whose bytes are in the list of memory.
func (p *printer) contents(r region) ([]byte, bool) {
	c := p.rest(r.rva)
	b := c.Bytes(r.size)
	return b, r.rva != 0 && r.size != 0 && c.Err() == nil
}

// memoryList is MINIDUMP_MEMORY_LIST or MINIDUMP_MEMORY64_LIST.
type memoryList struct {
	wide    bool
	regions []region // in the order of the file
	sorted  []region // by address, without overlaps; made by find
}

// memoryList reads MINIDUMP_MEMORY_LIST. Regions outside of the file are left out. The list is
// nil if it is not there or not whole.
func (p *printer) memoryList() *memoryList {
	c, ok := p.list(mdmp.MemoryListStream, 16)
	if !ok {
		return nil
	}
	m := &memoryList{}
	for c.Len() > 0 {
		r := region{c.U64(), uint64(c.U32()), uint64(c.U32())}
		if _, ok := p.contents(r); ok {
			m.regions = append(m.regions, r)
		}
	}
	return m
}

// memory64List reads MINIDUMP_MEMORY64_LIST, whose regions follow one another in the file. The
// list is nil if it is not there or not whole.
func (p *printer) memory64List() *memoryList {
	c := p.stream(mdmp.Memory64ListStream)
	n, rva := c.U64(), c.U64()
	if c.Err() != nil || n != uint64(c.Len())/16 || c.Len()%16 != 0 {
		return nil
	}

	m := &memoryList{wide: true}
	for c.Len() > 0 {
		r := region{c.U64(), c.U64(), rva}
		if rva > uint64(len(p.data)) || r.size > uint64(len(p.data))-rva {
			return nil
		}
		m.regions = append(m.regions, r)
		rva += r.size
	}
	return m
}

// find returns the contents of the region that has an address.
func (m *memoryList) find(p *printer, addr uint64) ([]byte, bool) {
	if m == nil {
		return nil, false
	}
	if m.sorted == nil {
		m.sort()
	}
	i := sort.Search(len(m.sorted), func(i int) bool { return m.sorted[i].base > addr }) - 1
	if i < 0 || addr-m.sorted[i].base >= m.sorted[i].size {
		return nil, false
	}
	r := m.sorted[i]
	return p.data[r.rva:][:r.size], true
}

// sort sorts the regions for find. Of regions that overlap, the first by address counts.
func (m *memoryList) sort() {
	m.sorted = []region{}
	all := slices.Clone(m.regions)
	slices.SortStableFunc(all, func(a, b region) int { return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.size, b.size)) })
	next := uint64(0)
	for _, r := range all {
		if r.size == 0 || r.base < next || r.base+r.size < r.base {
			continue
		}
		m.sorted = append(m.sorted, r)
		next = r.base + r.size
	}
}

// memory writes a list of memory, with the contents unless the text is brief.
func (p *printer) memory(m *memoryList) {
	switch {
	case m == nil:
		return
	case m.wide:
		p.printf("MinidumpMemory64List\n")
	default:
		p.printf("MinidumpMemoryList\n")
	}

	p.printf("  region_count = %d\n\n", len(m.regions))
	for i, r := range m.regions {
		if p.err != nil {
			return
		}
		if m.wide {
			p.printf("region[%d]\nMINIDUMP_MEMORY_DESCRIPTOR64\n  start_of_memory_range = %#x\n  memory.data_size      = %#x\n", i, r.base, r.size)
		} else {
			p.printf("region[%d]\nMINIDUMP_MEMORY_DESCRIPTOR\n  start_of_memory_range = %#x\n  memory.data_size      = %#x\n  memory.rva            = %#x\n", i, r.base, r.size, r.rva)
		}
		if !p.brief {
			p.printf("Memory\n")
			p.hexDump(p.data[r.rva:][:r.size])
		}
		p.printf("\n")
	}
}

// hexDump writes 16 bytes in each line: the offset, the bytes, and as characters.
func (p *printer) hexDump(data []byte) {
	const width = 16
	for offset := 0; offset < len(data) && p.err == nil; offset += width {
		row := data[offset:min(offset+width, len(data))]
		line := fmt.Appendf(p.AvailableBuffer(), "    %08x: ", offset)
		for i := range width {
			if i < len(row) {
				line = append(hex.AppendEncode(line, row[i:i+1]), ' ')
			} else {
				line = append(line, "   "...)
			}
		}
		for _, b := range row {
			if b < ' ' || b > '~' {
				b = '.'
			}
			line = append(line, b)
		}
		p.text(append(line, '\n'))
	}
}

// memoryInfo writes MINIDUMP_MEMORY_INFO_LIST. Bits of protections and kinds that have no name are
// not shown.
func (p *printer) memoryInfo() {
	const states, protections, types = 0x13000, 0x7ff, 0x1060000
	c, size, ok := p.table(mdmp.MemoryInfoListStream, 48)
	if !ok {
		return
	}

	p.printf("MinidumpMemoryInfoList\n  region_count = %d\n\n", c.Len()/size)
	for i := 0; c.Len() > 0 && p.err == nil; i++ {
		base, allocation, allocated := c.U64(), c.U64(), c.U32()
		c.Skip(4)
		length, state, protection, typ := c.U64(), c.U32(), c.U32(), c.U32()
		c.Skip(4)
		p.printf("region[%d]\nMINIDUMP_MEMORY_INFO\n  base_address          = %#x\n  allocation_base       = %#x\n  allocation_protection = %#x\n  region_size           = %#x\n  state                 = %#x\n  protection            = %#x\n  _type                 = %#x\n\n",
			i, base, allocation, allocated&protections, length, state&states, protection&protections, typ&types)
	}
}
