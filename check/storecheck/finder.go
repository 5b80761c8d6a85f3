package storecheck

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"symkit/elfx"
	"symkit/elfx/companion"
	"symkit/elfx/identity"
	"symkit/internal/limitof"
	"symkit/internal/par"
	"symkit/internal/storefiles"
)

// finder finds the ELF files of modules.
type finder struct {
	s   *store
	opt *Options
	// The ELF files of the store, by build id, and those of Options.Files, by the id of the MODULE record and by build id.
	executables, debugs map[string]string
	modules             map[string]string
	files, fileDebugs   map[string]string
}

// newFinder indexes the files at hand.
func newFinder(ctx context.Context, s *store, all []place, opt *Options) (*finder, error) {
	f := &finder{s: s, opt: opt, executables: map[string]string{}, debugs: map[string]string{},
		modules: map[string]string{}, files: map[string]string{}, fileDebugs: map[string]string{}}
	for _, p := range all {
		switch p.Kind {
		case storefiles.Executable:
			f.executables[p.ID] = p.Key
		case storefiles.DebugInfo:
			f.debugs[p.ID] = p.Key
		}
	}
	var paths []string
	for _, path := range opt.Files {
		found, err := elfPaths(ctx, path)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	ids := make([]fileIDs, len(paths))
	done := 0
	var mu sync.Mutex
	err := par.For(ctx, opt.Jobs, len(paths), func(i int) error {
		ids[i] = f.identify(paths[i])
		mu.Lock()
		defer mu.Unlock()
		done++
		opt.Progress("reading the ELF files", done, len(paths))
		return nil
	})
	for i, path := range paths {
		id := &ids[i]
		if id.module == "" && id.build == "" {
			continue
		}
		if id.debug {
			keep(f.fileDebugs, id.build, path)
		}
		if id.loaded {
			keep(f.modules, id.module, path)
			keep(f.files, id.build, path)
		}
	}
	return f, err
}

// keep sets an entry that is not set.
func keep(all map[string]string, id, path string) {
	if id != "" {
		all[id] = cmp.Or(all[id], path)
	}
}

// elfPaths returns the file at a path, or the regular files below a directory.
func elfPaths(ctx context.Context, path string) (paths []string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	err = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return nil // what cannot be read has no ELF file to compare with
	})
	return paths, err
}

// fileIDs identify an ELF file.
type fileIDs struct {
	module, build string
	loaded, debug bool // has the bytes of the program, has debug information
}

// identify reads the ids of a file; they are empty for what is no ELF file.
func (f *finder) identify(path string) (ids fileIDs) {
	file, err := elfx.Options{Limits: f.opt.Limits}.Open(path)
	if err != nil {
		return ids
	}
	defer file.Close()
	ids.build = hex.EncodeToString(file.BuildID())
	ids.loaded, ids.debug = file.HoldsLoaded(), file.Section(".debug_info") != nil
	id, err := identity.Of(&elfx.Image{Main: file})
	if err == nil {
		ids.module = identity.ModuleID(id, file.BigEndian)
	}
	return ids
}

// target is the ELF file of a module, with all that belongs to it.
type target struct {
	*companion.Module
	from   string // where it was found
	stored bool   // in the store
	copies []*text
}

// close closes the files and removes the copies.
func (t *target) close() {
	if t.Module != nil {
		t.Close()
	}
	for _, c := range t.copies {
		c.close()
	}
}

// errOtherFile: the ELF file that the store has of a module is of another one.
var errOtherFile = errors.New("is of another module")

// find opens the ELF file of a module, of which a symbol file is at p. The target is nil if no such file is at hand.
func (f *finder) find(ctx context.Context, m *module, p place) (*target, error) {
	t := &target{}
	path, err := f.executable(ctx, m, p, t)
	if err == nil && path == "" {
		return nil, nil
	}
	if err == nil {
		search := f.opt.Search
		search.Limits = f.opt.Limits
		search.Open = func(id []byte) *elfx.File { return f.debugFile(ctx, hex.EncodeToString(id), t) }
		t.Module, _, err = companion.Open(ctx, []string{path}, search)
	}
	if err == nil {
		id, idErr := identity.Of(t.Image)
		if idErr != nil || identity.ModuleID(id, t.Image.Main.BigEndian) != m.ID {
			err = errOtherFile
		}
	}
	if err != nil {
		t.close()
		return &target{from: t.from}, err
	}
	return t, nil
}

// executable returns the path of a module's program: the file at hand that was loaded.
func (f *finder) executable(ctx context.Context, m *module, p place, t *target) (path string, err error) {
	ids := m.buildIDs(p)
	for _, id := range ids {
		key := f.executables[id]
		if key != "" {
			return f.fetch(ctx, key, t)
		}
	}
	path = f.modules[m.ID]
	for _, id := range ids {
		path = cmp.Or(path, f.files[id])
		build, err := hex.DecodeString(id)
		if err != nil || path != "" {
			continue
		}
		for _, candidate := range f.opt.Search.BuildIDPaths(build, "") {
			_, err := os.Stat(candidate)
			if err == nil {
				path = cmp.Or(path, candidate)
			}
		}
		if path == "" && f.opt.Executable != nil {
			path, err = f.opt.Executable(ctx, build)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.from = "debuginfod"
				return "", err
			}
		}
	}
	t.from = path
	return path, nil
}

// fetch returns the path of an ELF file of the store: of a copy if it is packed or not on this machine.
func (f *finder) fetch(ctx context.Context, key string, t *target) (path string, err error) {
	t.from, t.stored = f.s.path(key), true
	c, err := f.s.openText(ctx, key, limitof.Package, f.opt.Limits)
	if err != nil {
		return "", err
	}
	t.copies = append(t.copies, c)
	return c.path, nil
}

// debugFile opens the debug file of a build, or returns nil.
func (f *finder) debugFile(ctx context.Context, id string, t *target) *elfx.File {
	path := f.fileDebugs[id]
	key := f.debugs[id]
	if path == "" && key != "" {
		var err error
		from, stored := t.from, t.stored
		path, err = f.fetch(ctx, key, t)
		t.from, t.stored = from, stored
		if err != nil {
			return nil // the report says that there is no debug information
		}
	}
	if path == "" {
		return nil
	}
	file, err := elfx.Options{Limits: f.opt.Limits}.Open(path)
	if err != nil {
		return nil
	}
	return file
}
