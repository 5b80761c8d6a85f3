package check

import (
	"strings"
	"testing"
)

// TestNoDebugInfo: the first line for a stripped file says that it has nothing to compare
// functions with. A file with debug information has no such line.
func TestNoDebugInfo(t *testing.T) {
	img, sym := openTest(t, "../testdata/mips16/stripped.so.xz", "stripped.so"), readTest(t, "../testdata/mips16/stripped.so.sym")
	rep := mustCheck(t, img, sym, Options{})
	first, _, _ := strings.Cut(text(t, rep), "\n")
	if !strings.HasPrefix(first, "file.sym: ") || !strings.Contains(first, "stripped.so has no debug information: functions, lines") {
		t.Errorf("first line %q", first)
	}

	img, sym = openTest(t, "../testdata/mips16/micromips.so.xz", "micromips.so"), readTest(t, "../testdata/mips16/micromips.so.sym")
	rep = mustCheck(t, img, sym, Options{})
	if rep.NoDebugInfo != "" {
		t.Errorf("with debug information: %q", rep.NoDebugInfo)
	}
}
