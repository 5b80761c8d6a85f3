package dwarfx

import (
	"math"
	"slices"
	"sort"

	"symkit/internal/limitof"
)

// The scope of a name needs the DIEs that enclose a declaration. DWARF has no reference to
// them: a unit has to be walked from its start. Most units have few DIEs whose parents are
// needed, for which a walk that skips subtrees is cheapest; a unit with more such DIEs is
// walked once as a whole, into a parent index that is kept until ForgetParents. Both give
// the same parents.

// fewParents is how often a unit is walked for one DIE before it is indexed.
const fewParents = 4

// ParentsOf is Parents for one DIE. It takes little time for any number of DIEs. It
// returns false if no DIE is seen to begin at target.
func (d *Data) ParentsOf(u *Unit, target Ref, tops []Ref) (parents []Ref, ok bool) {
	index, calls := d.countCall(u)
	if calls <= fewParents {
		// The scan has reported the damage that keeps a DIE from being read.
		_ = d.Parents(u, []Ref{target}, tops, func(_ int, found []Ref) { parents, ok = slices.Clone(found), true })
		return parents, ok
	}

	// Two goroutines may index one unit; the results are the same.
	if index == nil {
		index = d.allParents(u)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.parents[u] = &parentCache{calls: calls, index: index}
	}
	return index.of(target)
}

// countCall counts a call of ParentsOf for u, and returns the calls so far and the parent
// index of u, if any.
func (d *Data) countCall(u *Unit) (index parentIndex, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.parents[u]
	if x == nil {
		x = new(parentCache)
		d.parents[u] = x
	}
	x.calls++
	return x.index, x.calls
}

// ForgetParents releases the parents that ParentsOf keeps of u.
func (d *Data) ForgetParents(u *Unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.parents, u)
}

// of returns the DIEs that enclose target, the outermost first.
func (x parentIndex) of(target Ref) (parents []Ref, ok bool) {
	i := sort.Search(len(x), func(i int) bool { return x[i].begin >= target }) - 1
	for i >= 0 && target >= x[i].end {
		i = int(x[i].outer)
	}
	if i < 0 {
		return nil, false
	}

	// The entry is the innermost; outer leads to the root.
	for ; i >= 0; i = int(x[i].outer) {
		parents = append(parents, x[i].begin)
	}
	slices.Reverse(parents)
	return parents, true
}

// parentMemory is what an entry of a parentIndex takes in memory while the index grows.
const parentMemory = 48

// allParents walks u into a parent index. After damage, DIEs that are still open end
// with the unit. A unit with more DIEs than the file may have in memory has no index, and its names
// no scopes that are declared elsewhere.
func (d *Data) allParents(u *Unit) (index parentIndex) {
	table, err := d.abbrevs(u)
	if err != nil {
		return nil
	}

	x := scanner{d: d, u: u, t: table, c: d.unitCursor(u, u.first)}
	most := int(min(d.Limits.Max(limitof.UnitRecords, d.FileSize)/parentMemory, math.MaxInt32))
	open := int32(-1)
	for x.c.Len() > 0 {
		at := x.c.Pos()
		code := x.c.ULEB()
		if code == 0 {
			if open >= 0 {
				index[open].end = Ref(x.c.Pos())
				open = index[open].outer
			}
			if open < 0 {
				break // the root has ended
			}
			continue
		}

		a := x.lookup(code, at)
		if a == nil {
			break
		}
		x.attrs(a, false)
		if x.c.Err() != nil {
			break
		}
		if a.children {
			if len(index) >= most {
				return nil
			}
			index = append(index, parentEntry{begin: Ref(at), outer: open})
			open = int32(len(index) - 1)
		} else if open < 0 { // a root without children
			return index
		}
	}

	for ; open >= 0; open = index[open].outer {
		index[open].end = Ref(u.End)
	}
	return index
}
