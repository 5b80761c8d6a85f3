package naming

import (
	"fmt"
	"sync"
	"testing"

	"symkit/internal/dwarfx"
	"symkit/limits"
)

// TestNumber: the same name has the same number, and of the keys it has come from the
// first in order holds, whichever came first.
func TestNumber(t *testing.T) {
	const cxx = dwarfx.Language(4)
	a, b := &dwarfx.Unit{}, &dwarfx.Unit{}
	keys := []Key{
		{Linkage: []byte("_Z1fv"), Unit: a},
		{Plain: []byte("f"), Unit: a},                                    // C has no scopes
		{Plain: []byte("f"), Decl: 1, Unit: a, Language: cxx},            // one scope
		{Plain: []byte("f"), Decl: 2, Unit: a, Language: cxx},            // another
		{Linkage: []byte("g"), Plain: []byte("g"), Decl: 3, Unit: a},     // the scope does not count
		{Linkage: []byte("g"), Plain: []byte("later"), Decl: 4, Unit: b}, // the same as the last
	}
	for round := range 20 {
		table := NewTable(0, limits.Limits{}, false)
		numbers := make([]uint32, len(keys))
		var wait sync.WaitGroup
		for i := range keys {
			wait.Go(func() {
				k := (i + round) % len(keys)
				numbers[k], _ = table.number(&keys[k], uint64(k))
			})
		}
		wait.Wait()
		if numbers[4] != numbers[5] || string(table.Key(numbers[5]).Plain) != "g" || table.Key(numbers[5]).Unit != a {
			t.Fatalf("g: %v, %+v", numbers, table.Key(numbers[5]))
		}
		seen := map[uint32]bool{}
		for i, n := range numbers[:5] {
			if seen[n] || string(table.Key(n).ID()) != string(keys[i].ID()) || n >= table.Limit() {
				t.Fatalf("%d: %v", i, numbers)
			}
			seen[n] = true
		}
		n := table.Add("text")
		if seen[n] || table.Text(n) != "text" || n >= table.Limit() {
			t.Fatalf("added: %d of %v", n, numbers)
		}
	}
}

// TestText: the text is that of the key with the lowest order, whoever made it last.
func TestText(t *testing.T) {
	table := NewTable(0, limits.Limits{}, false)
	second := Key{Linkage: []byte("label"), Plain: []byte("second")}
	first := Key{Linkage: []byte("label"), Plain: []byte("first")}
	n, mine := table.number(&second, 8)
	if !mine {
		t.Fatal("a new name has a text")
	}
	_, mine = table.number(&first, 3)
	if !mine {
		t.Fatal("the text of a lower order is not made")
	}
	table.setText(n, 3, "first", true)
	table.setText(n, 8, "second", true)
	if table.Text(n) != "first" {
		t.Errorf("the text is %q", table.Text(n))
	}
	_, mine = table.number(&second, 9)
	if mine {
		t.Error("the text of a higher order is made")
	}
}

// TestTextRaces: of three goroutines that add equal keys, the one with the lowest order
// decides the text, in whatever order each of them adds its key and sets its text.
func TestTextRaces(t *testing.T) {
	a, b := &dwarfx.Unit{}, &dwarfx.Unit{}
	key := func(plain string, decl dwarfx.Ref, u *dwarfx.Unit) Key {
		return Key{Linkage: []byte("label"), Plain: []byte(plain), Decl: decl, Unit: u}
	}
	lists := [][3]Key{
		{key("f", 1, a), key("f", 1, a), key("f", 1, a)}, // one DIE, which several units refer to
		{key("f", 1, a), key("f", 1, a), key("g", 2, a)},
		{key("f", 1, a), key("g", 2, a), key("g", 2, a)},
		{key("f", 1, a), key("g", 2, a), key("f", 1, a)},
		{key("f", 1, a), key("f", 1, b), key("f", 2, b)}, // different DIEs of one name
		{key("f", 1, a), key("g", 2, a), key("h", 3, a)},
	}
	text := func(k *Key) string { return fmt.Sprint(string(k.Plain), " at ", k.Decl, " of a: ", k.Unit == a) }
	const steps = 6 // two of each goroutine
	for list, keys := range lists {
		for code := range 729 { // 3 to the power of steps: which goroutine takes each step
			table := NewTable(0, limits.Limits{}, false)
			var done [3]int
			var mine [3]bool
			number, digits := uint32(0), code
			for range steps {
				i := digits % 3
				digits /= 3
				switch done[i]++; {
				case done[i] == 1:
					number, mine[i] = table.number(&keys[i], uint64(i))
				case mine[i]:
					table.setText(number, uint64(i), text(&keys[i]), true)
				}
			}
			if done != [3]int{2, 2, 2} {
				continue
			}
			if table.Text(number) != text(&keys[0]) || !table.IsSound(number) {
				t.Errorf("list %d, steps %d: the text is %q", list, code, table.Text(number))
			}
		}
	}
}

// TestNumberAllocs: a name that is known costs no memory.
func TestNumberAllocs(t *testing.T) {
	table := NewTable(0, limits.Limits{}, false)
	k := Key{Linkage: []byte("_Z1fv"), Unit: &dwarfx.Unit{}}
	table.number(&k, 0)
	allocs := testing.AllocsPerRun(100, func() { table.number(&k, 1) })
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestNumberGrows: names keep their numbers as the table grows.
func TestNumberGrows(t *testing.T) {
	table := NewTable(0, limits.Limits{}, false)
	key := func(i int) *Key { return &Key{Linkage: fmt.Append(nil, "_Z", i)} }
	numbers := map[uint32]int{}
	for i := range 5000 {
		n, _ := table.number(key(i), uint64(i))
		numbers[n] = i
	}
	if len(numbers) != 5000 {
		t.Errorf("%d numbers", len(numbers))
	}
	for n, i := range numbers {
		again, mine := table.number(key(i), uint64(i))
		if again != n || mine || string(table.Key(n).Linkage) != string(key(i).Linkage) {
			t.Fatalf("%d: number %d, then %d", i, n, again)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	keys := make([]Key, 10_000)
	for i := range keys {
		keys[i] = Key{Linkage: fmt.Appendf(nil, "_ZN5space4func%dEv", i)}
	}
	for b.Loop() {
		table := NewTable(0, limits.Limits{}, false)
		for range 4 {
			for i := range keys {
				table.number(&keys[i], 0)
			}
		}
	}
}
