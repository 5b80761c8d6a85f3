package batch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestQueue follows the queue's choices step by step: +N is taken, -N done.
func TestQueue(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget int64
		tasks  []int64 // memory, most first
		steps  []int64 // what is taken (0: has to wait), or -memory of what is done
	}{
		{"largest first", 100, []int64{50, 30, 20, 10}, []int64{50, 30, 20, 0, -30, 10}},
		{"a large one alone", 100, []int64{500, 200, 1}, []int64{500, 0, -500, 200, 0, -200, 1}},
		{"small ones pass", 100, []int64{60, 50, 10, 10}, []int64{60, 10, 10, 0, -60, 50}},
		{"modules that fit delay no other module", 100, []int64{60, 70, 35, 30, 5}, []int64{70, 30, 0, -70, 60, 5, 0, -30, 35}},
		{"no budget", 0, []int64{3, 2, 1}, []int64{3, 0, -3, 2, 0, -2, 1}},
		{"equal", 10, []int64{5, 5, 5}, []int64{5, 5, 0, -5, 5}},
	} {
		q := queue{budget: test.budget}
		for _, m := range test.tasks {
			q.pending = append(q.pending, task{Memory: m})
		}
		slices.SortStableFunc(q.pending, byMemory)
		var underway []task
		for i, want := range test.steps {
			if want < 0 {
				k := slices.IndexFunc(underway, func(t task) bool { return t.Memory == -want })
				q.account(underway[k], -1)
				underway = slices.Delete(underway, k, k+1)
				continue
			}
			got, ok := q.next()
			if ok {
				underway = append(underway, got)
			}
			if got.Memory != want || ok != (want > 0) {
				t.Fatalf("%s: step %d: %d, want %d", test.name, i, got.Memory, want)
			}
		}
	}
}

// TestRun runs tasks and watches the budget.
func TestRun(t *testing.T) {
	const budget, jobs = 100, 4
	var mu sync.Mutex
	var used, running, most, done int64
	var tasks []task
	for i := range int64(200) {
		memory := i*i%70 + 1
		if i%50 == 0 {
			memory = 1000
		}
		tasks = append(tasks, task{memory, func(context.Context) error {
			mu.Lock()
			used, running = used+memory, running+1
			most = max(most, running)
			if used > budget && running > 1 {
				t.Errorf("%d tasks use %d", running, used)
			}
			mu.Unlock()
			time.Sleep(time.Duration(memory) * time.Microsecond)
			mu.Lock()
			used, running, done = used-memory, running-1, done+1
			mu.Unlock()
			return nil
		}})
	}
	if err := runTasks(context.Background(), tasks, jobs, budget); err != nil || done != 200 || most > jobs {
		t.Errorf("%v; %d done, at most %d at a time", err, done, most)
	}
	if err := runTasks(context.Background(), nil, jobs, budget); err != nil {
		t.Errorf("no tasks: %v", err)
	}
}

// TestRunTogether: as many tasks as jobs run at a time, if there is memory for
// them. Each waits for the others.
func TestRunTogether(t *testing.T) {
	const jobs = 4
	var all sync.WaitGroup
	all.Add(jobs)
	one := task{25, func(context.Context) error {
		all.Done()
		all.Wait()
		return nil
	}}
	if err := runTasks(context.Background(), slices.Repeat([]task{one}, jobs), jobs, 100); err != nil {
		t.Error(err)
	}
}

func TestRunError(t *testing.T) {
	broken := errors.New("broken")
	ran := 0
	tasks := []task{{3, func(context.Context) error { ran++; return nil }}, {2, func(context.Context) error { return broken }},
		{1, func(context.Context) error { ran++; return nil }}}
	if err := runTasks(context.Background(), tasks, 1, 100); err != broken || ran != 1 {
		t.Errorf("%v after %d tasks", err, ran)
	}
}

// A batch that is cancelled ends although tasks wait for memory.
func TestRunCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := errors.New("stop")
	var tasks []task
	for range 10 {
		tasks = append(tasks, task{100, func(ctx context.Context) error {
			cancel(stop)
			<-ctx.Done()
			return context.Cause(ctx)
		}})
	}
	if err := runTasks(ctx, tasks, 3, 100); err != stop {
		t.Errorf("%v", err)
	}
}

// TestSmallTasks: a collection of garbage is forced after a large task, and not after each small
// one, however little memory there is: 30,000 files took 639 s instead of 13.
func TestSmallTasks(t *testing.T) {
	forced := func(memory int64) int {
		var before, after runtime.MemStats
		tasks := make([]task, 20)
		for i := range tasks {
			tasks[i] = task{memory, func(context.Context) error { return nil }}
		}
		runtime.ReadMemStats(&before)
		if err := runTasks(t.Context(), tasks, 2, 1); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return int(after.NumForcedGC - before.NumForcedGC)
	}
	if n := forced(fileMemory); n != 0 {
		t.Errorf("%d collections after small tasks", n)
	}
	if n := forced(leastFreed + 1); n != 20 {
		t.Errorf("%d collections after 20 large tasks", n)
	}
}
