package shown

import (
	"testing"

	"symkit/walk"
)

// TestUnloadedBound: thousands of modules that were at one place cost no more
// than the nearest of them.
func TestUnloadedBound(t *testing.T) {
	mods := []walk.UnloadedModule{{Name: "all", Base: 0, End: 1 << 40}}
	for i := range uint64(100000) {
		mods = append(mods, walk.UnloadedModule{Name: "small", Base: 0x1000 + i, End: 0x1001 + i})
	}
	x := NewUnloaded(mods)
	if got := x.At(0x1000); len(got) != 2 || got[0].Name != "all" || got[1].Name != "small" || got[1].Offsets[0] != 0 {
		t.Errorf("%v", got)
	}
	if got := x.At(1 << 30); len(got) != 0 {
		t.Errorf("looked below the nearest %d: %v", maxUnloaded, got)
	}
}
