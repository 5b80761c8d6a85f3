package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"symkit/walk"
)

// progress is one line on a terminal that tells whose symbols are loaded.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: no terminal
	shown bool
}

func newProgress(stderr io.Writer) *progress {
	if f, ok := stderr.(*os.File); ok && isTerminal(f) {
		return &progress{out: f}
	}
	return &progress{}
}

// isTerminal tells whether f is a character device other than the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// clearLine goes to the start of the line and erases it.
const clearLine = "\r\x1b[K"

// module shows that the symbols of m are being loaded.
func (p *progress) module(m *walk.Module) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := m.Name
	if len(name) > 60 {
		name = name[:60]
	}
	fmt.Fprintf(p.out, "%sloading symbols of %q", clearLine, name)
	p.shown = true
}

// done takes the line away.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.out, clearLine)
	}
}
