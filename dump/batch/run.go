package batch

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"symkit/internal/crash"
)

// largeShare is the divisor of the budget: after a task that needs more than
// budget / largeShare, free memory is returned to the system before the next task begins.
const largeShare = 16

// leastFreed is the least memory, in bytes, of a task after which memory is returned: a collection
// for each small file would take most of the time.
const leastFreed = 32 << 20

// task is the work for one module.
type task struct {
	// Memory is an estimate of the task's peak memory in bytes. Run also uses Memory as a
	// measure of the task's time.
	Memory int64
	// Do does the work. An error ends the whole batch.
	Do func(ctx context.Context) error
}

// runTasks does the tasks, at most jobs of them at a time. Tasks with the most memory come
// first, so that the last task is a small one. A task waits until its memory fits into
// the budget together with the running tasks; a task that never fits runs alone.
//
// Run does not divide processors among tasks: each task may use as many goroutines as there
// are processors, and Go's scheduler gives them the time that other tasks leave. Thus a
// batch of small files keeps all processors busy, and so does one large file.
//
// Run returns the first error of a task, or the cause of ctx's end.
func runTasks(ctx context.Context, tasks []task, jobs int, budget int64) error {
	q := queue{pending: slices.Clone(tasks), budget: budget}
	q.changed.L = &q.mu
	slices.SortStableFunc(q.pending, byMemory)

	// The end of ctx wakes the workers that wait for memory.
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, q.wake)()
	for range min(jobs, len(tasks)) {
		group.Go(func() error {
			defer crash.Catch()
			for {
				t, ok := q.take(ctx)
				if !ok {
					return context.Cause(ctx)
				}
				err := t.Do(ctx)
				if t.Memory > max(budget/largeShare, leastFreed) {
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

// byMemory orders tasks with the most memory first.
func byMemory(a, b task) int { return cmp.Compare(b.Memory, a.Memory) }

// queue starts tasks as memory allows.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	pending []task // most memory first
	budget  int64
	used    int64 // by the running tasks
	running int
}

// take blocks until a task fits. It returns false if there are no more tasks or ctx
// ended.
func (q *queue) take(ctx context.Context) (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil && len(q.pending) > 0 {
		t, ok = q.next()
		if ok {
			return t, true
		}
		q.changed.Wait()
	}
	return t, false
}

// next takes the largest task that fits, if there is one. A smaller task that starts
// before a larger one does not delay the larger one: when a running task ends that is
// as large as the waiting task, the waiting task fits beside the smaller one.
func (q *queue) next() (t task, ok bool) {
	i, limit := 0, q.budget-q.used
	if q.running > 0 {
		i, _ = slices.BinarySearchFunc(q.pending, limit, func(t task, limit int64) int { return cmp.Compare(limit, t.Memory) })
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

// account adds a task to the running tasks if sign is 1, and removes it if sign is -1.
func (q *queue) account(t task, sign int) {
	q.running += sign
	q.used += int64(sign) * t.Memory
}

// done releases the memory of a task that ended.
func (q *queue) done(t task) {
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
