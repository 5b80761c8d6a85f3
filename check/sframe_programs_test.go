//go:build oracle

package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSFrameTools verifies objects and programs of all assemblers and linkers, which
// scripts/fixtures-sframe.sh has built beside the tools (SYMKIT_SFRAME_TOOLS). Those of lld alone have
// defects: it concatenates sections, and relocates those of GNU as 2.44 without rewriting them.
func TestSFrameTools(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_SFRAME_TOOLS"), "..", "programs", "*"))
	if err != nil || len(paths) < 80 {
		t.Fatalf("SYMKIT_SFRAME_TOOLS must name the bin folder of scripts/fixtures-sframe.sh: %d programs, %v", len(paths), err)
	}
	clean := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		var want, got []string
		if strings.HasPrefix(name, "lld-") {
			want = []string{"unmerged"}
		}
		if strings.HasPrefix(name, "lld-v2-") {
			want = append(want, "start-base")
		}
		found, _ := verifySFrame(t, data)
		for _, f := range found {
			got = append(got, f.Cause)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, found, want)
		}
		if len(want) == 0 {
			clean++
		}
	}
	t.Logf("%d files, %d clean", len(paths), clean)
}
