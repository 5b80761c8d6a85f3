package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"symkit/internal/command"
	"symkit/internal/filename"
	"symkit/internal/par"
	"symkit/internal/quantity"
	"symkit/internal/remote"
	"symkit/internal/standin"
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

	// The messages about a dump are held back until those about the dumps before it are
	// written.
	index := newIndex(c.Dumps)
	notes := &notes{out: c.stderr, held: make([][]byte, len(c.Dumps)), codes: make([]int, len(c.Dumps))}
	err = par.For(ctx, jobs, len(c.Dumps), func(i int) error {
		notes.add(i, func(w io.Writer) int { return c.one(ctx, c.Dumps[i], syms, w, index.at(i)) })
		return nil
	})
	if err != nil {
		return command.Failed, fmt.Errorf("interrupted: %s of %s dumps are done, their results whole", quantity.Number(notes.done()), quantity.Number(len(c.Dumps)))
	}
	c.helped.tell(c.stderr)
	if c.Format == "html" {
		err = c.writeIndex(ctx, index)
		if err != nil {
			return command.Failed, err
		}
	}
	return notes.code(), nil
}

// one walks one of many dumps, writes its messages to stderr, and returns the exit
// code of a run with only this dump.
func (c *cli) one(ctx context.Context, path string, syms *symbols.Sources, stderr io.Writer, entry *report.IndexEntry) int {
	// The files of modules are closed after each dump.
	var about bytes.Buffer
	j := c.job(path, syms, &about)
	defer j.files.Close()
	code, err := j.run(ctx, func(res *walk.Result) error {
		entry.Fill(res)
		to := filepath.Join(c.Out, remote.Name(path)+extensions[c.Format])
		return j.write(ctx, standin.Output{Path: to, Print: c.printer(path)}, res)
	})

	path = remote.Shown(path) // in messages
	if err != nil {
		if _, named := errors.AsType[aboutDump](err); !named {
			err = &filename.Error{Path: path, Err: err}
		}
		entry.Error = err.Error()
	}

	// Name the dump in each message.
	for line := range strings.Lines(about.String()) {
		command.Line(stderr, "stackwalk: %s: %s", path, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "stackwalk: "))
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

// notes writes the messages about each dump in the order of the dumps.
type notes struct {
	out   io.Writer
	mu    sync.Mutex
	next  int      // the first dump whose messages are not written yet
	held  [][]byte // messages of the dumps from next on; nil: not done
	codes []int
}

// add calls work for dump i, and writes its messages after those of the dumps
// before it.
func (n *notes) add(i int, work func(io.Writer) int) {
	var b bytes.Buffer
	code := work(&b)

	n.mu.Lock()
	defer n.mu.Unlock()
	n.codes[i], n.held[i] = code, append([]byte{}, b.Bytes()...)

	// Write the messages of all dumps whose turn has come.
	for ; n.next < len(n.held) && n.held[n.next] != nil; n.next++ {
		n.out.Write(n.held[n.next])
		n.held[n.next] = []byte{}
	}
}

// done returns the number of dumps that were walked to the end.
func (n *notes) done() (done int) {
	for i, held := range n.held {
		if held != nil && n.codes[i] != command.Failed {
			done++
		}
	}
	return done
}

// code returns the exit code of the run: Failed if any dump failed, and otherwise the
// greatest.
func (n *notes) code() (code int) {
	for _, c := range n.codes {
		if c == command.Failed {
			return c
		}
		code = max(code, c)
	}
	return code
}
