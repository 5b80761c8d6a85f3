package main

import (
	"context"

	"symkit/elfx/debuginfod"
	"symkit/internal/command"
	"symkit/lookup"
)

// fileFlags are the flags about files that all of symaddr's own command lines have.
type fileFlags struct {
	command.SearchFlags
	DwoDir     []string      `name:"dwo-dir" sep:"none" placeholder:"DIR" help:"Look for .dwo and .dwp files in DIR. May be repeated."`
	Debuginfod bool          `help:"Ask the servers of DEBUGINFOD_URLS for debug files."`
	Memory     command.Bytes `placeholder:"SIZE" help:"Keep what was read of files in about SIZE, as in 512M. Default: no bound."`
	Jobs       int           `short:"j" placeholder:"N" help:"Work on N processors. Default: all. The output is the same for any N."`
	Verbose    bool          `short:"v" help:"Write all warnings."`
}

// Validate is called by kong.
func (f *fileFlags) Validate() (err error) {
	f.Jobs, err = command.Jobs(f.Jobs)
	return err
}

// options returns how files are opened, and the client of --debuginfod or nil.
func (f *fileFlags) options(stderr *command.Messages) (lookup.Options, *debuginfod.Client, error) {
	opt := lookup.Options{Memory: int64(f.Memory), Jobs: f.Jobs}
	search, err := f.Search()
	if err != nil {
		return opt, nil, err
	}
	search.SplitDirs, opt.Search = f.DwoDir, search
	if !f.Debuginfod {
		return opt, nil, nil
	}
	client, err := stderr.Servers(true)
	if client != nil {
		opt.Search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return client.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	return opt, client, err
}
