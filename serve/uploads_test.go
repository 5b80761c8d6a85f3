package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"symkit/elfx/debuginfod"
)

// symUpload does what Breakpad's sym_upload does in its second protocol, with the program's own regular expressions, and
// returns the result, or the answer that ended it. Each request may go to another server.
func symUpload(t *testing.T, servers []*running, sym []byte, name, id string, force bool) (result string, last answer) {
	t.Helper()
	n := 0
	next := func() *running { n++; return servers[n%len(servers)] }
	match := func(form, text string) string {
		found := regexp.MustCompile(form).FindStringSubmatch(text)
		if found == nil {
			return ""
		}
		return found[1]
	}
	if !force {
		last = next().get(t, "/v1/symbols/"+name+"/"+id+":checkStatus?key="+token)
		status := match(`"status": "([^"]+)"`, last.body)
		if last.status != 200 || status != "MISSING" {
			return status, last
		}
	}
	last = next().do(t, "POST", "/v1/uploads:create?key="+token, nil)
	at, key := match(`"uploadUrl": "([^"]+)"`, last.body), match(`"uploadKey": "([^"]+)"`, last.body)
	if at == "" || key == "" {
		return "", last
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	last = next().do(t, "PUT", u.Path, bytes.NewReader(sym))
	if last.status != 200 {
		return "", last
	}
	body := fmt.Sprintf(`{ symbol_id: {debug_file: "%s", debug_id: "%s" }, symbol_upload_type: "BREAKPAD" }`, name, id)
	last = next().do(t, "POST", "/v1/uploads/"+key+":complete?key="+token, strings.NewReader(body), "Content-Type: application/son")
	again := next().do(t, "POST", "/v1/uploads/"+key+":complete?key="+token, strings.NewReader(body))
	if again.status != last.status || again.body != last.body {
		t.Errorf("the same request again: %+v, not %+v", again, last)
	}
	return match(`"result": "([^"]+)"`, last.body), last
}

// TestBreakpad: both protocols of sym_upload; two servers share the store.
func TestBreakpad(t *testing.T) {
	dir := t.TempDir()
	a, b := start(t, dir, Options{}), start(t, dir, Options{})
	both := []*running{a, b}
	h := sampleOf(t, hello)
	for i, step := range []struct {
		sym    []byte
		force  bool
		result string
		status int
	}{
		{h.poor, false, "OK", 200}, {h.poor, false, "FOUND", 200}, {h.poor, true, "DUPLICATE_DATA", 200}, {h.sym, true, "OK", 200}, {h.poor, true, "", 409},
		{h.sym[100:], true, "", 400},
	} {
		result, last := symUpload(t, both, step.sym, h.name, h.id, step.force)
		if result != step.result || last.status != step.status {
			t.Errorf("step %d: %q, %+v", i, result, last)
		}
	}
	for name, status := range map[string]string{h.id: "FOUND", strings.Repeat("0", 33): "MISSING"} { // dump_syms asks for zeros
		if got := a.get(t, "/symbols/"+h.name+"/"+name+":checkStatus?key="+token); !strings.Contains(got.body, `"status": "`+status+`"`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := b.get(t, "/"+h.key()); got.body != string(h.sym) {
		t.Errorf("%d bytes, want %d", len(got.body), len(h.sym))
	}

	// The first protocol: a form.
	post := func(data []byte, fields ...string) answer {
		body, kind := formOf(t, "symbol_file", data, fields...)
		return a.do(t, "POST", "/sym-upload?key="+token, body, "Content-Type: "+kind)
	}
	hyphens := h.id[:8] + "-" + h.id[8:]
	for what, test := range map[string]struct {
		answer answer
		status int
		reason string
	}{
		"same":       {post(h.sym, "debug_file="+h.name, "debug_identifier="+hyphens, "os=Linux", "cpu=x86_64"), 200, "the store has this file"},
		"packed":     {post(gzipped(t, h.sym)), 200, "the store has this file"},
		"worse":      {post(h.poor), 409, "is better, and stays"},
		"other id":   {post(h.sym, "debug_identifier=AB"), 400, "the id in the request is AB"},
		"no file":    {a.do(t, "POST", "/sym-upload?key="+token, strings.NewReader("--x--\r\n"), "Content-Type: multipart/form-data; boundary=x"), 400, "no field symbol_file"},
		"no symbols": {post([]byte("\x7fELF")), 400, "no MODULE record"},
		"no token":   {a.do(t, "POST", "/sym-upload", nil), 403, "This requires an Auth-Token to authenticate the request"},
	} {
		if test.answer.status != test.status || !strings.Contains(test.answer.header.Get("Symserve-Reason"), test.reason) {
			t.Errorf("%s: %+v", what, test.answer)
		}
	}
	a.nothingLeft(t)
}

// announce asks by Tecken's second protocol to send files, and returns the actions.
func (r *running) announce(t *testing.T, files ...map[string]any) []struct{ Type, URL, Msg string } {
	t.Helper()
	text, err := json.Marshal(map[string]any{"files": files})
	if err != nil {
		t.Fatal(err)
	}
	a := r.do(t, "POST", "/upload/v2/", bytes.NewReader(text), "Auth-Token: "+token)
	var doc struct {
		ID       int64
		Protocol string `json:"upload_protocol"`
		Files    []struct {
			Action struct{ Type, URL, Msg string }
		}
	}
	err = json.Unmarshal([]byte(a.body), &doc)
	if err != nil || a.status != 201 || doc.Protocol != "gcs-resumable" || len(doc.Files) != len(files) {
		t.Fatalf("%v: %+v", err, a)
	}
	var actions []struct{ Type, URL, Msg string }
	for _, f := range doc.Files {
		actions = append(actions, f.Action)
	}
	return actions
}

// announced returns a file as the protocol announces it.
func announced(key string, data []byte) map[string]any {
	return map[string]any{"key": key, "size": len(data), "md5_hash": sumOf(data)}
}

// TestTeckenV2: files are announced, sent to their addresses at once or in parts, and skipped afterwards. Requests go to
// two servers in turn, one of which is started anew in the middle.
func TestTeckenV2(t *testing.T) {
	dir := t.TempDir()
	a, b := start(t, dir, Options{}), start(t, dir, Options{})
	h, c := sampleOf(t, hello), sampleOf(t, crash)
	actions := a.announce(t, announced(h.key(), h.sym), announced("../AB/x.sym", nil), map[string]any{"key": c.key(), "size": 1, "md5_hash": "X"}, announced(c.key(), c.sym))
	if actions[0].Type != "upload" || actions[1].Msg != "invalid key" || actions[2].Msg != "invalid MD5 hex digest" || actions[3].Type != "upload" {
		t.Fatalf("%+v", actions)
	}

	// At once.
	got := a.do(t, "PUT", actions[0].URL, bytes.NewReader(gzipped(t, h.sym)), "Content-Encoding: gzip")
	if got.status != 200 || a.get(t, "/"+h.key()).body != string(h.sym) {
		t.Errorf("%+v", got)
	}

	// In parts, as the text is: a part of 256 KiB would be all of it, so the parts are smaller than clients' are.
	packed := gzipped(t, c.sym)
	path := strings.TrimPrefix(actions[3].URL, a.URL)
	step, total := len(packed)/3, len(packed)
	servers := []*running{a, b}
	for i, from := 0, 0; from < total; i++ {
		r := servers[i%2]
		if i == 1 {
			servers[0] = start(t, dir, Options{}) // it has no memory of the first part
		}
		to := min(from+step, total)
		got := r.do(t, "PUT", path, bytes.NewReader(packed[from:to]), fmt.Sprintf("Content-Range: bytes %d-%d/%d", from, to-1, total))
		if to == total {
			if got.status != 200 {
				t.Fatalf("the end: %+v", got)
			}
		} else if got.status != 308 || got.header.Get("Range") != fmt.Sprintf("bytes=0-%d", to-1) {
			t.Fatalf("part %d: %+v", i, got)
		}
		asked := servers[(i+1)%2].do(t, "PUT", path, nil, fmt.Sprintf("Content-Range: bytes */%d", total))
		if to < total && (asked.status != 308 || asked.header.Get("Range") != fmt.Sprintf("bytes=0-%d", to-1)) || to == total && asked.status != 200 {
			t.Fatalf("after part %d: %+v", i, asked)
		}
		from = to
	}
	if b.get(t, "/"+c.key()).body != string(c.sym) {
		t.Error("other bytes are served")
	}
	actions = b.announce(t, announced(h.key(), h.sym), announced(c.key(), c.sym), announced(h.key(), h.poor))
	if actions[0].Type != "skip" || actions[1].Type != "skip" || actions[2].Type != "upload" {
		t.Errorf("%+v", actions)
	}
	if got := b.do(t, "PUT", actions[2].URL, bytes.NewReader(h.poor)); got.status != 409 || !strings.Contains(got.body, "is better, and stays") {
		t.Errorf("%+v", got)
	}
	a.nothingLeft(t)
}

// TestTeckenV2Errors: requests that are wrong, and bodies that are not what was announced.
func TestTeckenV2Errors(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	h := sampleOf(t, hello)
	post := func(body string) answer {
		return r.do(t, "POST", "/upload/v2/", strings.NewReader(body), "Auth-Token: "+token)
	}
	many := `{"files":[` + strings.Repeat(`{"key":"a"},`, 1024) + `{"key":"b"}]}`
	upload := func(files ...map[string]any) string { return r.announce(t, files...)[0].URL }
	at := upload(announced(h.key(), h.sym))
	for what, test := range map[string]struct {
		answer answer
		status int
		text   string
	}{
		"no JSON":      {post("{"), 400, "malformed JSON request body"},
		"no files":     {post("{}"), 400, "malformed JSON request body"},
		"too many":     {post(many), 400, "too many files"},
		"no token":     {r.do(t, "POST", "/upload/v2/", nil), 403, "This requires an Auth-Token to authenticate the request"},
		"other upload": {r.do(t, "PUT", "/upload/v2/ABCDEFGH/0", nil), 404, "no such upload"},
		"path":         {r.do(t, "PUT", "/upload/v2/..%2f..%2fx/0", nil), 404, "no such upload"},
		"other file":   {r.do(t, "PUT", strings.TrimSuffix(at, "0")+"7", nil), 404, "no such file"},
		"range":        {r.do(t, "PUT", at, strings.NewReader("x"), "Content-Range: bytes 5-1/2"), 400, "Content-Range"},
		"short":        {r.do(t, "PUT", at, strings.NewReader("x"), "Content-Range: bytes 0-1/2"), 400, "the body has 1 bytes"},
		"other bytes":  {r.do(t, "PUT", upload(announced(h.key(), h.sym)), bytes.NewReader(h.poor)), 400, "were announced"},
		"damaged":      {r.do(t, "PUT", upload(announced(h.key(), h.sym)), bytes.NewReader(gzipped(t, h.sym)[:300])), 400, "damaged"},
	} {
		if test.answer.status != test.status || !strings.Contains(test.answer.body, test.text) {
			t.Errorf("%s: %+v", what, test.answer)
		}
	}

	// After a refusal the client begins again at the same address.
	again := upload(announced(h.key(), h.sym))
	for i, body := range [][]byte{h.poor, h.sym} {
		a := r.do(t, "PUT", again, bytes.NewReader(body))
		if want := []int{400, 200}[i]; a.status != want {
			t.Errorf("%d: %+v", i, a)
		}
	}
	r.nothingLeft(t)
}

// TestBroken: of a body that breaks off, what has arrived is kept, and the client goes on there.
func TestBroken(t *testing.T) {
	r := start(t, t.TempDir(), Options{})
	text := bytes.Repeat([]byte("INFO x yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n"), 20000)
	h := sampleOf(t, hello)
	at := strings.IndexByte(string(h.sym), '\n') + 1
	sym := append(append(append([]byte(nil), h.sym[:at]...), text...), h.sym[at:]...)
	url := r.announce(t, announced(h.key(), sym))[0].URL

	req, err := http.NewRequest("PUT", url, io.MultiReader(bytes.NewReader(sym[:600000]), broken{}))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(sym))
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		t.Fatalf("%v", resp.Status)
	}
	const kept = 600000 - 600000%(256<<10)
	want := fmt.Sprintf("bytes=0-%d", kept-1)
	var asked answer
	for range 1000 { // the server may still be at it
		asked = r.do(t, "PUT", url, nil, fmt.Sprintf("Content-Range: bytes */%d", len(sym)))
		if asked.header.Get("Range") == want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if asked.status != 308 || asked.header.Get("Range") != want {
		t.Fatalf("%+v", asked)
	}
	rest := r.do(t, "PUT", url, bytes.NewReader(sym[kept:]), fmt.Sprintf("Content-Range: bytes %d-%d/%d", kept, len(sym)-1, len(sym)))
	if rest.status != 200 || r.get(t, "/"+h.key()).body != string(sym) {
		t.Errorf("%+v", rest)
	}
}

// broken is a body that breaks off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestCheck: a symbol file is compared with the ELF file of the upload or of the store, which debuginfod's clients get.
func TestCheck(t *testing.T) {
	r := start(t, t.TempDir(), Options{Accept: "check"})
	h := sampleOf(t, hello)
	wrong := bytes.Replace(h.sym, []byte(" main\n"), []byte(" another\n"), 1)
	elf := h.name + "/" + h.id + "/" + h.name
	a := r.tecken(t, zipOf(t, h.key(), wrong, elf, h.elf))
	if a.status != 400 || !strings.Contains(a.body, "does not say what the ELF file says") || !strings.Contains(a.body, `"against":"the upload"`) {
		t.Errorf("%+v", a)
	}
	a = r.tecken(t, zipOf(t, h.key(), wrong))
	if a.status != 400 || !strings.Contains(a.body, `"against":"the store"`) {
		t.Errorf("%+v", a)
	}
	if a := r.get(t, "/"+h.key()); a.status != 404 {
		t.Errorf("%+v", a)
	}
	a = r.tecken(t, zipOf(t, h.key(), h.sym))
	if a.status != 201 || !strings.Contains(a.body, `"verdict":"new"`) {
		t.Errorf("%+v", a)
	}
	for _, kind := range []string{"executable", "debuginfo"} {
		if a := r.get(t, "/buildid/"+h.buildID+"/"+kind); a.status != 200 || a.body != string(h.elf) {
			t.Errorf("%s: %d, %d bytes", kind, a.status, len(a.body))
		}
	}
	// An ELF file of another build is refused.
	c := sampleOf(t, crash)
	if a := r.tecken(t, zipOf(t, elf, c.elf)); a.status != 400 || !strings.Contains(a.body, c.buildID) {
		t.Errorf("%+v", a)
	}
	r.nothingLeft(t)
}

// TestLateELF: the ELF file of a module comes after the symbol file. A symbol file that is wrong leaves the store then, as
// if it had come later.
func TestLateELF(t *testing.T) {
	h := sampleOf(t, hello)
	elf := h.name + "/" + h.id + "/" + h.name
	wrong := bytes.Replace(h.sym, []byte(" main\n"), []byte(" another\n"), 1)
	withoutID := func(sym []byte) []byte {
		at, rest, _ := bytes.Cut(sym, []byte("\nINFO CODE_ID"))
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
		return append(append(bytes.Clone(at), '\n'), rest...)
	}
	for what, test := range map[string]struct {
		sym   []byte
		right bool // as far as it goes
		says  string
	}{
		"right": {h.sym, true, `"why":"the store had no such file"`}, "wrong": {wrong, false, "was moved to .symkit/refuted/"},
		"without lines": {h.poor, true, "stays until a better one comes"}, "without a code id": {withoutID(h.sym), true, "stays until a better one comes: the file does not say what the ELF file says: no INFO CODE_ID"},
	} {
		r := start(t, t.TempDir(), Options{Accept: "check"})
		if a := r.tecken(t, zipOf(t, h.key(), test.sym)); a.status != 201 {
			t.Errorf("%s: %+v", what, a)
		}
		a := r.tecken(t, zipOf(t, elf, h.elf))
		kept := fmt.Sprintf(".symkit/refuted/%s/%s/%s.sym", h.name, h.id, sumOf(test.sym))
		if a.status != 201 || !strings.Contains(a.body, test.says) || strings.Contains(a.body, kept) == test.right {
			t.Errorf("%s: %+v", what, a)
		}
		_, err := os.Stat(filepath.Join(r.dir, kept+".gz"))
		if (err != nil) != test.right {
			t.Errorf("%s: %v", what, err)
		}
		if a := r.get(t, "/"+h.key()); test.right && a.body != string(test.sym) || !test.right && a.status != 404 {
			t.Errorf("%s: %d", what, a.status)
		}
		if strings.Contains(r.journal.String(), `"verdict":"refuted"`) == test.right {
			t.Errorf("%s: %s", what, r.journal.String())
		}
		if a := r.tecken(t, zipOf(t, elf, h.elf, h.key(), h.sym)); a.status != 201 || r.get(t, "/"+h.key()).body != string(h.sym) {
			t.Errorf("%s: %+v", what, a)
		}
		r.nothingLeft(t)
	}
}

// TestDebuginfod: a symbol file is compared with the ELF file that a debuginfod server has. A server that is down is no
// reason to take nothing.
func TestDebuginfod(t *testing.T) {
	h := sampleOf(t, hello)
	down := false
	servers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down || r.URL.Path != "/buildid/"+h.buildID+"/executable" {
			http.Error(w, "", map[bool]int{true: 500, false: 404}[down])
			return
		}
		_, _ = w.Write(h.elf) // the client is gone
	}))
	defer servers.Close()
	wrong := bytes.Replace(h.sym, []byte(" main\n"), []byte(" another\n"), 1)
	for what, test := range map[string]struct {
		sym    []byte
		down   bool
		status int
		text   string
	}{
		"right": {h.sym, false, 201, `"against":"a debuginfod server"`}, "wrong": {wrong, false, 400, `"against":"a debuginfod server"`}, "down": {wrong, true, 201, `"verdict":"new"`},
	} {
		down = test.down
		r := start(t, t.TempDir(), Options{Accept: "check", Debuginfod: &debuginfod.Client{URLs: []string{servers.URL}, Cache: t.TempDir(), Timeout: time.Second}})
		if a := r.tecken(t, zipOf(t, h.key(), test.sym)); a.status != test.status || !strings.Contains(a.body, test.text) {
			t.Errorf("%s: %+v", what, a)
		}
	}
}
