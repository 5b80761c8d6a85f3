package main

import (
	"context"
	"io"
	"net/url"
	"path/filepath"

	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/remote"
	"symkit/walk/report"
)

// index is the content of the page about many dumps. Each dump has an entry of its own, so
// that dumps can be walked at the same time.
type index struct{ entries []report.IndexEntry }

func newIndex(dumps []string) *index {
	x := &index{make([]report.IndexEntry, len(dumps))}
	for i, path := range dumps {
		name := remote.Name(path)
		x.entries[i] = report.IndexEntry{Dump: remote.Shown(path), Page: (&url.URL{Path: "./" + name + extensions["html"]}).String()}
	}
	return x
}

// at returns the entry of dump i.
func (x *index) at(i int) *report.IndexEntry { return &x.entries[i] }

// writeIndex writes index.html beside the pages of the dumps.
func (c *cli) writeIndex(ctx context.Context, x *index) error {
	return atomicfile.Write(ctx, filepath.Join(c.Out, "index.html"), func(w io.Writer) error {
		return report.Index(w, "stackwalk "+command.Version(), x.entries)
	})
}
