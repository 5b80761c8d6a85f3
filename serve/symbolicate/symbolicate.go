// Package symbolicate answers what browsers, profilers and crash reporters ask a symbol server about addresses: the
// functions, source files and lines of stacks (POST /symbolicate/v5 and /symbolicate/v4, as Mozilla's Eliot and samply do),
// the text of a source file (/source/v1) and the instructions of a function (/asm/v1), as samply does for the Firefox
// Profiler.
//
//	server, err := symbolicate.New(store, symbolicate.Options{Memory: 1 << 30})
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	return http.ListenAndServe("localhost:8080", server)
//
// The symbols of a module are opened when a stack has the module, and stay open as far as Options.Memory allows. A module
// without symbols costs its frames their names alone.
package symbolicate

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"symkit/elfx"
	"symkit/lookup"
	"symkit/lookup/source"
)

// Store has the symbols and the files of modules. Its methods are called from any number of goroutines.
type Store interface {
	// Symbols opens the symbols of a module, by the name and the id of its MODULE record. The caller closes the file. The
	// error is fs.ErrNotExist if the store has none, and lookup.ErrOther if they cannot be read. Clients see the texts of
	// these two, and of no other error.
	Symbols(ctx context.Context, debugName, debugID string) (*lookup.File, error)
	// Executable opens the ELF file of a module, by its name, which may be empty, and its code id: the build id, in
	// hexadecimal. The caller closes the file. The error is fs.ErrNotExist if the store has none.
	Executable(ctx context.Context, name, codeID string) (*elfx.File, error)
}

// Options are the settings of a Server.
type Options struct {
	// Memory bounds the bytes of symbols that stay open and that no request uses; 0 is no bound.
	Memory int64
	// MaxAge is how long the symbols of a module are used before the store is asked again, since another server may have
	// replaced them; 0 means ten minutes.
	MaxAge time.Duration
	// Timeout bounds the time of a request; 0 means a minute.
	Timeout time.Duration
	// Sources say where source files are.
	Sources []source.Dir
	// Log, if not nil, is called with errors of the store that clients do not see.
	Log func(err error)
}

// Server answers requests. Its methods may be called from any number of goroutines.
type Server struct {
	store   Store
	opt     Options
	files   *lookup.Cache
	started time.Time
	sources *source.Dirs
}

// New returns the server of a store. The error is that of a directory of Options.Sources.
func New(store Store, opt Options) (s *Server, err error) {
	opt.MaxAge = cmp.Or(opt.MaxAge, 10*time.Minute)
	opt.Timeout = cmp.Or(opt.Timeout, time.Minute)
	if opt.Log == nil {
		opt.Log = func(error) {}
	}
	s = &Server{store: store, opt: opt, started: time.Now()}
	s.files = lookup.NewCache(opt.Memory, s.openModule)
	s.sources, err = source.Open(opt.Sources)
	if err != nil {
		s.files.Close()
		return nil, err
	}
	return s, nil
}

// Close closes all files. No request may be in progress.
func (s *Server) Close() {
	s.files.Close()
	s.sources.Close()
}

// Forget has the next request open the symbols of a module again, since the store has others now.
func (s *Server) Forget(debugName, debugID string) { s.files.Forget(s.key(debugName, debugID)) }

// askedKey is the key of a *bool in a context, which is set if the store is asked.
type askedKey struct{}

// key returns the key of a module in the cache. It changes after Options.MaxAge.
func (s *Server) key(name, id string) string {
	age := int64(time.Since(s.started) / s.opt.MaxAge)
	return name + "\n" + strings.ToUpper(id) + "\n" + strconv.FormatInt(age, 10)
}

// openModule opens the module of a key for the cache.
func (s *Server) openModule(ctx context.Context, key string) (*lookup.File, error) {
	asked, ok := ctx.Value(askedKey{}).(*bool)
	if ok {
		*asked = true
	}
	name, rest, _ := strings.Cut(key, "\n")
	id, _, _ := strings.Cut(rest, "\n")
	return s.store.Symbols(ctx, name, id)
}
