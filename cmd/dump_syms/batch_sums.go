package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"symkit/dump/batch"
	"symkit/dump/store"
	"symkit/elfx"
	"symkit/internal/command"
	"symkit/internal/quantity"
)

// record counts an outcome and writes it to the manifest.
func (b *batchRun) record(r batch.Record) {
	b.mu.Lock()
	b.tally[r.Status]++
	b.recorded++
	b.symbols += r.SymbolBytes
	if b.Report != "" {
		b.report.Add(r)
	}
	b.mu.Unlock()
	b.manifest.Add(r)
}

// fail records a failure and writes it to standard error.
func (b *batchRun) fail(r batch.Record, err error) {
	r.Status, r.Error, r.Outputs = batch.Failed, err.Error(), nil
	if b.Done != "" {
		b.mu.Lock()
		for _, name := range []string{r.Input, r.Debug} {
			path, _, _ := strings.Cut(name, elfx.Separator)
			b.failedPackages[path] = true
		}
		b.mu.Unlock()
	}
	command.Line(b.messages, "dump_syms: error: %v", err)
	b.record(r)
}

// interrupted returns the error of a batch that ended before its
// end: err, how much is in the store, and how to continue if that is possible.
func (b *batchRun) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	} else if !errors.Is(err, store.ErrStore) {
		return err
	}

	again := "run the same command again to dump the rest"
	if b.Force {
		again = "run the same command without --force to dump the rest"
	}
	known := ""
	if b.more {
		known = " of the packages read so far"
	}
	return fmt.Errorf("%w: %s of %s modules%s are in the store, all of them whole; %s", err,
		quantity.Number(b.tally[batch.Written]+b.tally[batch.Existing]), quantity.Number(b.modules), known, again)
}

// summed counts modules with warnings of one kind, which a batch sums up in one line.
type summed struct {
	n        int
	warnings []string // of the last module
}

// sum notes the warnings of a module.
func (b *batchRun) sum(s *summed, warnings ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.n++
	s.warnings = warnings
}

// warnSums writes the warnings that sum has noted. A single module has its own warnings.
func (b *batchRun) warnSums() {
	for _, s := range []struct {
		*summed
		text string
	}{
		{&b.alone, "debug files have no binary beside them: these modules have the names of the debug files and no unwind rules; give the binaries, too"},
		{&b.stripped, "modules have no debug information: no functions, lines and inlined calls; dump the files as they were before strip, or give their debug files, --debug-dir or --sysroot"},
	} {
		if s.n > 1 {
			s.warnings = []string{quantity.Number(s.n) + " " + s.text + "; -v names the files"}
		}
		for _, warning := range s.warnings {
			command.Line(b.messages, "dump_syms: warning: %s", warning)
		}
	}
}

// summary writes how many modules were written, found or refused. A batch of one
// module has no summary, except with --verbose.
func (b *batchRun) summary() {
	n := b.modules
	if b.quiet || n == 1 && !b.Verbose.all() && b.shard.Count == 0 {
		return
	}

	var line bytes.Buffer
	fmt.Fprintf(&line, "dump_syms: ")
	if b.shard.Count > 0 {
		fmt.Fprintf(&line, "shard %s: ", b.shard)
	}
	line.WriteString(quantity.Number(n) + " modules")
	for _, t := range []struct {
		status batch.Status
		words  string
	}{
		{batch.Written, "written"}, {batch.Existing, "there before"}, {batch.NoModule, "without symbols"}, {batch.Before, "packages dumped before"},
		{batch.Duplicate, "duplicates"}, {batch.Failed, "failed"},
	} {
		if k := b.tally[t.status]; k > 0 || t.status == batch.Written {
			fmt.Fprintf(&line, ", %s %s", quantity.Number(k), t.words)
		}
	}

	fmt.Fprintf(&line, "; %s of symbols", quantity.Bytes(b.symbols))
	b.messages.Last("%s", &line)
}
