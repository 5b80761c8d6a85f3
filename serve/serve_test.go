package serve

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"symkit/dump"
	"symkit/elfx/companion"
	"symkit/serve/gate"
	"symkit/test/testfile"
)

const (
	fixtures = "../testdata/elf/"
	hello    = "hello-x86_64-gcc12-O2-dw5.elf"
	crash    = "crash-x86_64-gcc12-O2-dw5.elf"
	token    = "6f0c1b2e9d8a47c5b3a1f0e2d4c6b8a9"
)

// sample is a module of the fixtures with its symbols.
type sample struct {
	name, id, buildID string
	elf, sym          []byte
	poor              []byte // symbols without lines and calls
}

var samples sync.Map

// sampleOf dumps a fixture, once.
func sampleOf(t testing.TB, file string) *sample {
	t.Helper()
	known, ok := samples.Load(file)
	if ok {
		return known.(*sample)
	}
	data, err := testfile.Read(fixtures + file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), file)
	err = os.WriteFile(path, data, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := companion.Open(t.Context(), []string{path}, companion.Search{})
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	m, err := dump.Dump(t.Context(), img.Image, dump.Options{Inlines: true})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	err = m.Write(&text)
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{name: m.Name, id: m.ID, buildID: hex.EncodeToString(img.Image.BuildID()), elf: data, sym: text.Bytes()}
	for line := range bytes.Lines(s.sym) {
		if !bytes.HasPrefix(line, []byte("INLINE")) && !bytes.HasPrefix(line, []byte("FILE")) && !strings.ContainsRune("0123456789abcdef", rune(line[0])) {
			s.poor = append(s.poor, line...)
		}
	}
	samples.Store(file, s)
	return s
}

// key returns the address of the symbol file, without the first slash.
func (s *sample) key() string { return s.name + "/" + s.id + "/" + s.name + ".sym" }

// running is a server under test.
type running struct {
	*httptest.Server
	dir     string
	journal *lines
}

// lines is a writer that may be read at any time.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a server over a directory, in which uploads with the token are allowed.
func start(t testing.TB, dir string, opt Options) *running {
	t.Helper()
	if opt.Tokens == "" {
		opt.Tokens = filepath.Join(t.TempDir(), "tokens")
		err := os.WriteFile(opt.Tokens, []byte("ci upload "+token+"\nold upload 00000000000000000001 2020-01-01\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &running{dir: dir, journal: &lines{}}
	opt.Journal = r.journal
	s, err := New(t.Context(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		r.Server.Close()
		s.Close()
	})
	return r
}

// answer is an answer of a server.
type answer struct {
	status int
	header http.Header
	body   string
}

// do makes a request. Headers are NAME: VALUE.
func (r *running) do(t testing.TB, method, path string, body io.Reader, headers ...string) answer {
	t.Helper()
	at := path
	if !strings.HasPrefix(at, "http://") {
		at = r.URL + path
	}
	req, err := http.NewRequest(method, at, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// get makes a request without a body.
func (r *running) get(t testing.TB, path string, headers ...string) answer {
	t.Helper()
	return r.do(t, http.MethodGet, path, nil, headers...)
}

// put writes a file into the store, without the server.
func (r *running) put(t testing.TB, key string, data []byte) {
	t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(key))
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gunzipped(t testing.TB, text string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func sumOf(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// TestGet: symbol files come as they are stored, or inflated, in whole and in part.
func TestGet(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h := sampleOf(t, hello)
	for _, form := range []string{"", ".gz"} {
		data := h.sym
		if form != "" {
			data = gzipped(t, h.sym)
		}
		os.RemoveAll(filepath.Join(r.dir, h.name))
		r.put(t, h.key()+form, data)

		a := r.get(t, "/"+h.key(), "Accept-Encoding: gzip")
		text := a.body
		if form != "" {
			text = gunzipped(t, a.body)
		}
		wantEncoding := strings.TrimPrefix(strings.Replace(form, ".gz", "gzip", 1), ".")
		if a.status != 200 || text != string(h.sym) || a.header.Get("Content-Encoding") != wantEncoding || a.header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(a.header.Get("Cache-Control"), "max-age=604800") || a.header.Get("Content-Length") != fmt.Sprint(len(a.body)) {
			t.Errorf("%q: %d, %v", form, a.status, a.header)
		}

		// The id is upper-cased; a client without gzip gets the text.
		a = r.get(t, "/"+h.name+"/"+strings.ToLower(h.id)+"/"+h.name+".sym", "Accept-Encoding: gzip;q=0, identity")
		if a.status != 200 || a.body != string(h.sym) || a.header.Get("Content-Encoding") != "" {
			t.Errorf("%q: %d, %v", form, a.status, a.header)
		}
		tag := a.header.Get("ETag")
		part := r.get(t, "/"+h.key(), "Range: bytes=10-19", "If-Range: "+tag)
		if part.status != 206 || part.body != string(h.sym[10:20]) || part.header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", len(h.sym)) {
			t.Errorf("%q: %+v", form, part)
		}
		if a := r.get(t, "/"+h.key(), "If-None-Match: "+tag); a.status != 304 || a.body != "" {
			t.Errorf("%q: %+v", form, a)
		}
		head := r.do(t, http.MethodHead, "/"+h.key(), nil)
		if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != fmt.Sprint(len(h.sym)) {
			t.Errorf("%q: %+v", form, head)
		}
	}
}

// TestMissing: what is not there, and no file of the machine, is 404 for a short time.
func TestMissing(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	err := os.WriteFile(outside, []byte("secret"), 0o666)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, t.TempDir(), Options{})
	r.put(t, "app/AB12/app.sym", []byte("MODULE"))
	_ = os.Symlink(filepath.Dir(outside), filepath.Join(r.dir, "out")) // where no link can be made, the path is missing, too
	for _, path := range []string{
		"/app/AB13/app.sym", "/app/xy/app.sym", "/app/AB12/file.ptr", "/app/000000000000000000000000000000000/app.sym", "/app/AB12",
		"/..%2f..%2fapp/AB12/app.sym", "/app/AB12/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/AB12/app.sym", "/app/AB12/%00", "/.symkit/code/x", "/.symkit/uploads/session",
		"/app/AB12/" + strings.Repeat("a", 300), "/" + strings.Repeat("a/", 500), "/buildid/../x", "/buildid/ab/debuginfo", "/buildid/abcd/source", "/buildid/zz/executable",
		`/app/AB12/..\..\app.sym`,
	} {
		a := r.get(t, path)
		if a.status != 404 && a.status/100 != 3 || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	a := r.get(t, "/app/AB13/app.sym")
	if !strings.Contains(a.header.Get("Cache-Control"), "max-age=300") {
		t.Errorf("%v", a.header)
	}
	if a := r.get(t, "/out/AB/secret"); strings.Contains(a.body, "secret\n") || a.status == 200 {
		t.Errorf("%+v", a)
	}
}

// TestELF: debuginfod's addresses give files of the layouts of stores.
func TestELF(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h := sampleOf(t, hello)
	split := h.buildID[:2] + "/" + h.buildID[2:]
	for _, place := range []string{split + "/executable", split, ".build-id/" + split} {
		os.RemoveAll(filepath.Join(r.dir, h.buildID[:2]))
		r.put(t, place, h.elf)
		for _, kind := range []string{"executable", "debuginfo"} {
			a := r.get(t, "/buildid/"+h.buildID+"/"+kind)
			if a.status != 200 || a.body != string(h.elf) {
				t.Errorf("%s: %s: %d, %d bytes", place, kind, a.status, len(a.body))
			}
		}
	}
	if a := r.get(t, "/buildid/"+h.buildID+"/executable", "X-DEBUGINFOD-MAXSIZE: 100"); a.status != 406 {
		t.Errorf("%+v", a)
	}
}

// zipOf makes a zip file of names and contents.
func zipOf(t testing.TB, files ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i].(string))
		if err == nil {
			_, err = w.Write(files[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := z.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tecken sends a zip file by Tecken's first protocol.
func (r *running) tecken(t testing.TB, data []byte) answer {
	t.Helper()
	body, kind := formOf(t, "symbols.zip", data)
	return r.do(t, http.MethodPost, "/upload/", body, "Auth-Token: "+token+"-laptop", "Content-Type: "+kind)
}

// formOf makes a form of a file, and of fields NAME=VALUE.
func formOf(t testing.TB, field string, data []byte, fields ...string) (io.Reader, string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		err := w.WriteField(name, value)
		if err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile(field, field)
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &b, w.FormDataContentType()
}

// TestTecken: symbols that are sent are served; the same again is skipped; a better file replaces a worse one.
func TestTecken(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h, c := sampleOf(t, hello), sampleOf(t, crash)
	steps := []struct {
		sym     []byte
		status  int
		verdict gate.Verdict
		has     []byte // then
	}{
		{h.poor, 201, gate.New, h.poor}, {h.poor, 201, gate.Same, h.poor}, {h.sym, 201, gate.Better, h.sym}, {h.poor, 201, gate.Worse, h.sym}, {h.sym, 201, gate.Same, h.sym},
	}
	for i, step := range steps {
		a := r.tecken(t, zipOf(t, h.key(), step.sym, c.key(), c.sym, "firefox-symbols.txt", []byte("x")))
		var doc struct {
			Upload struct {
				Skipped []string `json:"skipped_keys"`
				User    string
			}
			Files []struct{ Verdict gate.Verdict }
		}
		err := json.Unmarshal([]byte(a.body), &doc)
		if err != nil || a.status != step.status || len(doc.Files) != 2 || doc.Files[0].Verdict != step.verdict || doc.Upload.User != "ci" {
			t.Fatalf("step %d: %v, %+v", i, err, a)
		}
		if kept := step.verdict == gate.New || step.verdict == gate.Better; kept == strings.Contains(fmt.Sprint(doc.Upload.Skipped), h.key()) {
			t.Errorf("step %d: skipped %q", i, doc.Upload.Skipped)
		}
		if got := r.get(t, "/"+h.key()); got.body != string(step.has) {
			t.Errorf("step %d: %d bytes, want %d", i, len(got.body), len(step.has))
		}
	}
	if n := strings.Count(r.journal.String(), "\n"); n != 2*len(steps) {
		t.Errorf("%d lines in the journal:\n%s", n, r.journal)
	}
	r.nothingLeft(t)
}

// nothingLeft wants no temporary file and no part of an upload in the store.
func (r *running) nothingLeft(t testing.TB) {
	t.Helper()
	for _, dir := range []string{"tmp", "uploads"} {
		_ = filepath.WalkDir(filepath.Join(r.dir, ".symkit", dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && d.Name() != "session" && !strings.HasSuffix(d.Name(), "done") {
				t.Errorf("left: %s", path)
			}
			return nil
		})
	}
}

// TestTeckenErrors: the texts of Tecken, and nothing is stored.
func TestTeckenErrors(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h := sampleOf(t, hello)
	good := zipOf(t, h.key(), h.sym)
	form := func(field string, data []byte, fields ...string) answer {
		body, kind := formOf(t, field, data, fields...)
		return r.do(t, http.MethodPost, "/upload/", body, "Auth-Token: "+token, "Content-Type: "+kind)
	}
	auth := func(value string) answer {
		body, kind := formOf(t, "a.zip", good)
		headers := []string{"Content-Type: " + kind}
		if value != "" {
			headers = append(headers, "Auth-Token: "+value)
		}
		return r.do(t, http.MethodPost, "/upload/", body, headers...)
	}
	for what, test := range map[string]struct {
		answer answer
		status int
		text   string
	}{
		"no token":    {auth(""), 403, "This requires an Auth-Token to authenticate the request"},
		"other token": {auth("abc"), 403, "API Token not matched"},
		"old token":   {auth("00000000000000000001"), 403, "API Token found but expired"},
		"no form":     {r.do(t, "POST", "/upload/", strings.NewReader("x"), "Auth-Token: "+token), 400, "Must be multipart form data with at least one file"},
		"extension":   {form("symbols.tar", good), 400, `Unrecognized archive file extension ".tar"`},
		"no zip":      {form("a.zip", []byte("no zip")), 400, "File is not a zip file"},
		"cut zip":     {form("a.zip", good[:len(good)-30]), 400, "File is not a zip file"},
		"empty zip":   {form("a.zip", zipOf(t)), 400, "has no symbol files"},
		"pattern":     {form("a.zip", zipOf(t, h.key(), h.sym, "x/y.sym", []byte{})), 400, "First unrecognized pattern was 'x/y.sym'"},
		"climbs":      {form("a.zip", zipOf(t, "../AB/x.sym", []byte{})), 400, "Unrecognized file pattern"},
		"twice":       {form("a.zip", zipOf(t, h.key(), h.sym, h.key(), h.poor)), 400, "two files both called " + h.key()},
		"try":         {form("a.zip", good, "try=1"), 400, "no symbols of try builds"},
		"insecure":    {form("a.zip", good, "url=http://x/"), 400, "Insecure URL"},
		"domain":      {form("a.zip", good, "url=https://example.org/a.zip"), 400, "Not an allowed domain ('example.org') to download from."},
		"other id":    {form("a.zip", zipOf(t, strings.ReplaceAll(h.key(), h.id, strings.Repeat("AB", 16)+"0"), h.sym)), 400, "but the MODULE record has " + h.id},
		"other name":  {form("a.zip", zipOf(t, strings.ReplaceAll(h.key(), h.name, "other"), h.sym)), 400, "the name in the request is other"},
		"no symbols":  {form("a.zip", zipOf(t, h.key(), []byte("\x7fELF"))), 400, "no MODULE record"},
		"not well":    {form("a.zip", zipOf(t, h.key(), append([]byte(nil), bytes.Replace(h.sym, []byte("\nFUNC "), []byte("\nFUNK x "), 1)...))), 400, "not well formed"},
	} {
		var doc struct{ Error string }
		err := json.Unmarshal([]byte(test.answer.body), &doc)
		if err != nil || test.answer.status != test.status || !strings.Contains(doc.Error, test.text) {
			t.Errorf("%s: %+v, want %d %s", what, test.answer, test.status, test.text)
		}
	}
	if a := r.get(t, "/"+h.key()); a.status != 404 {
		t.Errorf("something was stored: %+v", a)
	}
	r.nothingLeft(t)

	a := r.do(t, "POST", "/upload/auth_info/", nil, "Auth-Token: "+token)
	if a.status != 200 || !strings.Contains(a.body, `"email":"ci"`) || !strings.Contains(a.body, `"upload_api_version":2`) {
		t.Errorf("%+v", a)
	}
}

// TestSymbolicate: what is at an address, by the symbol file that the store has at the time.
func TestSymbolicate(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h := sampleOf(t, hello)
	_, at, ok := strings.Cut(string(h.sym), "\nFUNC ")
	addr, err := strconv.ParseUint(strings.Fields(at)[0], 16, 64)
	if err != nil || !ok {
		t.Fatal(err)
	}
	request := fmt.Sprintf(`{"jobs": [{"memoryMap": [[%q, %q], ["other", %q]], "stacks": [[[0, %d], [1, 1]]]}]}`, h.name, h.id, h.id, addr)
	for i, sym := range [][]byte{nil, h.poor, h.sym} {
		if sym != nil {
			r.tecken(t, zipOf(t, h.key(), sym))
		}
		a := r.do(t, "POST", "/symbolicate/v5", strings.NewReader(request))
		if a.status != 200 || strings.Contains(a.body, `"function":`) != (i > 0) || strings.Contains(a.body, `"line":`) != (i > 1) || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if a := r.do(t, "OPTIONS", "/symbolicate/v5", nil, "Access-Control-Request-Method: POST"); a.status != 200 || a.header.Get("Access-Control-Allow-Methods") != "POST" {
		t.Errorf("%+v", a)
	}
}

// TestCodeID: as at Mozilla's server, a symbol file is found by the name and the id of the code, as Windows' minidumps
// have them: the answer to GET and HEAD is 302, with the query.
func TestCodeID(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	const sym = "MODULE windows x86_64 44E4EC8C2F41492B9369D6B9A059577C2 two words.pdb\nINFO CODE_ID 5A49F5C1BEEF000 two words.dll\nFILE 0 a.c\nFUNC 1000 10 0 main\n1000 10 3 0\n"
	const key = "/two%20words.pdb/44E4EC8C2F41492B9369D6B9A059577C2/two%20words.sym"
	body, kind := formOf(t, "symbol_file", []byte(sym))
	if a := r.do(t, "POST", "/sym-upload?key="+token, body, "Content-Type: "+kind); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	for path, want := range map[string]string{
		"/two%20words.dll/5A49F5C1BEEF000/two%20words.sym":       key,
		"/two%20words.dll/5a49f5c1beef000/two%20words.sym?a=b&c": key + "?a=b&c",
		"/two%20words.dll/5A49F5C1BEEF001/two%20words.sym":       "",
		"/two%20words.dll/5A49F5C1BEEF000/two%20words.dll":       "",
		"/other.dll/5A49F5C1BEEF000/other.sym":                   "",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := r.do(t, method, path, nil)
			if status := map[bool]int{true: 302, false: 404}[want != ""]; a.status != status || a.header.Get("Location") != want {
				t.Errorf("%s %s: %d %s, want %s", method, path, a.status, a.header.Get("Location"), want)
			}
		}
	}
	if a := r.get(t, key); a.body != sym {
		t.Errorf("%+v", a)
	}
}
