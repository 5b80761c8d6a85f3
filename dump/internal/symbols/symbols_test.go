package symbols

import (
	"debug/elf"
	"fmt"
	"testing"

	"symkit/elfx"
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

// TestVersions: a version is cut from a name if the file has it. Other names keep their @.
func TestVersions(t *testing.T) {
	v := versions{file: &elfx.File{}, read: true, names: map[string]bool{"GLIBC_2.2.5": true, "GLIBC_2.14": true, "8": true}}
	for name, want := range map[string]string{
		"xdr_int@GLIBC_2.2.5": "xdr_int", "memcpy@@GLIBC_2.14": "memcpy", "main": "main", "@main": "@main", "": "",
		"?get@Box@ns@@QEAAHXZ": "?get@Box@ns@@QEAAHXZ", "bar@16": "bar@16", "bar@8": "bar", "@@8": "@@8", "f@": "f@",
		"?get@Box@@QEAAHXZ@@GLIBC_2.14": "?get@Box@@QEAAHXZ",
	} {
		if got := v.cut([]byte(name)); string(got) != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}

	v.file.Type = elf.ET_REL
	if got := v.cut([]byte("bar@8")); string(got) != "bar@8" {
		t.Errorf("in an object: %q", got)
	}
}
