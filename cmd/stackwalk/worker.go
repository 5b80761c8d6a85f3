package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"

	"symkit/internal/command"
	"symkit/internal/worker"
	"symkit/walk"
	"symkit/walk/report"
	"symkit/walk/symbols"
)

// Statuses of answers, besides worker.Failed.
const (
	walked  = "walked"
	noStack = "no-stack" // no stack goes beyond its first frame
)

// serve reads lines from standard input, walks the dump of each line, and writes a line of
// JSON for each line to standard output. Symbols that no dump uses are kept for later
// dumps, up to --memory.
func (c *cli) serve(ctx context.Context) (code int, err error) {
	syms, err := c.sources(ctx, cmp.Or(int64(c.Memory), maxIdle))
	if err != nil {
		return command.Failed, err
	}
	defer syms.Close()
	jobs := cmp.Or(c.Jobs, runtime.GOMAXPROCS(0))
	err = worker.Serve(ctx, os.Stdin, c.stdout, jobs, func(ctx context.Context, line string) worker.Answer {
		return c.answer(ctx, line, syms)
	})
	c.helped.tell(c.stderr)
	if err != nil {
		return command.Failed, err
	}
	return 0, nil
}

// answer walks the dump at a path or URL.
func (c *cli) answer(ctx context.Context, line string, syms *symbols.Sources) worker.Answer {
	if line == standardInput {
		return worker.Answer{Status: worker.Failed, Error: "-: standard input has the lines; give the path of a dump"}
	}
	var about, result bytes.Buffer
	j := c.job(line, syms, &about)
	defer j.files.Close()
	code, err := j.run(ctx, func(res *walk.Result) error { return report.JSON(j.bounded(ctx, &result), res) })

	a := worker.Answer{Status: walked, Result: json.RawMessage(bytes.TrimSpace(result.Bytes()))}
	for _, text := range worker.Lines(about.String(), "stackwalk") {
		a.Messages = append(a.Messages, strings.TrimPrefix(text, "warning: "))
	}
	switch {
	case err != nil:
		a.Status, a.Error, a.Result = worker.Failed, cmp.Or(context.Cause(ctx), err).Error(), nil
	case code == command.Bad:
		a.Status = noStack
	}
	return a
}
