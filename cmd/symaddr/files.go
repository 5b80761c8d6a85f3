package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"symkit/elfx/debuginfod"
	"symkit/elfx/identity"
	"symkit/internal/command"
	"symkit/lookup"
	"symkit/walk"
	"symkit/walk/symbols"
)

// fileFlags are the flags about files that all of symaddr's own command lines have.
type fileFlags struct {
	Symbols []string `short:"s" sep:"none" placeholder:"PATH" help:"Symbol store, or URL of a symbol server or bucket (s3://BUCKET/PREFIX): for modules that are not on this machine, by build id. May be repeated."`
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

// modules opens files of modules.
type modules struct {
	opt    lookup.Options
	client *debuginfod.Client // of --debuginfod, or nil
	stores *symbols.Sources   // those of --symbols, or nil
}

// modules returns how files are opened. The caller closes the result.
func (f *fileFlags) modules(ctx context.Context, stderr *command.Messages) (*modules, error) {
	search, err := f.Search()
	if err != nil {
		return nil, err
	}
	search.SplitDirs = f.DwoDir
	m := &modules{opt: lookup.Options{Search: search, Memory: int64(f.Memory), Jobs: f.Jobs}}
	if f.Debuginfod {
		m.client, err = stderr.Servers(true)
		if err != nil {
			return nil, err
		}
	}
	if m.client != nil {
		m.opt.Search.Fetch = func(ctx context.Context, id []byte) (string, error) {
			return m.client.Find(ctx, id, debuginfod.DebugInfo)
		}
	}
	if len(f.Symbols) > 0 {
		m.stores, err = symbols.Open(ctx, f.Symbols, symbols.Options{PathsOnly: true, Jobs: f.Jobs})
	}
	return m, err
}

func (m *modules) close() {
	if m.stores != nil {
		m.stores.Close()
	}
}

// find opens the file of a module on this machine. Of a file that is not here, servers may have the file, whose segments
// are known, or at least the debug file, and stores may have the symbols.
func (m *modules) find(ctx context.Context, path, id string) (*lookup.File, error) {
	buildID, err := hex.DecodeString(id)
	if err != nil {
		return nil, err
	}
	local := m.opt
	local.Search.Fetch = nil
	f, err := lookup.OpenModule(ctx, path, buildID, local)
	if len(buildID) == 0 || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if m.client != nil {
		var fetched string
		fetched, err = m.client.Find(ctx, buildID, debuginfod.Executable)
		if err == nil {
			return lookup.Open(ctx, fetched, m.opt)
		}
		f, err = lookup.OpenModule(ctx, path, buildID, m.opt)
	}
	if err != nil && m.stores != nil && path != "" {
		return m.stored(ctx, filepath.Base(path), buildID)
	}
	return f, err
}

// errNotStored: --symbols has no symbols of a module.
var errNotStored = errors.New("--symbols has no symbols of this module")

// stored gets the symbols of the module with a name, or a path, and a build id from the stores.
func (m *modules) stored(ctx context.Context, name string, buildID []byte) (*lookup.File, error) {
	s := m.stores.Symbols(ctx, &walk.Module{Path: name, Name: name, BuildID: buildID, DebugID: identity.ModuleID(buildID, false)})
	if s == nil || s.Index == nil {
		return nil, fmt.Errorf("%s, build id %x: %w", name, buildID, errNotStored)
	}
	release := func() {
		if s.Close != nil {
			_ = s.Close() // of a file that was read
		}
	}
	return lookup.FromIndex(name, buildID, s.Index, s.Heap, m.opt, release), nil
}
