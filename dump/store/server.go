package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"symkit/internal/upload"
)

// ErrToken: a server does not accept the token, or wants one. It is an ErrStore.
var ErrToken = upload.ErrToken

// server is the place of a store on a symbol server.
type server struct {
	upload.Server
	ctx  context.Context // of all requests
	base string
}

// OpenServer opens the store on a symbol server, whose address is tecken+https://HOST/ (Mozilla's),
// sentry+https://HOST/ORG/PROJECT or breakpad+https://HOST/PATH, and sends a request to see whether it can be used.
// token grants access, and may be empty. ctx is that of all requests of the store.
func OpenServer(ctx context.Context, address, token string, opt Options) (*Store, error) {
	s, err := upload.Open(ctx, address, token)
	if err != nil {
		return nil, err
	}
	base, _, _ := strings.Cut(address, "?")
	return &Store{&server{s, ctx, strings.TrimRight(base, "/")}, opt}, nil
}

func (s *server) close() error { return nil }

func (s *server) url(name string) string { return s.base + "/" + name }

// uploadKinds are the kinds of files that servers may take.
var uploadKinds = map[Kind]upload.Kind{Symbols: upload.Symbols, Executable: upload.Executable, DebugInfo: upload.DebugInfo}

func (s *server) paths(m Module, kind Kind, _ Options) (paths []string, err error) {
	k, known := uploadKinds[kind]
	if !known {
		return nil, errNoGSYM
	}
	paths, err = breakpadPaths(m, Symbols)
	for i, path := range paths {
		module, rest, _ := strings.Cut(path, "/")
		id, _, _ := strings.Cut(rest, "/")
		file := s.File(module, k)
		if file == "" && s.File(module, upload.DebugInfo) == "" {
			return nil, errNoELF
		}
		if file == "" {
			return nil, nil
		}
		paths[i] = module + "/" + id + "/" + file
	}
	return paths, err
}

func (s *server) has(names []string) (bool, error) {
	for _, name := range names {
		exists, err := s.Has(s.ctx, name)
		if err != nil || !exists {
			return false, err
		}
	}
	return true, nil
}

func (s *server) put(names []string, kind Kind, _ Options, write func(io.Writer) error) (Size, error) {
	sent, err := s.Send(s.ctx, names, uploadKinds[kind], write)
	if errors.Is(err, upload.ErrServer) {
		err = fmt.Errorf("%w: %w", ErrStore, err)
	}
	return Size{Text: sent.Text, Stored: sent.Bytes, Existed: sent.Existed}, explain(err)
}

// replace sends the file: the server decides.
func (s *server) replace(name string, opt Options, write func(io.Writer) error, _ func(io.Reader) (bool, error)) (Size, error) {
	return s.put([]string{name}, Symbols, opt, write)
}
