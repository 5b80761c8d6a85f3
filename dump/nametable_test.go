package dump

import (
	"fmt"
	"sync"
	"testing"

	"symkit/dump/dwarfx"
	"symkit/elfx"
)

// TestIntern: the same name has the same number, and of the namings it has come
// from the first in order holds, whoever came first.
func TestIntern(t *testing.T) {
	const cxx = dwarfx.Language(4)
	a, b := &dwarfx.Unit{}, &dwarfx.Unit{}
	named := []naming{
		{key: []byte("_Z1fv"), linkage: true, unit: a},
		{key: []byte("f"), name: []byte("f"), unit: a},                             // C has no scopes
		{key: []byte("f"), name: []byte("f"), decl: 1, unit: a, language: cxx},     // one scope
		{key: []byte("f"), name: []byte("f"), decl: 2, unit: a, language: cxx},     // another
		{key: []byte("g"), name: []byte("g"), linkage: true, decl: 3, unit: a},     // the scope does not count
		{key: []byte("g"), name: []byte("later"), linkage: true, decl: 4, unit: b}, // the same as the last
	}
	for round := range 20 {
		table := newNameTable(len(named))
		ids := make([]uint32, len(named))
		var wait sync.WaitGroup
		for i := range named {
			wait.Go(func() {
				k := (i + round) % len(named)
				ids[k] = table.intern(&named[k], uint64(k))
			})
		}
		wait.Wait()
		if ids[4] != ids[5] || string(table.at(ids[5]).name) != "g" || table.at(ids[5]).unit != a {
			t.Fatalf("g: %v, %+v", ids, table.at(ids[5]))
		}
		seen := map[uint32]bool{}
		for i, id := range ids[:5] {
			if seen[id] || string(table.at(id).key) != string(named[i].key) || id >= table.limit() {
				t.Fatalf("%d: %v", i, ids)
			}
			seen[id] = true
		}
		if id := table.add("text"); seen[id] || table.at(id).text != "text" || id >= table.limit() {
			t.Fatalf("added: %d of %v", id, ids)
		}
	}
}

// TestInternAllocs: a name that is there costs nothing.
func TestInternAllocs(t *testing.T) {
	table := newNameTable(1)
	n := naming{key: []byte("_Z1fv"), linkage: true, unit: &dwarfx.Unit{}}
	table.intern(&n, 0)
	if allocs := testing.AllocsPerRun(100, func() { table.intern(&n, 1) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkIntern(b *testing.B) {
	names := make([]naming, 10_000)
	for i := range names {
		names[i] = naming{key: fmt.Appendf(nil, "_ZN5space4func%dEv", i), linkage: true}
	}
	for b.Loop() {
		table := newNameTable(len(names))
		for range 4 {
			for i := range names {
				table.intern(&names[i], 0)
			}
		}
	}
}

// TestInternGrows: in a table that was made for fewer, names keep their numbers.
func TestInternGrows(t *testing.T) {
	table := newNameTable(1)
	name := func(i int) *naming { return &naming{key: fmt.Append(nil, "_Z", i), linkage: true} }
	ids := map[uint32]int{}
	for i := range 5000 {
		ids[table.intern(name(i), uint64(i))] = i
	}
	if len(ids) != 5000 {
		t.Errorf("%d numbers", len(ids))
	}
	for id, i := range ids {
		if again := table.intern(name(i), uint64(i)); again != id || string(table.at(id).key) != string(name(i).key) {
			t.Fatalf("%d: number %d, then %d", i, id, again)
		}
	}
}

// TestWanted: names are listed by unit once they are marked, by whatever
// goroutine.
func TestWanted(t *testing.T) {
	table := newNameTable(1)
	units := []*dwarfx.Unit{{}, {}, {}}
	wanted := map[uint32]bool{}
	for i := range 3000 {
		n := naming{key: fmt.Append(nil, "_Z", i), linkage: true, unit: units[i%3]}
		if id := table.intern(&n, uint64(i)); i%3 != 2 && i%5 == 0 {
			wanted[id] = true
		}
	}
	table.wantNone()
	if groups := table.byUnit(0, nameShards); len(groups) != 0 {
		t.Errorf("%d groups before any is wanted", len(groups))
	}
	var wait sync.WaitGroup
	for id := range wanted {
		wait.Go(func() { table.want(id) })
	}
	wait.Wait()
	const some = nameShards / 3
	groups := merged([]map[*dwarfx.Unit][]declared{table.byUnit(0, some), table.byUnit(some, nameShards)})
	if len(groups) != 2 {
		t.Fatalf("%d groups", len(groups))
	}
	for _, g := range groups {
		for _, n := range g.names {
			if !wanted[n.id] || table.at(n.id).unit != g.unit {
				t.Errorf("name %d, wanted: %v", n.id, wanted[n.id])
			}
			delete(wanted, n.id)
		}
	}
	if len(wanted) > 0 {
		t.Errorf("not listed: %v", wanted)
	}
	for range 3 { // names that are newer than the marks
		id := table.add("new")
		if table.isWanted(id) {
			t.Errorf("%d is wanted", id)
		}
		if table.wantAdded(id); !table.isWanted(id) {
			t.Errorf("%d is not wanted", id)
		}
	}
}

// TestOriginsInAnyOrder: what is inlined is named after the first unit in order
// that has it, whichever comes first.
func TestOriginsInAnyOrder(t *testing.T) {
	d := &dumper{ctx: t.Context(), img: &elfx.Image{Main: fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")}, m: &Module{}}
	d.opt = Options{Jobs: 1, Inlines: true}
	d.code = codeMap(d.img.Main)
	if err := d.readUnits(); err != nil || len(d.units) == 0 {
		t.Fatal(len(d.units), err)
	}
	info, err := d.img.Main.SectionData(".debug_info")
	if d.dw.Restore(info); err != nil || d.units[0].Dropped() {
		t.Fatalf("without its bytes: %v", err)
	}
	d.names = newNameTable(1)
	var x originNamer
	linkage := 0
	for _, number := range []int{5, 3, 7} {
		u := *d.units[0]
		d.newScanner().unit(&u)
		if len(u.refs) < 5 {
			t.Fatalf("%d inlined functions", len(u.refs))
		}
		d.numberOrigins(&u, number, &x)
		for i, id := range u.origins {
			e := d.names.at(id)
			if got, want := e.order>>32&0xffff, uint64(min(number, 5)); number != 7 && got != want || number == 7 && got != 3 {
				t.Errorf("after unit %d, origin %d %q is of unit %d", number, i, e.key, got)
			}
			if e.linkage {
				linkage++
			}
		}
	}
	if linkage == 0 {
		t.Error("no linkage names")
	}
}
