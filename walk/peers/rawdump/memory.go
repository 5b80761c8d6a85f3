package rawdump

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	"symkit/walk/internal/mdmp"
)

// regions returns the regions of a list of memory. Windows writes an offset of 0 for a stack
// whose bytes are elsewhere.
func (p *printer) regions() (list64, list []mdmp.Range) {
	all := p.d.Memory.Ranges
	list = slices.DeleteFunc(slices.Clone(all[p.d.Memory.Wide:]), func(r mdmp.Range) bool { return r.Off == 0 || len(r.Data) == 0 })
	return all[:p.d.Memory.Wide], list
}

// stackRegions returns the memory that may have the stacks that threads do not have, by address and
// without overlaps. Of regions that overlap, the first by address counts.
func (p *printer) stackRegions() (out []mdmp.Range) {
	all, list := p.regions()
	if !p.d.Has(mdmp.Memory64ListStream) {
		all = list
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b mdmp.Range) int {
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(len(a.Data), len(b.Data)))
	})
	next := uint64(0)
	for _, r := range all {
		if len(r.Data) > 0 && r.Base >= next && r.End() >= r.Base {
			out = append(out, r)
			next = r.End()
		}
	}
	return out
}

// find returns the contents of the region that has an address.
func find(regions []mdmp.Range, addr uint64) []byte {
	i := sort.Search(len(regions), func(i int) bool { return regions[i].Base > addr }) - 1
	if i < 0 || addr >= regions[i].End() {
		return nil
	}
	return regions[i].Data
}

// memory64List writes MINIDUMP_MEMORY64_LIST.
func (p *printer) memory64List() {
	regions, _ := p.regions()
	if p.d.Has(mdmp.Memory64ListStream) {
		p.printf("MinidumpMemory64List\n")
		p.memory("MINIDUMP_MEMORY_DESCRIPTOR64", regions, func(r *mdmp.Range) any { return mdmp.MemoryDescriptor64{Base: r.Base, Size: uint64(len(r.Data))} })
	}
}

// memoryList writes MINIDUMP_MEMORY_LIST. Regions outside of the file are left out.
func (p *printer) memoryList() {
	_, regions := p.regions()
	if p.d.Has(mdmp.MemoryListStream) {
		p.printf("MinidumpMemoryList\n")
		p.memory("MINIDUMP_MEMORY_DESCRIPTOR", regions, func(r *mdmp.Range) any {
			return mdmp.MemoryDescriptor{Base: r.Base, Memory: mdmp.Location{Size: uint32(len(r.Data)), RVA: uint32(r.Off)}}
		})
	}
}

// memory writes a list of memory, with the contents unless the text is brief.
func (p *printer) memory(title string, regions []mdmp.Range, record func(*mdmp.Range) any) {
	p.printf("  region_count = %d\n\n", len(regions))
	for i := range regions {
		if p.err != nil {
			return
		}
		p.printf("region[%d]\n", i)
		p.record(title, 21, record(&regions[i]))
		if !p.brief {
			p.printf("Memory\n")
			p.hexDump(regions[i].Data)
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
	if !p.d.Has(mdmp.MemoryInfoListStream) {
		return
	}
	infos := p.d.MemoryInfo
	if p.d.BigEndian {
		infos = nil // rust-minidump reads only the first half of their number
	}
	p.printf("MinidumpMemoryInfoList\n  region_count = %d\n\n", len(infos))
	for i, m := range infos {
		if p.err != nil {
			return
		}
		m.AllocationProtection &= protections
		m.State &= states
		m.Protection &= protections
		m.Type &= types
		p.printf("region[%d]\n", i)
		p.record("MINIDUMP_MEMORY_INFO", 21, m)
		p.printf("\n")
	}
}
