package main

import (
	"fmt"
	"path"
	"strings"

	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/internal/quantity"
	"symkit/walk"
)

// progress shows in the status line of a terminal which symbols are being loaded.
type progress struct {
	messages *command.Messages // nil: nothing is shown
}

// newProgress returns a progress that shows nothing unless standard error is a terminal.
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

// download shows the progress of a download from a debuginfod server.
func (p *progress) download(d debuginfod.Progress) {
	if p.messages == nil {
		return
	}

	// A debuginfod URL ends in the build id and the kind of the file.
	line := fmt.Sprintf("downloading %q: %s", cut(path.Base(path.Dir(d.URL))), quantity.Bytes(d.Done))
	if d.Total > 0 {
		line += " of " + quantity.Bytes(d.Total)
	}
	p.messages.Draw(line)
}

// fetched shows the progress of a download from a symbol server.
func (p *progress) fetched(url string, bytes int64) {
	if p.messages == nil {
		return
	}

	// The query is not part of the file's name.
	url, _, _ = strings.Cut(url, "?")
	p.messages.Draw(fmt.Sprintf("downloading %q: %s", cut(path.Base(url)), quantity.Bytes(bytes)))
}

// cut bounds the length of a name in the line.
func cut(name string) string {
	if len(name) > 60 {
		return name[:60]
	}
	return name
}

// done erases the line.
func (p *progress) done() {
	if p.messages != nil {
		p.messages.Erase()
	}
}
