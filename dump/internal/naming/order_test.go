package naming

import (
	"slices"
	"testing"

	"symkit/limits"
)

// TestOrder: texts in order, each once, for the numbers that are used, on any number of
// goroutines.
func TestOrder(t *testing.T) {
	table := NewTable(0, limits.Limits{}, false)
	var numbers []uint32
	for _, text := range []string{"b", "a", "unused", "c::d", "a", "c"} {
		numbers = append(numbers, table.Add(text))
	}
	used := make([]bool, table.Limit())
	for i, n := range numbers {
		used[n] = i != 2
	}
	for _, jobs := range []int{1, 2, 8} {
		o, err := Order(t.Context(), jobs, table, used)
		if err != nil || !slices.Equal(o.Texts, []string{"a", "b", "c", "c::d"}) {
			t.Fatalf("%d goroutines: %q, %v", jobs, o.Texts, err)
		}
		for i, want := range []uint32{1, 0, 0, 3, 0, 2} {
			if i != 2 && o.Place[numbers[i]] != want {
				t.Errorf("%d goroutines: text %d is in place %d, want %d", jobs, i, o.Place[numbers[i]], want)
			}
		}
	}
}
