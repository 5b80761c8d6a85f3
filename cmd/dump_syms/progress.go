package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"symkit/internal/command"
	"symkit/internal/wire"
)

// How often the progress is told, on a terminal and elsewhere.
const (
	redraw   = 200 * time.Millisecond
	logEvery = 10 * time.Second
)

// progress tells how far a batch is: on a terminal in one line that is drawn
// again and again, elsewhere in a line now and then. What else goes to standard
// error goes through it, so that it does not end up in that line.
type progress struct {
	out     io.Writer
	columns int // of the terminal; 0 if it is none

	mu      sync.Mutex
	start   time.Time
	files   counts
	bytes   counts
	inHand  []string // names, the one that has taken longest first
	drawn   bool
	stopped chan struct{}
	ended   sync.WaitGroup
}

// counts is how many of how many.
type counts struct{ done, all int64 }

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, stopped: make(chan struct{})}
	p.columns, _ = command.Terminal(out)
	return p
}

// run begins to tell, until stop.
func (p *progress) run(files, bytes int64) {
	p.start, p.files.all, p.bytes.all = time.Now(), files, bytes
	every := logEvery
	if p.columns > 0 {
		every = redraw
	}
	p.ended.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.mu.Lock()
				p.tell(time.Since(p.start))
				p.mu.Unlock()
			case <-p.stopped:
				return
			}
		}
	})
}

// stop ends the telling and erases the line.
func (p *progress) stop() {
	close(p.stopped)
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
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

// Write writes whole lines to standard error.
func (p *progress) Write(lines []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(lines) == 0 {
		return 0, nil
	}
	p.erase()
	return p.out.Write(lines)
}

func (p *progress) erase() {
	if p.drawn {
		io.WriteString(p.out, command.ClearLine)
		p.drawn = false
	}
}

// tell draws or writes the line.
func (p *progress) tell(passed time.Duration) {
	line := "dump_syms: " + p.line(passed)
	if p.columns == 0 {
		fmt.Fprintln(p.out, line)
		return
	}
	runes := []rune(line)
	fmt.Fprint(p.out, command.ClearLine, string(runes[:min(len(runes), p.columns-1)]))
	p.drawn = true
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
		b.WriteString(": " + wire.Printable(p.inHand[0]))
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
