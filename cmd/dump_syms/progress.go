package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"symkit/internal/command"
	"symkit/internal/crash"
	"symkit/internal/quantity"
)

// The intervals between two updates of the progress. On a terminal the status line is
// redrawn at a fixed rate. Elsewhere lines are written, and each interval is a fifth longer
// than the one before, so that the log of many hours stays short.
const (
	redraw   = 200 * time.Millisecond
	logFirst = 10 * time.Second
)

// progress shows how far a batch is: on a terminal in the status line, elsewhere in
// a line now and then.
type progress struct {
	messages *command.Messages

	mu      sync.Mutex
	start   time.Time
	timer   *time.Timer // nil after stop
	files   counts
	bytes   counts
	check   bool     // modules are checked
	modules int      // in the rounds so far
	more    bool     // another round follows
	running []string // names of the files being dumped, the longest running first
}

// counts holds how many of all items are done.
type counts struct{ done, all int64 }

// run shows the progress until stop is called.
func (p *progress) run() {
	pause := logFirst
	if p.messages.Columns() > 0 {
		pause = redraw
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.start = time.Now()
	p.timer = time.AfterFunc(pause, func() {
		defer crash.Catch()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.timer == nil {
			return
		}
		p.show(time.Since(p.start))
		if p.messages.Columns() == 0 {
			pause += pause / 5
		}
		p.timer.Reset(pause)
	})
}

// Round implements batch.Progress.
func (p *progress) Round(modules int, last bool) {
	if !p.check {
		batchHeap()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modules += modules
	p.more = !last
}

// rounds returns the number of modules in the rounds so far, and whether another round follows.
func (p *progress) rounds() (modules int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.modules, p.more
}

// Adjust implements batch.Progress.
func (p *progress) Adjust(files, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files.all += files
	p.bytes.all += bytes
}

// stop erases the status line.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.timer = nil
	p.messages.Erase()
}

// Begin implements batch.Progress.
func (p *progress) Begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, name)
}

// End implements batch.Progress.
func (p *progress) End(name string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.running, name); i >= 0 {
		p.running = slices.Delete(p.running, i, i+1)
	}

	p.files.done++
	p.bytes.done += bytes
}

// show draws or writes the line.
func (p *progress) show(passed time.Duration) {
	p.messages.Progress("dump_syms: " + p.line(passed))
}

// line returns the text of the line: files, bytes, rate, time left, and the file
// that has been running for the longest time.
func (p *progress) line(passed time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s modules, %s of %s", quantity.Number(p.files.done), quantity.Number(p.files.all), quantity.Bytes(p.bytes.done), quantity.Bytes(p.bytes.all))

	// The rate is the average since the start.
	if seconds := passed.Seconds(); p.bytes.done > 0 && seconds > 0 {
		rate := float64(p.bytes.done) / seconds
		left := math.Round(float64(p.bytes.all-p.bytes.done) / rate)
		fmt.Fprintf(&b, ", %s/s, %s left", quantity.Bytes(int64(rate)), quantity.Seconds(left))
	}

	if len(p.running) > 0 {
		b.WriteString(": " + p.running[0])
	}
	return b.String()
}
