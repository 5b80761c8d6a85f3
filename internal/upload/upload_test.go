package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"symkit/internal/download"
	"symkit/test/uploadtest"
)

const id = "2A54ED33E19F4228D156B68A8DDEC66A0"

func TestMain(m *testing.M) {
	backoff, poll, partSize = 100*time.Microsecond, time.Millisecond, 256<<10
	os.Exit(m.Run())
}

// symbols returns a symbol file of a module, of about n bytes that gzip cannot make much smaller.
func symbols(module string, n int) []byte {
	random := rand.New(rand.NewPCG(uint64(n), uint64(len(module))))
	var text bytes.Buffer
	fmt.Fprintf(&text, "MODULE Linux x86_64 %s %s\n", id, module)
	for text.Len() < n {
		fmt.Fprintf(&text, "PUBLIC %x 0 f%x\n", text.Len(), random.Uint64())
	}
	return text.Bytes()
}

// writer writes a file in parts.
func writer(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for part := range bytes.Lines(data) {
			_, err := w.Write(part)
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// protocol is a server of one kind, as tests reach it.
type protocol struct {
	name, scheme, path string
	opt                uploadtest.Options
	key                func(module, file string) string // of uploadtest's files
}

func teckenName(module, file string) string { return module + "/" + id + "/" + file }
func sentryName(_, file string) string      { return file }
func breakpadName(module, _ string) string  { return module + "/" + id + "/BREAKPAD" }

var all = []protocol{
	{"tecken v2", "tecken", "/", uploadtest.Options{}, teckenName},
	{"tecken v2 by URL", "tecken", "/upload/v2/", uploadtest.Options{V1: true}, teckenName},
	{"tecken v1", "tecken", "", uploadtest.Options{V1: true}, teckenName},
	{"tecken v1 by URL", "tecken", "/upload/", uploadtest.Options{}, teckenName},
	{"tecken v1, old", "tecken", "/", uploadtest.Options{Old: true}, teckenName},
	{"sentry", "sentry", "/org/app", uploadtest.Options{ChunkSize: 64 << 10, RequestSize: 150 << 10, Polls: 2}, sentryName},
	{"sentry, plain", "sentry", "/org/app/", uploadtest.Options{ChunkSize: 1 << 20, NoGzip: true}, sentryName},
	{"breakpad v2", "breakpad", "/breakpad", uploadtest.Options{}, breakpadName},
	{"breakpad v1", "breakpad", "/breakpad", uploadtest.Options{Old: true}, breakpadName},
}

// open starts a server and opens it.
func (p *protocol) open(t *testing.T, change func(*uploadtest.Options)) (*uploadtest.Server, Server, error) {
	t.Helper()
	opt := p.opt
	opt.Token = "sesame-comment"
	if change != nil {
		change(&opt)
	}
	web := uploadtest.New(t, opt)
	s, err := Open(t.Context(), p.scheme+"+"+web.URL+p.path, "sesame-comment")
	return web, s, err
}

// each runs a test for each protocol.
func each(t *testing.T, test func(t *testing.T, p *protocol)) {
	for i := range all {
		t.Run(all[i].name, func(t *testing.T) { test(t, &all[i]) })
	}
}

// send sends a symbol file.
func send(ctx context.Context, s Server, module string, text []byte) (Sent, error) {
	return s.Send(ctx, []string{module + "/" + id + "/" + s.File(module, Symbols)}, Symbols, writer(text))
}

// TestSend: small and large files arrive, and are left alone the second time where the protocol says so.
func TestSend(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		web, s, err := p.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		for module, n := range map[string]int{"tiny": 1, "libz.so.1": 10_000, "two words+[a]": 300, "large": 1 << 20} {
			if p.scheme == "tecken" {
				module = strings.ReplaceAll(module, "[a]", "")
			}
			text := symbols(module, n)
			key := p.key(module, symName(module))
			sent, err := send(t.Context(), s, module, text)
			if err != nil || sent.Existed || sent.Text != int64(len(text)) || sent.Bytes <= 0 {
				t.Fatalf("%s: %+v, %v", module, sent, err)
			}
			if !bytes.Equal(web.Files()[key], text) {
				t.Fatalf("%s: %d bytes, not %d, have arrived", key, len(web.Files()[key]), len(text))
			}
			sent, err = send(t.Context(), s, module, text)
			if err != nil || !sent.Existed && p.name != "breakpad v1" {
				t.Errorf("again: %+v, %v", sent, err)
			}
			has, err := s.Has(t.Context(), module+"/"+id+"/"+symName(module))
			if want := p.scheme != "sentry" && p.name != "breakpad v1"; has != want || err != nil {
				t.Errorf("Has: %v, %v", has, err)
			}
			has, err = s.Has(t.Context(), module+"/"+strings.Repeat("1", 33)+"/"+symName(module))
			if has || err != nil {
				t.Errorf("Has of another id: %v, %v", has, err)
			}
		}
	})
}

// TestFaults: files arrive over a network and at a server that fail with a third of all requests.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		for seed := range uint64(3) {
			web, s, err := p.open(t, func(opt *uploadtest.Options) { opt.Fail = uploadtest.Random(seed, 0.3) })
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			texts := map[string][]byte{}
			for i := range 8 {
				module := fmt.Sprintf("m%d", i)
				texts[p.key(module, symName(module))] = symbols(module, 1000<<(i/2*2))
				all.Go(func() {
					_, err := send(t.Context(), s, module, symbols(module, 1000<<(i/2*2)))
					if err != nil {
						t.Errorf("%s: %v", module, err)
					}
				})
			}
			all.Wait()
			for key, text := range texts {
				if !bytes.Equal(web.Files()[key], text) {
					t.Errorf("%s: %d bytes, not %d", key, len(web.Files()[key]), len(text))
				}
			}
		}
	})
}

// TestTokens: a wrong token is an ErrToken, and in no message. Storages do not get the token: uploadtest sees to that.
func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		opt := p.opt
		opt.Token = "right"
		web := uploadtest.New(t, opt)
		for _, token := range []string{"", "wrongsesam"} {
			s, err := Open(t.Context(), p.scheme+"+"+web.URL+p.path, token)
			if err == nil { // a server without a request that could be refused before
				_, err = send(t.Context(), s, "a", symbols("a", 10))
			}
			if !errors.Is(err, ErrToken) || !errors.Is(err, ErrServer) || strings.Contains(err.Error(), "sesam") {
				t.Errorf("%q: %v", token, err)
			}
		}
		_, err := Open(t.Context(), p.scheme+"+"+web.URL+p.path, "sesam\r\nX: y")
		if !errors.Is(err, ErrToken) || strings.Contains(err.Error(), "sesam") {
			t.Errorf("a token of two lines: %v", err)
		}
	})
}

// TestRefused: what a server says about one file is the error of this file, and other files go on.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		web, s, err := p.open(t, func(opt *uploadtest.Options) {
			opt.Refuse = func(key string, _ []byte) string {
				if strings.Contains(key, "bad") {
					return "a bad\x1b file"
				}
				return ""
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		for _, module := range []string{"bad", "good", "fine"} {
			both.Go(func() {
				_, err := send(t.Context(), s, module, symbols(module, 100))
				bad := module == "bad"
				if bad != (err != nil) || errors.Is(err, ErrServer) || bad && !strings.Contains(err.Error(), `the server does not take the file`) || bad && !strings.Contains(err.Error(), `a bad\x1b file`) {
					t.Errorf("%s: %v", module, err)
				}
			})
		}
		both.Wait()
		if n := len(web.Files()); n != 2 {
			t.Errorf("%d files", n)
		}
	})
}

// TestDies: a server that is gone is an ErrServer, after which no time is lost with other files. A later run goes on.
func TestDies(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		web, s, err := p.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		web.Die(true)
		_, err = send(t.Context(), s, "a", symbols("a", 1<<20))
		if !errors.Is(err, ErrServer) || errors.Is(err, ErrToken) {
			t.Errorf("%v", err)
		}
		web.Die(false)
		_, err = send(t.Context(), s, "a", symbols("a", 1<<20))
		if err != nil {
			t.Error(err)
		}
	})
}

// TestWriteFails: an error of the file's writer is returned as it is, and nothing is sent.
func TestWriteFails(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		web, s, err := p.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := len(web.Requests())
		broken := errors.New("broken")
		_, err = s.Send(t.Context(), []string{"a/" + id + "/a.sym"}, Symbols, func(w io.Writer) error {
			_, _ = w.Write(symbols("a", 100))
			return broken
		})
		if !errors.Is(err, broken) || errors.Is(err, ErrServer) || len(web.Requests()) != before {
			t.Errorf("%v, %q", err, web.Requests())
		}
	})
}

// TestInternalError: a server that fails with one file is not given up, one that fails with all is.
func TestInternalError(t *testing.T) {
	web, s, err := all[2].open(t, func(opt *uploadtest.Options) {
		opt.Fail = func(_ int, r *http.Request) uploadtest.Fault {
			if r.URL.Path == "/upload/" {
				return uploadtest.Fault{Status: 500}
			}
			return uploadtest.Fault{}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostBroken {
		_, err := send(t.Context(), s, "a", symbols("a", 100))
		if err == nil || errors.Is(err, ErrServer) != (i == mostBroken-1) || !strings.Contains(err.Error(), "500 Internal Server Error: try again") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := len(web.Requests()); n != 1+attempts*mostBroken {
		t.Errorf("%d requests", n)
	}
}

// TestELF: the files that servers take beside symbol files.
func TestELF(t *testing.T) {
	for i, want := range []map[string]string{
		0: {"a/" + id + "/a.dbg.gz": "debug"}, 2: {"a/" + id + "/a.dbg.gz": "debug"},
		5: {"a": "program", "a.debug": "debug"}, 7: {"a/" + id + "/ELF": "program", "a/" + id + "/DEBUG_ONLY": "debug"}, 8: {},
	} {
		if want == nil {
			continue
		}
		p := all[i]
		web, s, err := p.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		for kind, text := range map[Kind]string{Executable: "program", DebugInfo: "debug"} {
			file := s.File("a", kind)
			if file == "" {
				continue
			}
			_, err := s.Send(t.Context(), []string{"a/" + id + "/" + file}, kind, writer([]byte(text)))
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
		}
		got := map[string]string{}
		for key, data := range web.Files() {
			got[key] = string(data)
			if strings.HasSuffix(key, ".gz") {
				got[key] = gunzipped(t, data)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", p.name, got, want)
		}
	}
}

// TestSeveralKeys: a file has several names where the protocol has names.
func TestSeveralKeys(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		if strings.HasPrefix(p.name, "breakpad") {
			return // the MODULE record has one name
		}
		web, s, err := p.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Send(t.Context(), []string{"a/" + id + "/a.sym", "b/" + id + "/b.sym"}, Symbols, writer(symbols("a", 100)))
		want := 2
		if p.scheme == "sentry" {
			want = 1
		}
		if err != nil || len(web.Files()) != want {
			t.Errorf("%d files, %v", len(web.Files()), err)
		}
	})
}

// TestAddresses: which addresses are taken, and what is said about others.
func TestAddresses(t *testing.T) {
	for at, want := range map[string]string{
		"tecken+https://symbols.example.com/":             "",
		"sentry+https://sentry.io/org/app":                "",
		"sentry+http://host:9000/below/org/app/":          "",
		"breakpad+https://host/post?appName=a&appVer=1.0": "",
		"breakpad+https://host/post?api_key=":             "",
		"sentry+https://sentry.io/org":                    "names no project",
		"sentry+https://sentry.io/":                       "names no project",
		"tecken+https:///x":                               "names no host",
		"tecken+https://user:sesam@host/":                 "has a password",
		"tecken+https://host/?try=1":                      "has a query",
		"breakpad+https://host/?key=sesam":                `has a value for "key"`,
		"breakpad+https://host/?Api_Key=sesam":            `has a value for "Api_Key"`,
		"tecken+ftp://host/":                              "not an address that is known",
		"tecken+https://ho st/sesam?x=y":                  "not a URL",
	} {
		err := Check(at)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil && strings.Contains(err.Error(), ":sesam") || err != nil && strings.Contains(err.Error(), "=sesam") {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestOtherServers: the answers of servers of other kinds.
func TestOtherServers(t *testing.T) {
	for _, body := range []string{"", "<html>", "[]", "{}", `{"upload_api_version": "x"}`, `{"status": 1}`, `{"url": "x", "chunkSize": -1}`, strings.Repeat("x", 5<<20)} {
		each(t, func(t *testing.T, p *protocol) {
			web := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
			s, err := Open(t.Context(), p.scheme+"+"+web+p.path, "")
			if err == nil {
				_, err = send(t.Context(), s, "a", symbols("a", 10))
			}
			// Version 1 of Breakpad's protocol has an answer of 200 alone.
			if !errors.Is(err, ErrServer) && p.scheme != "breakpad" {
				t.Errorf("%.40q: %v", body, err)
			}
		})
	}
	for _, status := range []int{301, 302, 307, 400, 401, 403, 404, 410, 413, 501} {
		each(t, func(t *testing.T, p *protocol) {
			web := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://sesam:sesam@elsewhere.example.com/")
				w.WriteHeader(status)
			})
			s, err := Open(t.Context(), p.scheme+"+"+web+p.path, "")
			if err == nil {
				_, err = send(t.Context(), s, "a", symbols("a", 10))
			}
			if err == nil || strings.Contains(err.Error(), "sesam") {
				t.Errorf("%d: %v", status, err)
			}
		})
	}
}

// TestLateAnswers: sessions that a storage has forgotten are begun anew, and errors without end are given up.
func TestLateAnswers(t *testing.T) {
	for _, i := range []int{0, 7} {
		p := all[i]
		var lost int
		_, s, err := p.open(t, func(opt *uploadtest.Options) {
			opt.Fail = func(_ int, r *http.Request) uploadtest.Fault {
				if strings.Contains(r.URL.Path, "storage") && lost < 2 {
					lost++
					return uploadtest.Fault{Status: 410}
				}
				return uploadtest.Fault{}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = send(t.Context(), s, "a", symbols("a", 1<<20))
		if err != nil || lost != 2 {
			t.Errorf("%s: %d, %v", p.name, lost, err)
		}
		lost = -10
		_, err = send(t.Context(), s, "b", symbols("b", 1<<20))
		if err == nil || errors.Is(err, ErrServer) || lost != -10+sessions {
			t.Errorf("%s: %d, %v", p.name, lost, err)
		}
	}
}

// TestCancel: the error is the context's, and no request is repeated.
func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, p *protocol) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		opened := false
		_, s, err := p.open(t, func(opt *uploadtest.Options) {
			opt.Fail = func(int, *http.Request) uploadtest.Fault {
				if opened {
					cancel(stop)
					return uploadtest.Fault{Status: 503}
				}
				return uploadtest.Fault{}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		opened = true
		_, err = send(ctx, s, "a", symbols("a", 100))
		if !errors.Is(err, stop) {
			t.Error(err)
		}
	})
}

var _ download.Content = (*zipContent)(nil)
