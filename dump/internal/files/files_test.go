package files

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"symkit/dump/internal/losses"
	"symkit/dump/pathmap"
	"symkit/internal/limitof"
	"symkit/limits"
)

// TestTable: names that are written alike have the same number, whichever comes
// first, and places are in the order of the names that are written.
func TestTable(t *testing.T) {
	var paths pathmap.Map
	if err := paths.AddPrefix("/build=/src"); err != nil {
		t.Fatal(err)
	}
	for _, given := range [][]string{
		{"/src/b.c", "/build/b.c", "/src/a.c", "/build/c.c", "/build/b.c"},
		{"/build/b.c", "/src/b.c", "/build/c.c", "/src/a.c"},
		{"/build/c.c", "/src/a.c", "/build/b.c", "/src/b.c"},
	} {
		table := New(paths, 0, limits.Limits{}, false)
		ids := map[string]uint32{}
		for _, name := range given {
			id := table.Number([]byte(name))
			if was, ok := ids[name]; ok && was != id {
				t.Errorf("%s: number %d, then %d", name, was, id)
			}
			ids[name] = id
		}
		ordered, _ := table.Ordered()
		names, place := ordered.Names, ordered.Place
		if want := []string{"/src/a.c", "/src/b.c", "/src/c.c"}; !slices.Equal(names, want) {
			t.Errorf("%v: %v", given, names)
		}
		for name, want := range map[string]uint32{"/src/a.c": 0, "/src/b.c": 1, "/build/b.c": 1, "/build/c.c": 2} {
			if got := place[ids[name]]; got != want {
				t.Errorf("%v: %s is in place %d, want %d", given, name, got, want)
			}
		}
	}
}

// TestTableTogether: goroutines that ask for the same names get the same numbers.
func TestTableTogether(t *testing.T) {
	table := New(pathmap.Map{}, 0, limits.Limits{}, false)
	var wait sync.WaitGroup
	ids := make([][]uint32, 4)
	for g := range ids {
		wait.Go(func() {
			for i := range 1000 {
				ids[g] = append(ids[g], table.Number(fmt.Appendf(nil, "/src/%d.c\x01", i)))
			}
		})
	}
	wait.Wait()
	for g := range ids[1:] {
		if !slices.Equal(ids[0], ids[g+1]) {
			t.Fatalf("goroutine %d has other numbers", g+1)
		}
	}
	ordered, _ := table.Ordered()
	if len(ordered.Names) != 1000 {
		t.Errorf("%d names", len(ordered.Names))
	}
}

// TestTableFull: names that do not fit are removed, with all since Begin, and the names before stay.
func TestTableFull(t *testing.T) {
	table := New(pathmap.Map{}, 0, limits.Limits{}, true)
	long := make([]byte, (limits.Limits{}).Max(limitof.Files, 0)/2-nameMemory)
	number := func(names ...byte) error {
		table.Begin()
		for _, name := range names {
			long[0] = name
			table.Number(long)
		}
		return table.End()
	}
	if err := number('a'); err != nil {
		t.Fatal(err)
	}
	if err := number('b', 'c'); !errors.Is(err, limits.ErrExceeded) || len(table.names) != 1 || len(table.given) != 1 || len(table.written) != 1 {
		t.Errorf("%v, %d names", err, len(table.names))
	}
	table.Begin()
	if n := table.Number([]byte("d")); n != 1 || table.End() != nil || len(table.names) != 2 {
		t.Errorf("number %d of %d", n, len(table.names))
	}

	// Several goroutines may have half of it.
	table = New(pathmap.Map{}, 0, limits.Limits{}, false)
	if err := number('a'); err != nil {
		t.Fatal(err)
	}
	if err := number('b'); err != losses.ErrInTurn {
		t.Errorf("%v, want ErrInTurn", err)
	}
}
