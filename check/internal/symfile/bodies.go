package symfile

import (
	"sync"

	"symkit/internal/crash"
)

// bodies passes the records of FUNCs from the goroutine that parses a symbol file to a second one
// that checks them, which takes about as long. They are passed in batches, since most FUNCs have few
// records. A small file has no second goroutine.
type bodies struct {
	check func(*Func, *Body)
	now   *batch // of the FUNC that is being parsed
	view  Body   // the records of one FUNC, for check

	full, free chan *batch // nil without a second goroutine
	done       sync.WaitGroup
}

// batch is the records of consecutive FUNCs.
type batch struct {
	all   Body // the records of all FUNCs
	funcs []batchFunc
}

// batchFunc is a FUNC, or nil for records under no FUNC, and where its records begin in batch.all.
type batchFunc struct {
	f                      *Func
	lines, inlines, ranges int
}

// leastShared is the size in bytes of the smallest text that two goroutines read. A batch ends with
// the FUNC with which it has batchRecords records or batchFuncs FUNCs. Of the batches one is filled,
// one is checked, and the others wait.
const (
	leastShared  = 256 << 10
	batchRecords = 1 << 13
	batchFuncs   = 1 << 10
	batches      = 4
)

// newBodies returns the bodies of a text with size bytes. check is called with each FUNC and its
// records, in order.
func newBodies(size int, check func(*Func, *Body)) *bodies {
	q := &bodies{check: check, now: &batch{}}
	q.begin(nil)
	if size < leastShared {
		return q
	}

	q.full, q.free = make(chan *batch, batches), make(chan *batch, batches)
	for range batches - 1 {
		q.free <- &batch{}
	}
	q.done.Go(func() {
		defer crash.Catch()
		for b := range q.full {
			q.use(b)
			q.free <- b
		}
	})
	return q
}

// close checks the records that remain, and blocks until all are checked.
func (q *bodies) close() {
	if q.full == nil {
		q.use(q.now)
		return
	}
	q.full <- q.now
	close(q.full)
	q.done.Wait()
}

// begin begins the records of a FUNC.
func (q *bodies) begin(f *Func) {
	if b := q.now; len(b.all.Lines)+len(b.all.Inlines) >= batchRecords || len(b.funcs) >= batchFuncs {
		q.pass()
	}
	all := &q.now.all
	all.of, all.base = f, len(all.Ranges)
	q.now.funcs = append(q.now.funcs, batchFunc{f, len(all.Lines), len(all.Inlines), len(all.Ranges)})
}

// pass passes the batch on, and begins another one.
func (q *bodies) pass() {
	if q.full == nil {
		q.use(q.now)
		return
	}
	q.full <- q.now
	q.now = <-q.free
}

// use calls check for the FUNCs of a batch, and empties the batch.
func (q *bodies) use(b *batch) {
	all := &b.all
	end := batchFunc{nil, len(all.Lines), len(all.Inlines), len(all.Ranges)}
	for i, f := range b.funcs {
		next := end
		if i+1 < len(b.funcs) {
			next = b.funcs[i+1]
		}
		q.view = Body{
			Lines: all.Lines[f.lines:next.lines], Inlines: all.Inlines[f.inlines:next.inlines],
			Ranges: all.Ranges[f.ranges:next.ranges], of: f.f,
		}
		q.check(f.f, &q.view)
	}

	// The memory of a very large FUNC is not kept.
	b.funcs = b.funcs[:0]
	if len(all.Lines)+len(all.Inlines) > 4*batchRecords {
		*all = Body{}
	}
	all.clear()
}
