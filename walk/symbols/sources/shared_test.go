package sources

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"symkit/emit"
	"symkit/walk"
)

// counting is a supplier that counts what it gave out and got back.
type counting struct{ loads, open atomic.Int64 }

func (c *counting) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	c.loads.Add(1)
	if m.Name == "none" || ctx.Err() != nil {
		return &walk.Symbols{}
	}
	c.open.Add(1)
	return &walk.Symbols{Index: emit.NewIndex([]byte("STACK CFI INIT x\nFUNC 1000 10 0 f\n")), Heap: 1000, From: m.Name,
		Close: func() error { c.open.Add(-1); return nil }}
}

func TestShared(t *testing.T) {
	c := &counting{}
	s := NewShared(c, 2500)
	use := func(name, id string) *walk.Symbols {
		return s.Symbols(t.Context(), &walk.Module{Name: name, DebugID: id})
	}
	step := func(what string, loads, open int64) {
		t.Helper()
		if c.loads.Load() != loads || c.open.Load() != open {
			t.Errorf("%s: %d loads, %d open; want %d, %d", what, c.loads.Load(), c.open.Load(), loads, open)
		}
	}
	a, b := use("a", "1"), use("a", "1")
	step("two users", 1, 1)
	if a.Index != b.Index || !a.Shared || a.BadLines != 1 {
		t.Errorf("%v, %v", a, b)
	}
	a.Close()
	a.Close() // the second time is none
	b.Index = nil
	if again := use("a", "1"); again.Index == nil {
		t.Error("a user took the index away from the others")
	} else {
		again.Close()
	}
	b.Close()
	step("kept", 1, 1)
	use("b", "1").Close()
	use("a", "2").Close()
	step("too much: the longest unused goes", 3, 2)
	use("b", "1").Close()
	step("still there", 3, 2)
	use("a", "1").Close()
	step("gone", 4, 2)
	use("none", "1")
	use("none", "1")
	step("what there is not is remembered", 5, 2)
	use("x", "")
	use("x", "")
	step("without an id nothing is shared", 7, 4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Symbols(ctx, &walk.Module{Name: "late", DebugID: "1"})
	if use("late", "1").Index == nil {
		t.Error("an interrupted lookup is remembered")
	}
	s.Close()
	step("closed: what is in use stays", 9, 3)
}

// TestSharedWalks: walks of several processes at once, with the race detector
// in mind; every one has the same stacks.
func TestSharedWalks(t *testing.T) {
	c := &counting{}
	s := NewShared(c, 0)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			p := &walk.Process{OS: "Linux", CPU: "x86_64", Crashed: -1, Memory: memoryMap{}, Threads: []walk.Thread{{ID: 1}},
				Modules: []*walk.Module{{Name: "m", DebugID: fmt.Sprint(i % 2), Base: 0x400000, End: 0x500000}}}
			p.Threads[0].Regs.PC = 0x401008
			res, err := walk.Walk(context.Background(), p, s, walk.Options{})
			if err != nil || res.Stacks[0].Frames[0].Place.Func != "f" || res.Modules[0].BadLines != 1 {
				t.Errorf("%v, %v", res, err)
			}
		})
	}
	wait.Wait()
	if c.open.Load() != 0 {
		t.Errorf("%d are still open", c.open.Load())
	}
}
