package dump

import (
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/elfx"
)

// together does some tasks on as many goroutines as the options say.
func (d *dumper) together(tasks ...func() error) error {
	return d.each(len(tasks), func() func(int) error {
		return func(i int) error { return tasks[i]() }
	})
}

// each calls work for every i below n, on as many goroutines as the options
// say. newWorker makes what one goroutine needs: its scratch memory. Results
// must go to places that i determines. It returns the first error, which ends
// the run; cancellation ends it too.
func (d *dumper) each(n int, newWorker func() (work func(i int) error)) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(d.ctx)
	for range min(d.opt.Jobs, n) {
		group.Go(func() error {
			return elfx.Guard(func() error {
				work := newWorker()
				for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
					if err := work(i); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return group.Wait()
}
