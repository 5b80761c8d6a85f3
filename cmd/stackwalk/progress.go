package main

import (
	"fmt"
	"path"
	"strings"

	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/walk"
)

// progress tells in the status line of a terminal whose symbols are loaded.
type progress struct {
	messages *command.Messages // nil: nothing is told
}

func newProgress(messages *command.Messages) *progress {
	if messages.Columns() > 0 {
		return &progress{messages}
	}
	return &progress{}
}

// module shows that the symbols of m are being loaded.
func (p *progress) module(m *walk.Module) {
	if p.messages == nil {
		return
	}
	p.messages.Draw(fmt.Sprintf("loading symbols of %q", cut(m.Name)))
}

// download shows how much of a file a debuginfod server has sent.
func (p *progress) download(d debuginfod.Progress) {
	if p.messages == nil {
		return
	}
	line := fmt.Sprintf("downloading %q: %.1f", cut(path.Base(path.Dir(d.URL))), float64(d.Done)/(1<<20))
	if d.Total > 0 {
		line += fmt.Sprintf(" of %.1f", float64(d.Total)/(1<<20))
	}
	p.messages.Draw(line + " MiB")
}

// fetched shows how much of a file a symbol server has sent.
func (p *progress) fetched(url string, bytes int64) {
	if p.messages == nil {
		return
	}
	url, _, _ = strings.Cut(url, "?")
	p.messages.Draw(fmt.Sprintf("downloading %q: %.1f MiB", cut(path.Base(url)), float64(bytes)/(1<<20)))
}

// cut bounds what stands in the line.
func cut(name string) string {
	if len(name) > 60 {
		return name[:60]
	}
	return name
}

// done takes the line away.
func (p *progress) done() {
	if p.messages != nil {
		p.messages.Erase()
	}
}
