package dwarfx

import (
	"slices"
	"sort"
)

// around is what ParentsOf remembers of a unit.
type around struct {
	asked int
	list  enclosings
}

// enclosings tells which DIEs enclose any DIE of a unit: those with children, in the order in
// which they begin.
type enclosings []enclosing

type enclosing struct {
	begin, end Ref
	outer      int32 // index of the one around it; -1 for the root
}

// fewParents is how often a unit is walked over for the parents of one DIE, before all are
// remembered.
const fewParents = 4

// ParentsOf is Parents for one DIE: each time is short, however many DIEs are asked for. It
// reports false where no DIE begins, as far as that is seen.
func (d *Data) ParentsOf(u *Unit, target Ref, tops []Ref) (parents []Ref, ok bool) {
	list, asked := d.asked(u)
	if asked <= fewParents {
		// Damage that keeps a DIE from being read was met by the scan.
		_ = d.Parents(u, []Ref{target}, tops, func(_ int, found []Ref) { parents, ok = slices.Clone(found), true })
		return parents, ok
	}
	if list == nil {
		list = d.allParents(u)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.around[u] = &around{asked: asked, list: list}
	}
	return list.of(target)
}

// asked counts that somebody asks for parents in u, and returns what is remembered.
func (d *Data) asked(u *Unit) (list enclosings, asked int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.around[u]
	if x == nil {
		if x = new(around); d.around == nil {
			d.around = map[*Unit]*around{}
		}
		d.around[u] = x
	}
	x.asked++
	return x.list, x.asked
}

// ForgetParents gives up what ParentsOf remembers of u.
func (d *Data) ForgetParents(u *Unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.around, u)
}

// of returns the DIEs that enclose target, the outermost first.
func (x enclosings) of(target Ref) (parents []Ref, ok bool) {
	i := sort.Search(len(x), func(i int) bool { return x[i].begin >= target }) - 1
	for i >= 0 && target >= x[i].end {
		i = int(x[i].outer)
	}
	if i < 0 {
		return nil, false
	}
	for ; i >= 0; i = int(x[i].outer) {
		parents = append(parents, x[i].begin)
	}
	slices.Reverse(parents)
	return parents, true
}

// allParents walks over u. What damage keeps from being read ends where that is.
func (d *Data) allParents(u *Unit) (list enclosings) {
	table, err := d.abbrevs(u)
	if err != nil {
		return nil
	}
	x := scanner{d: d, u: u, t: table, c: d.unitCursor(u, u.first)}
	open := int32(-1)
	for x.c.Len() > 0 {
		at := x.c.Pos()
		code := x.c.ULEB()
		if code == 0 && open >= 0 {
			list[open].end = Ref(x.c.Pos())
			open = list[open].outer
		}
		if code == 0 {
			if open < 0 {
				break
			}
			continue
		}
		a := x.lookup(code, at)
		if a == nil {
			break
		}
		if x.attrs(a, false); x.c.Err() != nil {
			break
		}
		switch {
		case a.children:
			list = append(list, enclosing{begin: Ref(at), outer: open})
			open = int32(len(list) - 1)
		case open < 0: // a root without children
			return list
		}
	}
	for ; open >= 0; open = list[open].outer {
		list[open].end = Ref(u.End)
	}
	return list
}
