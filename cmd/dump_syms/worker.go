package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"

	"symkit/dump"
	"symkit/dump/batch"
	"symkit/internal/command"
	"symkit/internal/worker"
)

// serve reads lines from standard input, dumps the inputs of each line into the store, and
// writes a line of JSON for each line to standard output. A line has one path or URL, or
// several separated by tabs: a program and its debug file, or their packages. serve handles
// one line at a time, with all processors.
func (c *cli) serve(ctx context.Context, opt dump.Options) (code int, err error) {
	s, err := c.openStore(ctx)
	if err != nil {
		return command.Failed, err
	}
	defer s.Close()
	sources, err := c.openSources()
	if err != nil {
		return command.Failed, err
	}
	if sources != nil {
		defer sources.Close()
	}

	err = worker.Serve(ctx, os.Stdin, c.stdout, 1, func(ctx context.Context, line string) worker.Answer {
		var about, manifest bytes.Buffer
		one := *c // with arguments and messages of its own
		one.Paths, one.messages = strings.Split(line, "\t"), command.NewMessages("dump_syms", &about)
		one.stderr = one.messages
		b := newBatchRun(&one, opt)
		b.store, b.sources, b.manifest = s, sources, batch.NewManifest(&manifest)
		code, err := b.paths(ctx)
		one.messages.Close()

		a := worker.Answer{Status: statuses[code], Result: recordsOf(&manifest), Messages: worker.Lines(about.String(), "dump_syms")}
		if err != nil {
			a.Error = cmp.Or(context.Cause(ctx), err).Error()
		}
		return a
	})
	if err != nil {
		return command.Failed, err
	}
	return 0, nil
}

// statuses maps the exit code that a run with one line would have to the status of the
// line's answer.
var statuses = map[int]string{0: "done", command.Failed: worker.Failed, command.Bad: "bad", command.Misuse: worker.Failed}

// recordsOf returns the lines of a manifest as an array.
func recordsOf(manifest *bytes.Buffer) json.RawMessage {
	lines := bytes.Split(bytes.TrimSpace(manifest.Bytes()), []byte("\n"))
	return json.RawMessage("[" + string(bytes.Join(lines, []byte(","))) + "]")
}

// paths finds, groups and dumps the paths of the command line, without a summary.
func (b *batchRun) paths(ctx context.Context) (code int, err error) {
	found, err := b.find(ctx)
	if err != nil {
		return command.Failed, err
	}
	b.quiet = true
	return b.run(ctx, found)
}
