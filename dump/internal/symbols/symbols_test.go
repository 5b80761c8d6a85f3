package symbols

import (
	"fmt"
	"testing"
)

// TestRanks: the place of a name among few and among many aliases; of equal names the first.
func TestRanks(t *testing.T) {
	for _, n := range []int{3, 100} {
		var table Table
		for i := range n {
			table = append(table, Symbol{Name: fmt.Append(nil, "f", i%(n-1))}) // the last name is the first again
		}
		rank := table.Ranks()
		for name, want := range map[string]int{"f0": 0, "f1": 1, "none": n} {
			if got := rank([]byte(name)); got != want {
				t.Errorf("%s among %d: %d, want %d", name, n, got, want)
			}
		}
	}
}

// TestUnversioned: names of .symtab with the version of the library that they are bound to.
func TestUnversioned(t *testing.T) {
	for name, want := range map[string]string{"xdr_int@GLIBC_2.2.5": "xdr_int", "memcpy@@GLIBC_2.14": "memcpy", "main": "main", "@main": "@main", "": ""} {
		if got := Unversioned([]byte(name)); string(got) != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
