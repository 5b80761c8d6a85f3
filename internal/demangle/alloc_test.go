//go:build !race

// The race detector allocates.

package demangle

import (
	"testing"

	"symkit/internal/demangle/lex"
)

// TestAllocs: a plain name costs the string it is returned in; its base nothing.
func TestAllocs(t *testing.T) {
	name := []byte("some_function_of_a_c_program")
	if n := testing.AllocsPerRun(100, func() { Demangle(name) }); n > 1 {
		t.Errorf("Demangle: %v allocations", n)
	}
	name = []byte("_ZNSt6vectorIiSaIiEE9push_backEOi")
	if n := testing.AllocsPerRun(100, func() { Demangle(name) }); n > 1 {
		t.Errorf("Demangle of C++: %v allocations", n)
	}
	name = []byte("some_function.constprop.0.cold")
	if n := testing.AllocsPerRun(100, func() { lex.Base(name) }); n > 0 {
		t.Errorf("Base: %v allocations", n)
	}
}
