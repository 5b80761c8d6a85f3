package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"symkit/internal/command"
)

// progress draws one line on a terminal, and nothing elsewhere.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: no terminal
	next  time.Time
	drawn bool
}

// Nothing is drawn in the first moments: most files are done by then.
const (
	firstDraw = 400 * time.Millisecond
	redraw    = 100 * time.Millisecond
)

func newProgress(w io.Writer) *progress {
	p := &progress{next: time.Now().Add(firstDraw)}
	if _, ok := command.Terminal(w); ok {
		p.out = w
	}
	return p
}

func (p *progress) update(stage string, done, total int) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.drawn = now.Add(redraw), true
	fmt.Fprintf(p.out, "%s%s: %d of %d", command.ClearLine, stage, done, total)
}

// clear removes the line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.out, command.ClearLine)
	}
}
