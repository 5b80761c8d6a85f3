package uploadtest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// recorder is a test that counts what the checker says.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// exchange is a request as a client of the protocol writes it, and what the server makes of it.
type exchange struct {
	method, path, kind, body string
	header                   string // NAME: VALUE
	status                   int
	answer                   string // a part
	wrong                    string // a part of what the checker says; empty: nothing
}

const (
	sym  = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nPUBLIC 10 0 f\n"
	name = "app/0123456789ABCDEF0123456789ABCDEF0"
)

// formOf returns a form as curl writes it.
func formOf(fields map[string]string, fileField, file, content string) string {
	var b strings.Builder
	for _, name := range []string{"code_file", "cpu", "debug_file", "debug_identifier", "os", "version", "prod"} {
		value, ok := fields[name]
		if ok {
			fmt.Fprintf(&b, "--b\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", name, value)
		}
	}
	fmt.Fprintf(&b, "--b\r\nContent-Disposition: form-data; name=%q; filename=%q\r\nContent-Type: application/octet-stream\r\n\r\n%s\r\n--b--\r\n", fileField, file, content)
	return b.String()
}

// TestBreakpadClient: the requests of Breakpad's sym_upload, as its sources make them, are right, and those with one
// mistake are not. (src/common/linux/symbol_upload.cc, symbol_collector_client.cc)
func TestBreakpadClient(t *testing.T) {
	v1 := map[string]string{"os": "Linux", "cpu": "x86_64", "debug_file": "app", "code_file": "app", "debug_identifier": "0123456789ABCDEF0123456789ABCDEF0"}
	changed := func(name, value string) map[string]string {
		m := map[string]string{}
		maps.Copy(m, v1)
		m[name] = value
		return m
	}
	const form = "multipart/form-data; boundary=b"
	complete := `{ symbol_id: {debug_file: "app", debug_id: "0123456789ABCDEF0123456789ABCDEF0" }, symbol_upload_type: "BREAKPAD" }`
	run(t, Options{Token: "K"}, []exchange{
		{method: "POST", path: "/breakpad?key=K", kind: form, body: formOf(v1, "symbol_file", "app.sym", sym), status: 200},
		{method: "POST", path: "/breakpad?key=K", kind: form, body: formOf(changed("version", "1.0"), "symbol_file", "app.sym", sym), status: 200},
		{method: "POST", path: "/breakpad?key=K", kind: form, body: formOf(changed("cpu", "x86"), "symbol_file", "app.sym", sym), status: 200, wrong: "is not Linux x86"},
		{method: "POST", path: "/breakpad?key=K", kind: form, body: formOf(changed("debug_identifier", "01234567-89ABCDEF"), "symbol_file", "app.sym", sym), status: 200, wrong: "fields"},
		{method: "POST", path: "/breakpad?key=K", kind: form, body: formOf(changed("prod", "x"), "symbol_file", "app.sym", sym), status: 200, wrong: `field "prod"`},
		{method: "POST", path: "/breakpad?key=K", kind: form, body: formOf(v1, "upload", "app.sym", sym), status: 400, wrong: "1 files"},
		{method: "POST", path: "/breakpad?key=X", kind: form, body: formOf(v1, "symbol_file", "app.sym", sym), status: 403},

		{method: "GET", path: "/breakpad/v1/symbols/" + name[:3] + "/" + strings.Repeat("1", 33) + ":checkStatus?key=K", status: 200, answer: `"status": "MISSING"`},
		{method: "GET", path: "/breakpad/v1/symbols/app/0123456789ABCDEF0123456789ABCDEF0:checkStatus?key=K", status: 200, answer: `"status": "FOUND"`},
		{method: "GET", path: "/breakpad/v1/symbols/app/0123:status?key=K", status: 200, wrong: "id"},
		{method: "POST", path: "/breakpad/v1/uploads:create?key=K", status: 200, answer: `"uploadKey": "k1"`},
		{method: "POST", path: "/breakpad/v1/uploads/k1:complete?key=K", kind: "application/son", body: complete, status: 400, wrong: "put:false"},
		{method: "PUT", path: "/breakpad-storage/k1?signature=x", body: sym, status: 200},
		{method: "POST", path: "/breakpad/v1/uploads/k1:complete?key=K", kind: "application/son", body: complete, status: 200, answer: `"result": "DUPLICATE_DATA"`},
		{method: "POST", path: "/breakpad/v1/uploads/k1:complete?key=K", kind: "text/plain", body: complete, status: 400, wrong: "text/plain"},
		{method: "POST", path: "/breakpad/v1/uploads/k1:complete?key=K", kind: "application/son", body: strings.Replace(complete, "BREAKPAD", "SYM", 1), status: 400, wrong: "SYM"},
		{method: "POST", path: "/breakpad/v1/uploads/k1:complete?key=K", kind: "application/son", body: strings.Replace(complete, "ABCDEF0\"", "ABCDEF1\"", 1), status: 200, wrong: "is not"},
		{method: "PUT", path: "/breakpad-storage/k1", body: sym, status: 200, wrong: "query"},
		{method: "PUT", path: "/breakpad-storage/k9?signature=x", body: sym, status: 404, wrong: "no such upload"},
	})
}

// TestMistakes: the checker finds the mistakes that clients of Tecken and Sentry could make.
func TestMistakes(t *testing.T) {
	const token, auth, json = "Auth-Token: T-ci", "Authorization: Bearer T", "application/json"
	file := func(key, size, md5 string) string {
		return fmt.Sprintf(`{"files": [{"key": %q, "size": %s, "md5_hash": %q}]}`, key, size, md5)
	}
	sum := strings.Repeat("0", 32)
	chunk := sha1sum([]byte("chunk"))
	dif := func(sum, id string, chunks string) string {
		return fmt.Sprintf(`{%q: {"name": "app.sym", "debug_id": %q, "chunks": [%s]}}`, sum, id, chunks)
	}
	const debugID = "01234567-89ab-cdef-0123-456789abcdef"
	const form = "multipart/form-data; boundary=b"
	run(t, Options{Token: "T", NoGzip: true}, []exchange{
		{method: "POST", path: "/upload/auth_info/", header: token, status: 200, answer: `"upload_api_version": 2`},
		{method: "POST", path: "/upload/auth_info/", status: 403, answer: "requires an Auth-Token"},
		{method: "POST", path: "/upload/auth_info/", header: "Auth-Token: U", status: 403, answer: "API Token not matched"},
		{method: "POST", path: "/upload/auth_info/", header: token, body: "x", status: 200, wrong: "a body of 1 bytes"},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: file(name+"/app.sym", "10", sum), status: 201, answer: `"content_encoding": "gzip"`},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: file("app/x/app.sym", "10", sum), status: 201, answer: "invalid key", wrong: "key"},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: file("é/1/app.sym", "10", sum), status: 201, answer: "invalid key", wrong: "key"},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: file(name+"/app.sym", "10", strings.Repeat("A", 32)), status: 201, answer: "invalid MD5", wrong: "MD5"},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: `{"files": []}`, status: 400, wrong: "0 files"},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: `{"files": [{"md5": ""}]}`, status: 400, wrong: "unknown field"},
		{method: "POST", path: "/upload/v2/", header: token, kind: "text/plain", body: file(name+"/app.sym", "10", sum), status: 400, wrong: "files"},
		{method: "PUT", path: "/storage/1?upload_id=1", header: token, body: "x", status: 200, wrong: "the token was sent"},
		{method: "POST", path: "/upload/v2/", header: token, kind: json, body: file(name+"/b.sym", "10", sum), status: 201},
		{method: "PUT", path: "/storage/2?upload_id=2", header: "Content-Range: bytes 0-99/200", body: strings.Repeat("x", 100), status: 308, wrong: "Content-Range"},
		{method: "PUT", path: "/storage/2?upload_id=2", header: "Content-Range: bytes */200", status: 308},
		{method: "PUT", path: "/storage/2?upload_id=2", header: "Content-Range: bytes 262144-262145/262146", body: "xx", status: 416, wrong: "after 0"},
		{method: "PUT", path: "/storage/2?upload_id=2", body: "not gzip", status: 200, wrong: "b.sym: unexpected EOF"},
		{method: "PUT", path: "/storage/9?upload_id=9", body: "x", status: 404},
		{method: "POST", path: "/upload/", header: token, kind: form, body: formOf(nil, "app.zip", "app.zip", "no zip"), status: 400, wrong: "not a valid zip"},
		{method: "POST", path: "/upload/", header: token, kind: form, body: formOf(nil, "app.tar", "app.tar", "no zip"), status: 400, wrong: `called "app.tar"`},

		{method: "GET", path: "/api/0/organizations/org/chunk-upload/", header: auth, status: 200, answer: `"hashAlgorithm": "sha1"`},
		{method: "GET", path: "/api/0/organizations/org/chunk-upload/", status: 401, answer: "Invalid token"},
		{method: "GET", path: "/api/0/organizations/other/chunk-upload/", header: auth, status: 404},
		{method: "POST", path: "/api/0/organizations/org/chunk-upload/", header: auth, kind: form, body: formOf(nil, "file", chunk, "chunk"), status: 200, wrong: "was not asked for"},
		{method: "POST", path: "/api/0/projects/org/app/files/difs/assemble/", header: auth, kind: json, body: dif(sha1sum([]byte("other")), debugID, `"`+sha1sum([]byte("other"))+`"`), status: 200, answer: "not_found"},
		{method: "POST", path: "/api/0/organizations/org/chunk-upload/", header: auth, kind: form, body: formOf(nil, "file", sha1sum([]byte("other")), "chunk"), status: 400, wrong: "a part"},
		{method: "POST", path: "/api/0/organizations/org/chunk-upload/", header: auth, kind: form, body: formOf(nil, "chunk", sha1sum([]byte("other")), "other"), status: 400, wrong: "a part"},
		{method: "POST", path: "/api/0/organizations/org/chunk-upload/", header: auth, kind: form, body: formOf(nil, "file", sha1sum([]byte("other")), "other"), status: 200},
		{method: "POST", path: "/api/0/projects/org/app/files/difs/assemble/", header: auth, kind: json, body: dif(sha1sum([]byte("other")), debugID, `"`+sha1sum([]byte("other"))+`"`), status: 200, answer: `"state":"ok"`},
		{method: "POST", path: "/api/0/projects/org/app/files/difs/assemble/", header: auth, kind: json, body: dif(sha1sum([]byte("x")), debugID, `"`+sha1sum([]byte("other"))+`"`), status: 200, answer: "checksum mismatch", wrong: "another sum"},
		{method: "POST", path: "/api/0/projects/org/app/files/difs/assemble/", header: auth, kind: json, body: dif(chunk, "0123", ``), status: 200, wrong: "0123"},
		{method: "POST", path: "/api/0/projects/org/app/files/difs/assemble/", header: auth, kind: json, body: `{}`, status: 400, wrong: "{}"},
		{method: "POST", path: "/api/0/projects/org/app/files/difs/assemble/", header: auth, kind: json, body: `{"x": {"id": 1}}`, status: 400, wrong: "unknown field"},
	})
}

// run makes the requests, one after the other.
func run(t *testing.T, opt Options, all []exchange) {
	t.Helper()
	r := &recorder{TB: t}
	s := New(r, opt)
	for _, e := range all {
		r.said = nil
		request, err := http.NewRequest(e.method, s.URL+e.path, strings.NewReader(e.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", "Breakpad/1.0 (Linux)")
		if e.kind != "" {
			request.Header.Set("Content-Type", e.kind)
		}
		name, value, ok := strings.Cut(e.header, ": ")
		if ok {
			request.Header.Set(name, value)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		said := strings.Join(r.said, "\n")
		if err != nil || response.StatusCode != e.status || !strings.Contains(string(body), e.answer) || (e.wrong == "") != (said == "") || !strings.Contains(said, e.wrong) {
			t.Errorf("%s %s %.60q: %d %s, %q; want %d %s, %q", e.method, e.path, e.body, response.StatusCode, body, said, e.status, e.answer, e.wrong)
		}
	}
}
