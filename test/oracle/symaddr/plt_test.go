//go:build oracle

package symaddr

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symkit/lookup"
	"symkit/test/oracle"
)

// TestOraclePLT: slots of procedure linkage tables have the names that objdump gives them. addr2line, llvm-symbolizer and
// gimli's addr2line have none, which TestOracleGNU and TestOracleLLVM compare.
func TestOraclePLT(t *testing.T) {
	label := regexp.MustCompile(`(?m)^([0-9a-f]+) <(.+@plt)>:$`)
	total := 0
	for _, m := range slices.Concat(fixtures(t), built(t), small(t)) {
		f, err := lookup.Open(t.Context(), m.path, lookup.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := exec.CommandContext(t.Context(), "objdump", "-d", "--no-show-raw-insn", "-j.plt", "-j.plt.sec", "-j.plt.got", "-j.iplt", m.path).Output()
		wrong := oracle.NewDiffs(t, "slots with other names in "+m.name)
		for _, found := range label.FindAllStringSubmatch(string(out), -1) {
			total++
			addr, _ := strconv.ParseUint(found[1], 16, 64) // the digits of an address
			frames, err := f.Frames(nil, addr)
			got := ""
			if len(frames) == 1 && frames[0].Stub {
				got = frames[0].Linkage
			}
			if got != found[2] && !strings.HasPrefix(found[2], "*ABS*") { // the resolver's name
				wrong.Add("%s: %q, objdump has %q, %v", found[1], got, found[2], err)
			}
		}
		wrong.Report()
		f.Close()
	}
	t.Logf("%d slots", total)
}
