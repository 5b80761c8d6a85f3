package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"symkit/internal/atomicfile"
	"symkit/internal/command"
	"symkit/internal/filename"
	"symkit/internal/par"
	"symkit/internal/quantity"
	"symkit/internal/remote"
	"symkit/internal/standin"
	"symkit/internal/worker"
	"symkit/walk"
	"symkit/walk/report"
	"symkit/walk/symbols"
)

// maxIdle is the most memory, in bytes, for symbols that no dump uses at the moment.
const maxIdle = 512 << 20

// extensions maps formats to the extensions of result files.
var extensions = map[string]string{"text": ".txt", "json": ".json", "machine": ".machine", "html": ".html"}

// batch walks many dumps at once, each on one processor. Symbols are read once for all
// dumps. A dump that fails costs one line on standard error.
func (c *cli) batch(ctx context.Context) (code int, err error) {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return command.Failed, command.Unreadable("--out", c.Out, err, "a directory, which is made if there is none")
	}

	syms, err := c.sources(ctx, maxIdle)
	if err != nil {
		return command.Failed, err
	}
	defer syms.Close()
	jobs := c.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}

	entries := make([]report.IndexEntry, len(c.Dumps))
	codes := slices.Repeat([]int{command.Failed}, len(c.Dumps))
	notes := &notes{out: c.stderr, held: map[int][]byte{}}
	err = par.For(ctx, jobs, len(c.Dumps), func(i int) error {
		var about bytes.Buffer
		codes[i] = c.one(ctx, c.Dumps[i], syms, &about, &entries[i])
		notes.put(i, about.Bytes())
		return nil
	})
	if err != nil {
		done := len(slices.DeleteFunc(codes, func(code int) bool { return code == command.Failed }))
		return command.Failed, fmt.Errorf("interrupted: %s of %s dumps are done, their results whole", quantity.Number(done), quantity.Number(len(c.Dumps)))
	}
	c.helped.tell(c.stderr)
	if c.Format == "html" {
		err = c.writeIndex(ctx, entries)
	}
	if err != nil || slices.Contains(codes, command.Failed) {
		return command.Failed, err
	}
	return slices.Max(codes), nil
}

// writeIndex writes index.html, the page about all dumps, beside the pages of the dumps.
func (c *cli) writeIndex(ctx context.Context, entries []report.IndexEntry) error {
	return atomicfile.Write(ctx, filepath.Join(c.Out, "index.html"), func(w io.Writer) error {
		return report.Index(w, "stackwalk "+command.Version(), entries)
	})
}

// one walks one of many dumps, writes its messages to stderr, and returns the exit
// code of a run with only this dump.
func (c *cli) one(ctx context.Context, path string, syms *symbols.Sources, stderr io.Writer, entry *report.IndexEntry) int {
	// The files of modules are closed after each dump.
	var about bytes.Buffer
	j := c.job(path, syms, &about)
	defer j.files.Close()
	page := url.URL{Path: "./" + remote.Name(path) + extensions["html"]}
	*entry = report.IndexEntry{Dump: remote.Shown(path), Page: page.String()}
	code, err := j.run(ctx, func(res *walk.Result) error {
		entry.Fill(res)
		to := filepath.Join(c.Out, remote.Name(path)+extensions[c.Format])
		return j.write(ctx, standin.Output{Path: to, Print: c.printer(ctx, path)}, res)
	})

	path = remote.Shown(path) // in messages
	if err != nil {
		_, named := errors.AsType[aboutDump](err)
		if !named {
			err = &filename.Error{Path: path, Err: err}
		}
		entry.Error = err.Error()
	}

	// Name the dump in each message.
	for _, line := range worker.Lines(about.String(), "stackwalk") {
		command.Line(stderr, "stackwalk: %s: %s", path, line)
	}
	switch {
	case err == nil && code == command.Bad:
		command.Line(stderr, "stackwalk: %s: warning: no stack goes beyond its first frame", path)
	case err != nil && ctx.Err() != nil: // reported once for all dumps
		return command.Failed
	case err != nil:
		command.Line(stderr, "stackwalk: error: %v", err)
	}
	if err != nil {
		return max(code, command.Failed)
	}
	return code
}

// notes writes the messages about each dump after those about the dumps before it.
type notes struct {
	out  io.Writer
	mu   sync.Mutex
	next int            // the first dump whose messages are not written yet
	held map[int][]byte // messages of later dumps
}

// put writes the messages about dump i, or holds them back.
func (n *notes) put(i int, text []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held[i] = text
	for {
		text, ok := n.held[n.next]
		if !ok {
			return
		}
		n.out.Write(text)
		delete(n.held, n.next)
		n.next++
	}
}
