package main

import (
	"fmt"
	"sync"
	"time"

	"symkit/internal/command"
	"symkit/internal/quantity"
)

// progress draws the status line on a terminal, and nothing elsewhere.
type progress struct {
	mu       sync.Mutex
	messages *command.Messages
	next     time.Time
}

// The times of drawing. The first line is drawn late, since most files are done before.
const (
	firstDraw = 400 * time.Millisecond
	redraw    = 100 * time.Millisecond
)

// newProgress returns a progress whose first line is drawn after firstDraw.
func newProgress(messages *command.Messages) *progress {
	return &progress{messages: messages, next: time.Now().Add(firstDraw)}
}

// update draws the line if enough time has passed since the last one.
func (p *progress) update(stage string, done, total int) {
	if p.messages.Columns() == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(redraw)
	p.messages.Draw(fmt.Sprintf("%s: %s of %s", stage, quantity.Number(done), quantity.Number(total)))
}

// clear removes the line.
func (p *progress) clear() { p.messages.Erase() }
