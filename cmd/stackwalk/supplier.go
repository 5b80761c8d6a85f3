package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"symkit/elfx/companion"
	"symkit/internal/command"
	"symkit/lookup"
	"symkit/lookup/source"
	"symkit/walk"
	"symkit/walk/report"
	"symkit/walk/symbols"
)

// sourceFiles finds the source files of the frames of a page.
func (c *cli) sourceFiles(ctx context.Context, res *walk.Result) (report.Sources, error) {
	finder, err := source.NewFinder(source.ParseDirs(c.SourceDir), lookup.Options{Search: companion.Search{Sysroots: c.Sysroot, DebugDirs: c.DebugDir}})
	if err != nil {
		return nil, fmt.Errorf("--source-dir: %w", err)
	}
	defer finder.Close()
	return report.FindSources(ctx, res, finder), nil
}

// sources opens all sources of symbols. Those of many dumps show no progress, because several dumps are walked at the
// same time; keep is symbols.Options.Keep for them.
func (c *cli) sources(ctx context.Context, keep int64) (*symbols.Sources, error) {
	opt := symbols.Options{
		Exe: c.Exe, Search: companion.Search{Sysroots: c.Sysroot, DebugDirs: c.DebugDir}, PathsOnly: c.NoELF, Cache: c.Cache,
		Uncached: c.stderr.Uncached("--cache"), Waiting: c.stderr.Waiting(""), Keep: keep, Jobs: c.Jobs,
	}
	if keep == 0 {
		opt.Progress = func(url string, done int64) { c.stderr.Downloading(url, done, 0) }
	}
	if c.other != nil {
		opt.MaxTime = c.other.MaxTime
	}
	var err error
	if !c.NoELF {
		opt.Debuginfod, err = c.stderr.Servers(keep > 0)
	}
	if err != nil {
		command.Line(c.stderr, "stackwalk: warning: %v", err)
		opt.Debuginfod = nil
	}

	s, err := symbols.Open(ctx, c.Symbols, opt)
	e, ok := errors.AsType[*fs.PathError](err)
	if ok {
		err = command.Unreadable("--symbols", e.Path, err, "a symbol store, a symbol file or the URL of a symbol server")
	}
	return s, err
}
