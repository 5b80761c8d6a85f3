package dump

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/elfx"
	"symkit/test/testfile"
)

// TestMIPS16: the bit for MIPS16 and microMIPS, which symbols, line tables and the ends of
// ranges have, is no part of an address.
func TestMIPS16(t *testing.T) {
	for _, name := range []string{"mips16.elf", "micromips.so", "stripped.so", "clang23.elf"} {
		data, err := testfile.Read("../testdata/mips16/" + name + ".xz")
		if err != nil {
			t.Fatal(err)
		}
		want, err := testfile.Read("../testdata/mips16/" + name + ".sym")
		if err != nil {
			t.Fatal(err)
		}
		f, err := elfx.NewFile(name, data)
		if err != nil {
			t.Fatal(err)
		}
		m, got := dumpText(t, f, Options{Inlines: true})
		if diff := cmp.Diff(withoutInfo(want), withoutInfo(got)); diff != "" || m.Stats.LossCount > 0 {
			t.Errorf("%s: losses %v, want (-), got (+):\n%s", name, m.Stats.Losses, diff)
		}
	}
}
