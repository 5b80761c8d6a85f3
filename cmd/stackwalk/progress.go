package main

import (
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/walk"
)

// progress is one line on a terminal that tells whose symbols are loaded.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: no terminal
	shown bool
}

func newProgress(stderr io.Writer) *progress {
	if _, ok := command.Terminal(stderr); ok {
		return &progress{out: stderr}
	}
	return &progress{}
}

// module shows that the symbols of m are being loaded.
func (p *progress) module(m *walk.Module) {
	if p.out == nil {
		return
	}
	p.show(fmt.Sprintf("loading symbols of %q", cut(m.Name)))
}

// download shows how much of a file a debuginfod server has sent.
func (p *progress) download(d debuginfod.Progress) {
	if p.out == nil {
		return
	}
	line := fmt.Sprintf("downloading %q: %.1f", cut(path.Base(path.Dir(d.URL))), float64(d.Done)/(1<<20))
	if d.Total > 0 {
		line += fmt.Sprintf(" of %.1f", float64(d.Total)/(1<<20))
	}
	p.show(line + " MiB")
}

// fetched shows how much of a file a symbol server has sent.
func (p *progress) fetched(url string, bytes int64) {
	if p.out == nil {
		return
	}
	url, _, _ = strings.Cut(url, "?")
	p.show(fmt.Sprintf("downloading %q: %.1f MiB", cut(path.Base(url)), float64(bytes)/(1<<20)))
}

// cut bounds what stands in the line.
func cut(name string) string {
	if len(name) > 60 {
		return name[:60]
	}
	return name
}

func (p *progress) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.out, command.ClearLine, line)
	p.shown = true
}

// done takes the line away.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.out, command.ClearLine)
	}
}
