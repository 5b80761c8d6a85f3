package lookup_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"symkit/lookup"
)

// TestCache: a file is opened once while it is kept, is not closed while it is in use, and one that cannot be opened
// is tried once.
func TestCache(t *testing.T) {
	var mu sync.Mutex
	opened := map[string]int{}
	c := lookup.NewCache(100<<10, func(ctx context.Context, key string) (*lookup.File, error) {
		mu.Lock()
		opened[key]++
		mu.Unlock()
		return lookup.Open(ctx, fixtures+key, lookup.Options{})
	})
	defer c.Close()
	names := []string{"cxx-x86_64-gcc12-O2-dw5.elf", "cxx-aarch64-gcc12-O2-dw5.elf", "cxx-i686-gcc12-O2-dw5.elf", "cxx-s390x-gcc12-O2-dw5.elf"}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				for _, name := range names {
					f, release, err := c.Get(t.Context(), name)
					if err != nil {
						t.Error(err)
						return
					}
					for _, s := range f.Symbols(nil, "run", -1) {
						frames, err := f.Frames(nil, s.Addr)
						if err != nil || len(frames) == 0 {
							t.Errorf("%s: %v, %v", name, frames, err)
						}
					}
					release()
				}
			}
		})
	}
	group.Wait()

	missing := errors.New("")
	for range 2 {
		_, _, err := c.Get(t.Context(), "missing")
		missing = err
	}
	if missing == nil || opened["missing"] != 1 {
		t.Errorf("missing: %v, opened %d times", missing, opened["missing"])
	}

	// A file that was not opened because its caller gave up is opened for the next one.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	given := lookup.NewCache(0, func(ctx context.Context, key string) (*lookup.File, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return lookup.Open(ctx, fixtures+key, lookup.Options{})
	})
	defer given.Close()
	_, _, err := given.Get(ctx, names[0])
	if !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	_, release, err := given.Get(t.Context(), names[0])
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// TestCacheContexts: a caller that gives up costs the others nothing, and a caller that waits can give up. A file that was
// forgotten is opened again, and stays open for those who use it.
func TestCacheContexts(t *testing.T) {
	started, opened := make(chan bool, 1), 0
	c := lookup.NewCache(1, func(ctx context.Context, _ string) (*lookup.File, error) {
		opened++
		if opened == 1 {
			started <- true
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return symbolFile([]byte("FUNC 10 8 0 f\n"), lookup.Options{}), nil
	})
	defer c.Close()
	first, giveUp := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		_, _, err := c.Get(first, "app")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
	})
	<-started
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := c.Get(impatient, "app")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the impatient: %v", err)
	}
	waiting := make(chan bool)
	group.Go(func() {
		close(waiting)
		f, release, err := c.Get(t.Context(), "app")
		if err != nil {
			t.Errorf("the patient: %v", err)
			return
		}
		c.Forget("app")
		frames, err := f.Frames(nil, 0x10)
		if err != nil || len(frames) != 1 {
			t.Errorf("forgotten, in use: %v, %v", frames, err)
		}
		release()
	})
	<-waiting
	giveUp()
	group.Wait()
	_, release, err := c.Get(t.Context(), "app")
	if err != nil || opened != 3 {
		t.Errorf("forgotten: %v, opened %d times", err, opened)
	} else {
		release()
	}
	c.Forget("app")
	c.Forget("never seen")
}
