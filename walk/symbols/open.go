// Package symbols opens all sources of symbols at once: symbol stores, symbol files, symbol servers, buckets, the ELF
// files of the modules, and debuginfod servers.
//
//	s, err := symbols.Open(ctx, []string{"./store", "https://symbols.example.org", "s3://bucket/symbols"}, symbols.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	core, err := corefile.Open("core", corefile.Options{Files: s.Files()})
//	if err != nil {
//		return err
//	}
//	defer core.Close()
//	result, err := walk.Walk(ctx, core.Process, s, walk.Options{Prefetch: s.Online()})
//
// The packages below have each kind of source on its own.
package symbols

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"symkit/elfx/companion"
	"symkit/elfx/debuginfod"
	"symkit/internal/objects"
	"symkit/walk"
	"symkit/walk/symbols/elfsyms"
	"symkit/walk/symbols/sources"
	"symkit/walk/symserver"
)

// Options say where symbols come from, besides the paths of Open.
type Options struct {
	// Exe is the program's own file, if not empty.
	Exe string
	// Search says where binaries and debug files are looked for.
	Search companion.Search
	// Debuginfod fetches files of modules that are not on this machine; nil: nothing is fetched.
	Debuginfod *debuginfod.Client
	// PathsOnly leaves out the ELF files of the modules as a source.
	PathsOnly bool

	// Cache is the directory that keeps files from symbol servers. The default is symkit/symbols in the user's
	// cache directory.
	Cache string
	// MaxTime bounds one download from a symbol server; 0: symserver's bound.
	MaxTime time.Duration
	// Progress, Uncached and Waiting, if not nil, are called as those of symserver.Server.
	Progress func(url string, bytes int64)
	Uncached func(err error)
	Waiting  func(server string, waited, timeout time.Duration)

	// Keep is for many processes, which may be walked at the same time: symbols that no process uses stay in
	// memory for the next one, in about so many bytes. 0: the Sources is for one process, and keeps the files of its
	// modules open.
	Keep int64
	// Jobs is the number of goroutines that make symbols of one ELF file; 0 means one per processor.
	Jobs int
}

// Sources is a walk.Supplier of all sources: the paths in their order, then the ELF files.
type Sources struct {
	walk.Supplier
	opt    Options
	fetch  func(*walk.Module) (string, error)
	shared *sources.Shared // nil for one process
	files  *sources.Files  // nil for many processes
	// archives are the local paths of Open: archives, and directories that can have some.
	archives []string
	online   bool
}

// Open opens the sources at paths: directories, which are symbol stores, symbol files, and the addresses of symbol
// servers (https, http) and buckets (s3). It makes no request. ctx ends requests for the files of modules. The error
// is an fs.PathError for a path that cannot be read, and a symserver.ErrURL for an address that is none.
func Open(ctx context.Context, paths []string, opt Options) (*Sources, error) {
	s := &Sources{opt: opt, fetch: elfsyms.Fetch(ctx, opt.Debuginfod)}
	s.archives = slices.DeleteFunc(slices.Clone(paths), symserver.IsURL)
	paths = slices.DeleteFunc(slices.Clone(paths), isArchive)
	if opt.Keep == 0 {
		s.files = s.newFiles()
	}
	all, err := s.open(paths)
	if err != nil {
		return nil, err
	}

	// Symbol files are tried before ELF files, which complete them.
	if !opt.PathsOnly {
		for i := range all {
			all[i] = &sources.Sized{Supplier: all[i], Files: s.local}
		}
		all = append(all, elfFiles{s})
	}
	s.Supplier = sources.Chain(all...)
	if opt.Keep > 0 {
		s.shared = sources.NewShared(s.Supplier, opt.Keep)
		s.Supplier = s.shared
	}
	return s, nil
}

// isArchive reports whether a path is that of an archive on this machine.
func isArchive(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && sources.IsArchiveName(path)
}

// open opens the paths in their order.
func (s *Sources) open(paths []string) (all []walk.Supplier, err error) {
	for len(paths) > 0 {
		if symserver.IsURL(paths[0]) {
			server, err := s.server(paths[0])
			if err != nil {
				return nil, err
			}
			s.online = true
			all, paths = append(all, server), paths[1:]
			continue
		}

		// The paths up to the next URL are one store.
		n := slices.IndexFunc(paths, symserver.IsURL)
		if n < 0 {
			n = len(paths)
		}
		store, err := sources.NewStore(paths[:n])
		if err != nil {
			return nil, err
		}
		all, paths = append(all, store), paths[n:]
	}
	return all, nil
}

// server returns the symbol server or bucket at a URL.
func (s *Sources) server(url string) (*symserver.Server, error) {
	cache, noCache := s.opt.cache()
	server, err := symserver.New(url, cache)
	if err != nil {
		return nil, err
	}
	if objects.IsURL(url) {
		server.HTTP = objects.Client()
	}
	server.Progress, server.Waiting = s.opt.Progress, s.opt.Waiting
	server.MaxTime = cmp.Or(s.opt.MaxTime, server.MaxTime)
	if s.opt.Uncached != nil {
		server.Uncached = func(err error) { s.opt.Uncached(cmp.Or(noCache, err)) }
	}
	return server, nil
}

// cache returns the directory in which files from servers are kept.
func (o *Options) cache() (string, error) {
	if o.Cache != "" {
		return o.Cache, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "symkit", "symbols"), nil
}

// Online reports whether a symbol server or a bucket is among the sources: see walk.Options.Prefetch.
func (s *Sources) Online() bool { return s.online }

// Prefetch implements walk.Prefetcher.
func (s *Sources) Prefetch(ctx context.Context, m *walk.Module) bool {
	return s.Supplier.(walk.Prefetcher).Prefetch(ctx, m)
}

// Files returns a finder of the files of one process's modules, for the reader of a crash dump. The caller closes the
// finder after the walk.
func (s *Sources) Files() *sources.Files {
	if s.files != nil {
		return s.files
	}
	return s.newFiles()
}

// newFiles returns a finder that fetches what is not on this machine.
func (s *Sources) newFiles() *sources.Files {
	files := s.local()
	files.Fetch = s.fetch
	return files
}

// local returns a finder of files on this machine.
func (s *Sources) local() *sources.Files {
	return &sources.Files{Exe: s.opt.Exe, Search: s.opt.Search, Archives: s.archives}
}

// Close releases the symbols that are kept and the files of Files.
func (s *Sources) Close() (err error) {
	if s.files != nil {
		err = s.files.Close()
	}
	if s.shared != nil {
		err = errors.Join(err, s.shared.Close())
	}
	return err
}

// elfFiles makes symbols of ELF files.
type elfFiles struct{ s *Sources }

// Symbols implements walk.Supplier. For many processes, no file stays open.
func (e elfFiles) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	files := e.s.Files()
	if e.s.files == nil {
		defer files.Close()
	}
	made := elfsyms.Supplier{Files: files, Jobs: e.s.opt.Jobs, Remote: e.s.opt.Debuginfod}
	return made.Symbols(ctx, m)
}
