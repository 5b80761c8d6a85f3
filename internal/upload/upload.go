// Package upload sends symbol files, and other files of modules, to symbol servers: Mozilla's Tecken, Sentry, and
// servers that speak Breakpad's sym-upload protocols. The address of a server is that of its protocol:
// tecken+https://HOST/, sentry+https://HOST/ORG/PROJECT, breakpad+https://HOST/PATH.
//
//	s, err := upload.Open(ctx, "tecken+https://symbols.example.com/", token)
//	if err != nil {
//		return err
//	}
//	sent, err := s.Send(ctx, []string{"app/2A54ED33E19F4228D156B68A8DDEC66A0/app.sym"}, upload.Symbols, write)
//
// A file is kept in memory or in a temporary file until the server has it: all protocols want its size first, most its
// hash. Requests are repeated as package download does. The errors of requests say what is wrong and are of three
// kinds: ErrServer, ErrToken, which is an ErrServer, and others, which are about one file and begin with its key.
package upload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"symkit/internal/address"
	"symkit/internal/download"
)

// Kind is the content of a file.
type Kind uint8

// The kinds of files.
const (
	Symbols    Kind = iota // the symbol file
	Executable             // the ELF file that is loaded
	DebugInfo              // the ELF file with the debug information alone
)

// Sent is what became of a file.
type Sent struct {
	Text  int64 // the bytes of the file
	Bytes int64 // the bytes that the server keeps, which may be compressed
	// Existed is set if the server had the file.
	Existed bool
}

// Server is a symbol server that takes files. A key names a file: NAME/ID/FILE, the name and the id of the module and
// the name of the file. The methods may be called from any number of goroutines.
type Server interface {
	// File returns the name of a module's file of a kind, or "" if the server takes no such files.
	File(module string, kind Kind) string
	// Has reports whether the server has a file. A server that cannot tell has none.
	Has(ctx context.Context, key string) (bool, error)
	// Send sends the file that write writes, under each of the keys. write is called once. An error of write is
	// returned as it is.
	Send(ctx context.Context, keys []string, kind Kind, write func(io.Writer) error) (Sent, error)
}

// protocols have the functions that open servers, by the beginnings of their addresses.
var protocols = map[string]func(ctx context.Context, p *place, token string) (Server, error){
	"tecken": openTecken, "sentry": openSentry, "breakpad": openBreakpad,
}

// Schemes are those of addresses that Open takes. Each may have http in the place of https.
var Schemes = []string{"tecken+https", "sentry+https", "breakpad+https"}

// IsURL reports whether s is the address of a server.
func IsURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (slices.Contains(Schemes, scheme) || slices.Contains(Schemes, scheme+"s"))
}

// place is an address in parts.
type place struct {
	protocol string
	url      *url.URL // without a slash at the end
}

// secrets are the beginnings of the names of parameters whose values grant access.
var secrets = []string{"key", "api_key", "apikey", "api-key", "token", "auth", "access", "password", "secret", "sig"}

var (
	errPassword = errors.New("has a password; other users see command lines: leave it out, and give the token in a file or in the environment")
	errProject  = errors.New("names no project: want sentry+https://HOST/ORG/PROJECT")
	errHost     = errors.New("names no host")
	errQuery    = errors.New("has a query or a fragment, which this protocol does not use")
)

// Check returns an error about an address that Open would not take. It makes no request.
func Check(at string) error {
	_, err := parse(at)
	return err
}

// parse returns the parts of an address. A password or a token in it is an error: command lines are no place for these.
func parse(at string) (*place, error) {
	if !IsURL(at) {
		return nil, cmp.Or(address.Check(at, Schemes...), errHost)
	}
	protocol, rest, _ := strings.Cut(at, "+")
	u, err := url.Parse(rest)
	if err != nil {
		return nil, address.Error(err)
	}
	p := &place{protocol, u}
	return p, p.check(at)
}

// check returns an error about what an address has or lacks.
func (p *place) check(at string) error {
	u := p.url
	shown, _, fragment := strings.Cut(at, "#")
	named := func(err error) error { return fmt.Errorf("%v: %w", address.New(shown), err) }
	if u.User != nil {
		return named(errPassword)
	}
	if u.Host == "" {
		return named(errHost)
	}
	if u.RawQuery != "" && p.protocol != "breakpad" || fragment {
		return named(errQuery)
	}
	for name, values := range u.Query() {
		secret := slices.ContainsFunc(secrets, func(s string) bool { return strings.HasPrefix(strings.ToLower(name), s) })
		if secret && slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			return named(fmt.Errorf("has a value for %q; other users see command lines: leave the value out, and give it in a file or in the environment", name))
		}
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	if p.protocol == "sentry" && strings.Count(u.Path, "/") < 2 {
		return named(errProject)
	}
	return nil
}

// join returns the address of a path below that of the server, with a query.
func (p *place) join(path string, query url.Values) address.Address {
	u := *p.url
	u.RawQuery = query.Encode()
	text, rest, has := strings.Cut(u.String(), "?")
	text += path
	if has {
		text += "?" + rest
	}
	return address.New(text)
}

// client returns a client of the server.
func (p *place) client() *download.Client {
	return newClient((&url.URL{Scheme: p.url.Scheme, Host: p.url.Host, Path: p.url.Path}).String())
}

// The policy of uploads: a request is repeated for two and a half minutes.
const (
	attempts = 11
	// patience is how long a server may take and send nothing. Tecken unpacks and stores a zip file before it answers.
	patience = 5 * time.Minute
)

func newClient(server string) *download.Client {
	return &download.Client{Server: server, HTTP: network, Attempts: attempts, Backoff: backoff, Timeout: patience}
}

// network sends the requests, if a test sets it.
var network *http.Client

// backoff is the time before the first repetition. Tests change it.
var backoff = 500 * time.Millisecond

// Open returns the server at an address. token grants access and may be empty. Open sends a request to see whether the
// server can be used.
func Open(ctx context.Context, at, token string) (Server, error) {
	p, err := parse(at)
	if err != nil {
		return nil, err
	}
	if strings.Trim(token, printableASCII) != "" {
		return nil, fmt.Errorf("%w: it has characters that no token has", ErrToken)
	}
	s, err := protocols[p.protocol](ctx, p, token)
	if err != nil {
		return nil, err
	}
	return &guarded{Server: s}, nil
}

// guarded is a server that fails with one file, as a fault of the server's own may have it, but not with many.
type guarded struct {
	Server
	broken atomic.Int32 // files in succession
}

// mostBroken is how many files in succession a server may fail with.
const mostBroken = 3

// Send implements Server. An error of the server about the file begins with the key.
func (g *guarded) Send(ctx context.Context, keys []string, kind Kind, write func(io.Writer) error) (Sent, error) {
	var ownErr error
	sent, err := g.Server.Send(ctx, keys, kind, func(w io.Writer) error {
		ownErr = write(w)
		return ownErr
	})
	if err != nil && ownErr == nil && ctx.Err() == nil && !errors.Is(err, ErrServer) {
		err = fmt.Errorf("%s: %w", keys[0], err)
	}
	e, ok := errorOf(err)
	switch {
	case err == nil:
		g.broken.Store(0)
	case ok && e.Status == http.StatusInternalServerError && g.broken.Add(1) >= mostBroken:
		err = failed(err, err.Error(), ErrServer)
	}
	return sent, err
}

// printableASCII are the characters of tokens.
const printableASCII = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// split returns the parts of a key.
func split(key string) (module, id, file string) {
	module, rest, _ := strings.Cut(key, "/")
	id, file, _ = strings.Cut(rest, "/")
	return module, id, file
}

// symName returns the name of a module's symbol file: Breakpad replaces the ending .pdb, which modules of Windows have.
func symName(module string) string { return strings.TrimSuffix(module, ".pdb") + ".sym" }

// elfName returns the names of ELF files.
func elfName(module string, kind Kind) string {
	if kind == DebugInfo {
		return module + ".debug"
	}
	return module
}

// elsewhere returns an address that a server named for files. A server that is asked by https must not have the files
// sent without.
func (p *place) elsewhere(named string) (address.Address, error) {
	u, err := p.url.Parse(named)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != p.url.Scheme {
		return address.Address{}, fmt.Errorf("%w: it wants the file sent to %v", errAnswer, address.New(named))
	}
	return address.New(u.String()), nil
}
