package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
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
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" {
			p.out = f
		}
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
	fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %d", stage, done, total)
}

// clear removes the line.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
