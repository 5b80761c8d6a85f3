package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"symkit/internal/command"
)

// How often the progress is told, on a terminal and elsewhere: there each pause is
// a fifth longer than the one before, so that a log of many hours stays short.
const (
	redraw   = 200 * time.Millisecond
	logFirst = 10 * time.Second
)

// progress tells how far a batch is: on a terminal in the status line, elsewhere in
// a line now and then.
type progress struct {
	messages *command.Messages

	mu      sync.Mutex
	start   time.Time
	files   counts
	bytes   counts
	inHand  []string // names, the one that has taken longest first
	stopped chan struct{}
	ended   sync.WaitGroup
}

// counts is how many of how many.
type counts struct{ done, all int64 }

func newProgress(messages *command.Messages) *progress {
	return &progress{messages: messages, stopped: make(chan struct{})}
}

// run begins to tell, until stop.
func (p *progress) run(files, bytes int64) {
	p.start, p.files.all, p.bytes.all = time.Now(), files, bytes
	p.ended.Go(func() {
		pause := logFirst
		if p.messages.Columns() > 0 {
			pause = redraw
		}
		timer := time.NewTimer(pause)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				p.tell(time.Since(p.start))
			case <-p.stopped:
				return
			}
			if p.messages.Columns() == 0 {
				pause += pause / 5
			}
			timer.Reset(pause)
		}
	})
}

// stop ends the telling and erases the line.
func (p *progress) stop() {
	close(p.stopped)
	p.ended.Wait()
	p.messages.Erase()
}

// begin tells that a file is taken in hand.
func (p *progress) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inHand = append(p.inHand, name)
}

// end tells that the file is done.
func (p *progress) end(name string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.inHand, name); i >= 0 {
		p.inHand = slices.Delete(p.inHand, i, i+1)
	}
	p.files.done++
	p.bytes.done += bytes
}

// tell draws or writes the line.
func (p *progress) tell(passed time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages.Progress("dump_syms: " + p.line(passed))
}

// line is how far it is: files, bytes, rate, time left, the file in hand.
func (p *progress) line(passed time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d modules, %s of %s", p.files.done, p.files.all, shown(p.bytes.done), shown(p.bytes.all))
	if seconds := passed.Seconds(); p.bytes.done > 0 && seconds > 0 {
		rate := float64(p.bytes.done) / seconds
		left := time.Duration(float64(p.bytes.all-p.bytes.done) / rate * float64(time.Second))
		fmt.Fprintf(&b, ", %s/s, %v left", shown(int64(rate)), left.Round(time.Second))
	}
	if len(p.inHand) > 0 {
		b.WriteString(": " + p.inHand[0])
	}
	return b.String()
}

// shown is a number of bytes to read.
func shown(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}
