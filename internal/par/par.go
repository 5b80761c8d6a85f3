// Package par holds symkit's parallel loop. A loop stores its results at places that
// the index determines, so that no output depends on the order in which goroutines
// finish.
package par

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"symkit/internal/mem"
)

// Each calls work for every i in [0, n), on at most jobs goroutines. newWorker
// is called once on each goroutine and returns its work function, which owns
// the scratch memory of that goroutine. Each goroutine runs under mem.Guard.
// A loop with one goroutine runs on the caller's.
//
// Each returns the first error, after which no further i is started, or the
// cause of the context's cancellation.
func Each(ctx context.Context, jobs, n int, newWorker func() (work func(i int) error)) error {
	// One worker needs no goroutine: starting one takes longer than a small loop.
	if n > 0 && min(jobs, n) <= 1 {
		return mem.Guard(func() error { return alone(ctx, n, newWorker()) })
	}

	var next atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	for range min(max(jobs, 1), n) {
		group.Go(func() error {
			return mem.Guard(func() error {
				work := newWorker()

				// Workers get indices in order, one at a time.
				for i := int(next.Add(1)) - 1; i < n && groupCtx.Err() == nil; i = int(next.Add(1)) - 1 {
					err := work(i)
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}

	// A cancelled loop may have skipped indices without any error of work.
	err := group.Wait()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// alone calls work for every i in [0, n), until the context is cancelled.
func alone(ctx context.Context, n int, work func(i int) error) error {
	for i := range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := work(i)
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// For is Each for work that needs no scratch memory.
func For(ctx context.Context, jobs, n int, work func(i int) error) error {
	return Each(ctx, jobs, n, func() func(int) error { return work })
}

// Do runs tasks on at most jobs goroutines and returns the first error.
func Do(ctx context.Context, jobs int, tasks ...func() error) error {
	return For(ctx, jobs, len(tasks), func(i int) error { return tasks[i]() })
}
