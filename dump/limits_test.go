package dump

import (
	"errors"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/internal/limits"
	"symkit/internal/mutant"
)

// bomb opens one of mutant.Bombs.
func bomb(t *testing.T, name string) *elfx.Image {
	t.Helper()
	for _, b := range mutant.Bombs {
		if b.Name == name {
			f, err := elfx.NewFile("bomb", b.Make())
			if err != nil {
				t.Fatal(err)
			}
			return &elfx.Image{Main: f}
		}
	}
	t.Fatalf("no bomb is called %q", name)
	return nil
}

// Names of source files that are joined of one long directory are bounded.
func TestFilesLimit(t *testing.T) {
	_, err := Dump(t.Context(), bomb(t, "one long directory for every file"), Options{Jobs: 1})
	if !errors.Is(err, limits.ErrExceeded) || !strings.HasPrefix(err.Error(), "bomb: files above the limit of 16952078: ") {
		t.Errorf("error %v", err)
	}
}

// DIEs in each other without end cost their unit.
func TestDepthLimit(t *testing.T) {
	m, err := Dump(t.Context(), bomb(t, "subprograms one million deep"), Options{Jobs: 1})
	if err != nil || m.Stats.LossCount != 1 || !strings.HasPrefix(m.Stats.Losses[0].Error(), "bomb: .debug_info+0x1407: die-depth above the limit of 1024: ") {
		t.Errorf("%v, lost %v", err, m.Stats.Losses)
	}
}
