package emit

import (
	"iter"
	"math"
	"slices"
	"sync"
)

// part is the place of the first of some records of a FUNC, one after the other, and the first and the last address of
// their code.
type part struct{ at, first, last uint64 }

// A part has partRecords records, a group groupParts parts. A FUNC of at most fewParts is read as a whole each time.
const partRecords, groupParts, fewParts = 8, 256, 32

// newPart returns the part of records from a place on, without code.
func newPart(at uint64) part { return part{at, math.MaxUint64, 0} }

// add adds the code of a record.
func (p *part) add(addr uint64, size uint32) {
	last := addr + uint64(size) - 1
	switch {
	case size == 0:
	case last < addr: // at both ends of the address space
		p.first, p.last = 0, math.MaxUint64
	default:
		p.first, p.last = min(p.first, addr), max(p.last, last)
	}
}

// divided is a FUNC in parts. groups are of groupParts parts each; the place of a group is the index of its first part.
type divided struct{ groups, parts []part }

// near yields the places of the parts that can have code at an address.
func (d *divided) near(addr uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, g := range d.groups {
			if !g.has(addr) {
				continue
			}
			for _, p := range d.parts[g.at:min(len(d.parts), int(g.at)+groupParts)] {
				if p.has(addr) && !yield(p.at) {
					return
				}
			}
		}
	}
}

// has reports whether the part can have code at an address.
func (p *part) has(addr uint64) bool { return p.first <= addr && addr <= p.last }

// parts are those of the long FUNCs in which an address was looked up, by their places in the file. With them a lookup
// reads some records of a FUNC, so that many lookups in a long FUNC do not each take as long as the FUNC is.
type parts struct {
	mu sync.RWMutex
	of map[uint64]*divided
}

// get returns the FUNC at a place in parts, or nil.
func (p *parts) get(place uint64) *divided {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.of[place]
}

// keep keeps the parts of the FUNC at a place, if they are more than a few.
func (p *parts) keep(place uint64, all []part) {
	if len(all) <= fewParts {
		return
	}
	d := &divided{parts: slices.Clone(all)}
	for i, part := range d.parts {
		if i%groupParts == 0 {
			d.groups = append(d.groups, newPart(uint64(i)))
		}
		g := &d.groups[len(d.groups)-1]
		g.first, g.last = min(g.first, part.first), max(g.last, part.last)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[uint64]*divided{}
	}
	p.of[place] = d
}
