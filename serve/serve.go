package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"symkit/elfx/debuginfod"
	"symkit/internal/objects"
	"symkit/lookup/source"
	"symkit/serve/gate"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/intake"
	"symkit/serve/internal/metrics"
	"symkit/serve/internal/tokens"
	"symkit/serve/internal/uploads"
	"symkit/serve/symbolicate"
)

// Options are the settings of a Server. The zero value is that of a server that takes nothing.
type Options struct {
	// Spool is the directory for temporary files. If it is empty, they are in the store or, for a bucket, in the
	// system's directory for such files.
	Spool string
	// MaxFile bounds a file in bytes, unpacked; 0 means 4 GiB.
	MaxFile int64
	// Tokens is the file of the tokens with which symbols may be sent (docs/serving.md), which is read again when it
	// changes. Without a file the server takes none.
	Tokens string
	// Accept says what symbol files must be; empty means gate.Lint.
	Accept gate.Accept
	// Debuginfod finds the ELF files that symbol files are compared with, beside those of the upload and of the store.
	Debuginfod *debuginfod.Client
	// Journal gets a line of JSON for each decision about a file; nil: none.
	Journal io.Writer
	// MaxUpload bounds the body of a request, MaxUnpacked what is unpacked of it, in bytes; 0 means 2 GiB and 16 GiB.
	MaxUpload, MaxUnpacked int64
	// Uploads is how many requests send files at one time, Memory what the examination of these takes together, in
	// bytes; 0 means 8 and 1 GiB.
	Uploads int
	Memory  int64
	// URL is the address of the server as clients know it; if it is empty, it is the one of each request.
	URL string
	// Timeout bounds the time of a request that sends files; 0 means 15 minutes.
	Timeout time.Duration
	// Keep bounds the bytes of symbols that stay open for requests about addresses (package symbolicate); 0 means 1 GiB.
	// Sources say where the source files are that such requests get.
	Keep    int64
	Sources []source.Dir
	// Requests is how many requests are answered at one time; 0 means 1,024. More get the status 503.
	Requests int
	// Stall is the time in which a client has to take or send 64 KiB, again and again; 0 means a minute.
	Stall time.Duration
	// Version is what /__version__ says about the program.
	Version string
	// Log, if not nil, is called with errors of the store, which clients see as a status alone.
	Log func(err error)
}

// Server is a symbol server. Its methods may be called from any number of goroutines.
type Server struct {
	opt    Options
	depot  depot.Depot
	intake *intake.Intake
	places *symbolicate.Server // answers what is at addresses
	mux    *http.ServeMux
	counts *metrics.Metrics
	slots  chan struct{} // of requests
}

// New opens the store at a path, or at the address s3://BUCKET/PREFIX of a bucket, and returns the server of it. ctx is
// that of opening the bucket.
func New(ctx context.Context, store string, opt Options) (*Server, error) {
	open := func() (depot.Depot, error) { return depot.OpenDirectory(store, opt.Spool) }
	if objects.IsURL(store) {
		open = func() (depot.Depot, error) { return depot.OpenBucket(ctx, store, opt.Spool) }
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	s, err := newServer(d, opt)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

// newServer returns the server of a depot.
func newServer(d depot.Depot, opt Options) (*Server, error) {
	opt.MaxFile = cmp.Or(opt.MaxFile, 4<<30)
	opt.MaxUpload, opt.MaxUnpacked = cmp.Or(opt.MaxUpload, 2<<30), cmp.Or(opt.MaxUnpacked, 16<<30)
	opt.Accept, opt.Uploads, opt.Memory, opt.Timeout = cmp.Or(opt.Accept, gate.Lint), cmp.Or(opt.Uploads, 8), cmp.Or(opt.Memory, 1<<30), cmp.Or(opt.Timeout, 15*time.Minute)
	opt.Requests = cmp.Or(opt.Requests, 1024)
	opt.Stall = cmp.Or(opt.Stall, time.Minute)
	s := &Server{opt: opt, depot: d, mux: http.NewServeMux(), counts: metrics.New(), slots: make(chan struct{}, opt.Requests)}
	s.opt.Log = func(err error) {
		s.counts.Error()
		if opt.Log != nil {
			opt.Log(err)
		}
	}

	desk := uploads.Options{URL: opt.URL, MaxUpload: opt.MaxUpload, MaxUnpacked: opt.MaxUnpacked, Uploads: opt.Uploads, Timeout: opt.Timeout, Stall: opt.Stall}
	if opt.Tokens != "" {
		known, err := tokens.Open(opt.Tokens, s.opt.Log)
		if err != nil {
			return nil, err
		}
		desk.Tokens = known
	}
	s.intake = intake.New(d, intake.Options{Accept: opt.Accept, Debuginfod: opt.Debuginfod, Journal: opt.Journal, MaxFile: opt.MaxFile, Memory: opt.Memory,
		Log: s.opt.Log, Count: s.counts.Decision, Changed: func(name, id string) { s.places.Forget(name, id) }})
	var err error
	s.places, err = symbolicate.New(&library{d, s.intake, opt.MaxFile}, symbolicate.Options{Memory: cmp.Or(opt.Keep, 1<<30), Sources: opt.Sources, Log: s.opt.Log})
	if err != nil {
		return nil, err
	}
	s.routes()
	uploads.New(s.intake, desk).Routes(s.mux)
	return s, nil
}

// Close closes the store. No request may be in progress.
func (s *Server) Close() error {
	s.places.Close()
	return s.depot.Close()
}

// Maintain removes what uploads that were given up have left in a directory, from time to time until ctx is done. Buckets
// have rules for that (docs/serving.md).
func (s *Server) Maintain(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		err := s.depot.Sweep(ctx, 2*uploads.Age)
		if err != nil && ctx.Err() == nil {
			s.opt.Log(fmt.Errorf("removing uploads that were given up: %w", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// routes says which method answers which requests.
func (s *Server) routes() {
	s.mux.HandleFunc("GET /{name}/{id}/{file}", s.symbolFile)
	s.mux.HandleFunc("GET /buildid/{id}/{kind}", s.elfFile)
	places := answered(s.places, s.opt.Timeout)
	for _, path := range []string{"/symbolicate/v4", "/symbolicate/v5", "/source/v1", "/asm/v1"} {
		for _, method := range []string{"POST", "OPTIONS", "GET"} {
			s.mux.Handle(method+" "+path, places)
		}
	}
	s.mux.HandleFunc("GET /{$}", s.front)
	s.mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		notFound(w, "no such address: the server has /NAME/ID/FILE and /buildid/ID/KIND")
	})
	s.mux.HandleFunc("OPTIONS /", s.preflight)
	s.mux.Handle("GET /metrics", s.counts.Handler())
	s.mux.HandleFunc("GET /__version__", s.version)
	s.mux.HandleFunc("GET /__lbheartbeat__", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "{}") })
	s.mux.HandleFunc("GET /__heartbeat__", s.health)
	s.mux.HandleFunc("GET /healthz", s.health)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	s.counts.Begin()
	paced := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), stall: s.opt.Stall}
	paced.renew()
	defer func() { s.counts.End(r.Pattern, paced.status, paced.sent, time.Since(began)) }()
	defer s.caught(paced, r)
	r.Body = &pacedBody{ReadCloser: r.Body, control: paced.control, stall: s.opt.Stall, end: began.Add(s.opt.Timeout)}
	allow(paced)
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		busy(paced)
		return
	}
	s.mux.ServeHTTP(paced, r)
}

// caught has a defect cost one request: its place goes to the log, and the client gets a status.
func (s *Server) caught(w *pacedWriter, r *http.Request) {
	why := recover()
	if why == nil {
		return
	}
	if why == http.ErrAbortHandler {
		panic(why)
	}
	s.opt.Log(fmt.Errorf("a defect: please report it: %s: %v\n%s", r.Pattern, why, debug.Stack()))
	if w.status == 0 {
		http.Error(w, "a defect of the server; its log has the place", http.StatusInternalServerError)
	}
}

// allow has browsers give what the server answers to pages of any origin: the answers depend on no cookies.
func allow(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
}

// preflight answers what browsers ask before other requests than the simplest.
func (s *Server) preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// front says what answers here.
func (s *Server) front(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, frontText)
}

const frontText = `This is a symbol server.

GET /NAME/ID/FILE         symbol files, as in /app/9393B68C623AA7237971790E89F1DBA90/app.sym
GET /buildid/ID/KIND      ELF files, as debuginfod has them: DEBUGINFOD_URLS is the address of this page
POST /symbolicate/v5      functions, files and lines of stacks, as Mozilla's Eliot has them

  stackwalk --symbols THIS-ADDRESS crash.dmp
  minidump-stackwalk --symbols-url THIS-ADDRESS crash.dmp
`

// version answers as Mozilla's servers do (Dockerflow).
func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{\"source\": \"symkit\", \"version\": %q, \"commit\": \"\", \"build\": \"\"}\n", s.opt.Version)
}

// health says whether the store can be read.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), storeTime)
	defer cancel()
	_, err := s.depot.Stat(ctx, depot.Private+"/health")
	if err != nil && !depot.Missing(err) {
		s.storeFailed(w, err)
		return
	}
	fmt.Fprintln(w, "ok")
}
