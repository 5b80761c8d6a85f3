package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"symkit/elfx"
	"symkit/elfx/archive"
	"symkit/elfx/archive/pkg"
	"symkit/elfx/debuginfod"
	"symkit/elfx/identity"
	"symkit/internal/command"
	"symkit/lookup"
	"symkit/lookup/logs"
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
	finder *symbols.Sources   // finds files of modules: libraries in APKs
	found  sync.Map           // paths of files by reference
}

// reference is what a log says of a module.
type reference struct {
	module string
	offset uint64
	id     string
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
	m.finder, err = symbols.Open(ctx, f.Symbols, symbols.Options{PathsOnly: true, Jobs: f.Jobs, Search: search})
	e, isPath := errors.AsType[*fs.PathError](err)
	if isPath {
		err = command.Unreadable("--symbols", e.Path, err, "a symbol store, a symbol file or the URL of a symbol server")
	}
	if len(f.Symbols) > 0 {
		m.stores = m.finder
	}
	return m, err
}

func (m *modules) close() {
	if m.finder != nil {
		m.finder.Close()
	}
}

// open opens the file at a path, which may be compressed, or a member of an archive: "base.apk!/lib/arm64/libx.so".
func (m *modules) open(ctx context.Context, path string) (*lookup.File, error) {
	opt := m.opt
	outer, member, inside := strings.Cut(path, elfx.Separator)
	opt.Search.File = func(path string) (*elfx.File, error) {
		return pkg.Open(path, elfx.Options{Limits: opt.Search.Limits})
	}
	if inside {
		opt.Search.File = func(string) (*elfx.File, error) {
			return archive.Options{Limits: opt.Search.Limits}.OpenMember(outer, member)
		}
	}
	opt.Search.Open = func(id []byte) *elfx.File {
		return m.finder.Files().ArchivedDebug(&walk.Module{Path: path, Name: walk.BaseName(path), BuildID: id})
	}
	return lookup.Open(ctx, path, opt)
}

// elsewhere returns the path of a module that is not at the path in a log: of a library in the APK at that path or in an
// archive at hand, or of a file with its build id. It returns "" if there is none.
func (m *modules) elsewhere(r *logs.Reference) string {
	key := reference{r.Module, r.Offset, string(r.BuildID)}
	path, known := m.found.Load(key) // lines of one log name few modules
	if known {
		return path.(string)
	}
	of := &walk.Module{Path: r.Module, Offset: r.Offset, BuildID: r.BuildID}
	of.Name = of.File()
	found := ""
	inside := of.Offset != 0 || of.Name != walk.BaseName(r.Module)
	if inside || of.BuildID != nil { // else any library of the name would do
		file := m.finder.Files().Local(of)
		if file != nil {
			found = file.Path()
		}
	}
	path, _ = m.found.LoadOrStore(key, found)
	return path.(string)
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
