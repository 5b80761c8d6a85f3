package check

import (
	"testing"

	"symkit/check/internal/truth/dwarfinfo"
)

// TestHelperPanics checks that a helper whose file is truncated passes its own panic on, which
// mem.Guard makes an error, and leaves the pool to the other workers.
func TestHelperPanics(t *testing.T) {
	p := newUnitPool()
	p.join()
	x := &openUnit{scan: &dwarfinfo.Scan{Funcs: make([]dwarfinfo.Func, 1)}}
	p.open = append(p.open, x)

	got := func() (value any) {
		defer func() { value = recover() }()
		p.help(&worker{}) // a worker without a namer panics as a helper
		return nil
	}()
	if got == nil {
		t.Fatal("no panic")
	}

	p.close(x)
	x.helpers.Wait()
	p.leave()
	p.help(&worker{})
}
