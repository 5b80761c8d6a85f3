package dump

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx"
	"symkit/test/testfile"
)

// TestClang23 dumps objects of clang 23: addresses as expressions and as indices with offsets
// (-minimize-addr-in-v5) give the records of plain addresses, and a unit for a module
// (-gmodules), which names a .pcm file, is no missing split DWARF.
func TestClang23(t *testing.T) {
	const dir = "../testdata/clang23/"
	for name, want := range map[string]string{
		"plain.o": "plain.sym", "Expressions.o": "plain.sym", "Form.o": "plain.sym",
		"modules4.o": "modules4.sym", "modules5.o": "modules5.sym",
	} {
		data, err := testfile.Read(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		sym, err := testfile.Read(dir + want)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elfx.NewFile(want[:len(want)-len("sym")]+"o", data)
		if err != nil {
			t.Fatal(err)
		}

		m, got := dumpText(t, f, Options{Inlines: true})
		if diff := cmp.Diff(withoutInfo(sym), withoutInfo(got)); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", name, diff)
		}
		if m.Stats.LossCount > 0 || len(m.Stats.Warnings) > 0 {
			t.Errorf("%s: losses %v, warnings %q", name, m.Stats.Losses, m.Stats.Warnings)
		}
	}
}
