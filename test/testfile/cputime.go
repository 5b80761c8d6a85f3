package testfile

import (
	"context"
	"time"
)

// CPULimit returns a context that ends, with context.DeadlineExceeded as its cause, once
// this process has used so much more time of processors. Other work of the machine, which
// makes a limit of wall time fail, does not count.
func CPULimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	begin := CPUTime()
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for CPUTime()-begin < limit {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(nil) }
}
