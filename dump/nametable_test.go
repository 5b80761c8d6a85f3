package dump

import (
	"fmt"
	"sync"
	"testing"

	"symkit/dump/dwarfx"
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
