package batch

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// largeShare divides the budget: what a task left that took more than the
// quotient is given back to the system before the next one begins.
const largeShare = 16

// Task is one module's work.
type Task struct {
	// Memory is how much it will take at its peak, in bytes: an estimate. It
	// stands for the time that the task takes, too.
	Memory int64
	// Do does the work. An error ends the whole batch.
	Do func(ctx context.Context) error
}

// Run does the tasks, at most jobs of them at a time, those with the most memory
// first, so that a large one is not what everybody waits for in the end. A task
// waits until what it needs fits into the budget beside the tasks under way;
// one that never fits runs alone.
//
// Processors are not dealt out: a task is to use as many goroutines as there
// are processors, and Go's scheduler gives them what the other tasks leave. So
// many small files keep all processors busy as one large one does.
//
// Run returns the first error of a task, or the cause of ctx's end.
func Run(ctx context.Context, tasks []Task, jobs int, budget int64) error {
	q := queue{pending: slices.Clone(tasks), budget: budget}
	q.changed.L = &q.mu
	slices.SortStableFunc(q.pending, byMemory)
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, q.wake)()
	for range min(jobs, len(tasks)) {
		group.Go(func() error {
			for {
				t, ok := q.take(ctx)
				if !ok {
					return context.Cause(ctx)
				}
				err := t.Do(ctx)
				if t.Memory > budget/largeShare {
					debug.FreeOSMemory()
				}
				q.done(t)
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// byMemory has the task with most memory first.
func byMemory(a, b Task) int { return cmp.Compare(b.Memory, a.Memory) }

// queue hands out tasks as memory allows.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	pending []Task // most memory first
	budget  int64
	used    int64 // by the tasks under way
	running int
}

// take waits for a task that fits; false: there are no more, or ctx ended.
func (q *queue) take(ctx context.Context) (t Task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil && len(q.pending) > 0 {
		if t, ok = q.next(); ok {
			return t, true
		}
		q.changed.Wait()
	}
	return t, false
}

// next takes the largest task that fits, if there is one. That it is smaller
// than another that waits delays that one by nothing: when a task ends that is
// as large as the one that waits, or larger, what passed still fits beside it.
func (q *queue) next() (t Task, ok bool) {
	i, limit := 0, q.budget-q.used
	if q.running > 0 {
		i, _ = slices.BinarySearchFunc(q.pending, limit, func(t Task, limit int64) int { return cmp.Compare(limit, t.Memory) })
	}
	if i == len(q.pending) {
		return t, false
	}
	t = q.pending[i]
	if i == 0 {
		q.pending = q.pending[1:] // moves nothing
	} else {
		q.pending = slices.Delete(q.pending, i, i+1)
	}
	q.account(t, 1)
	return t, true
}

// account adds a task to those under way, or takes it off.
func (q *queue) account(t Task, sign int) {
	q.running += sign
	q.used += int64(sign) * t.Memory
}

func (q *queue) done(t Task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.account(t, -1)
	q.changed.Broadcast()
}

func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}
