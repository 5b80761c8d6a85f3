package cluster

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSymserveStores: two servers over one bucket of other services: moto, and Google's, whose names and conditions differ.
// Of two files of a module that are sent at the same time the better one stays; a symbol file that an ELF file refutes
// leaves the bucket.
func TestSymserveStores(t *testing.T) {
	for name, open := range map[string]func(*testing.T) []string{"moto": motoStore, "Google": googleStore} {
		t.Run(name, func(t *testing.T) {
			c := newTraffic(t, "s3://"+bucket+"/prod", open(t), 200, "--accept", "check")
			c.run(t, 4000)
			c.compare(t)
			c.refute(t)
			t.Logf("%d uploads, repeated %d times, %d lookups, %d found", c.uploads.Load(), c.retries.Load(), 4000, c.found.Load())
			for _, s := range c.servers {
				s.kill()
				log, err := os.ReadFile(s.journal + ".log")
				if err != nil || strings.Contains(string(log), "error") {
					t.Errorf("%v: %.2000s", err, log)
				}
			}
		})
	}
}

// refute sends a wrong symbol file of a program of this machine, then the program.
func (c *traffic) refute(t *testing.T) {
	t.Helper()
	const program = "/usr/bin/env"
	elf, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	sym, err := exec.Command(filepath.Join(programs(t), "dump_syms"), program).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(sym))
	m := &module{name: "env", id: words[3]}
	wrong := bytes.Replace(sym, []byte(" .cfa: $rsp 8 +"), []byte(" .cfa: $rsp 24 +"), 1)
	if bytes.Equal(wrong, sym) {
		t.Fatal("no rule of the program can be made wrong")
	}
	zipOf := func(key string, data []byte) (body []byte, kind string) {
		var b, form bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create(key)
		_, _ = w.Write(data) // into memory
		z.Close()
		f := multipart.NewWriter(&form)
		part, _ := f.CreateFormFile("symbols.zip", "symbols.zip")
		_, _ = part.Write(b.Bytes())
		f.Close()
		return form.Bytes(), f.FormDataContentType()
	}
	for i, step := range []struct {
		key    string
		data   []byte
		status int    // of the upload
		there  []byte // the symbols afterwards
	}{{m.key(), wrong, 201, wrong}, {"env/" + m.id + "/env", elf, 201, nil}, {m.key(), wrong, 400, nil}, {m.key(), sym, 201, sym}, {m.key(), wrong, 400, sym}} {
		body, kind := zipOf(step.key, step.data)
		status, _, text := ask(c.servers, "POST", "/upload/", body, "Auth-Token", serveToken, "Content-Type", kind)
		if status != step.status {
			t.Errorf("step %d: %d %s", i, status, text)
		}
		for j := range c.servers {
			status, _, text := ask(c.servers[j:j+1], "GET", "/"+m.key(), nil)
			if step.there == nil && status != 404 || step.there != nil && !bytes.Equal(text, step.there) {
				t.Errorf("step %d, server %d: %d, %d bytes, want %d", i, j, status, len(text), len(step.there))
			}
		}
	}
}

// motoStore runs moto's server with a bucket, and returns the environment of its clients.
func motoStore(t *testing.T) []string {
	t.Helper()
	g := &gateway{url: startMoto(t)}
	out, err := exec.Command(python(), "moto_check.py", "make", g.url, bucket, "").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return g.env()
}

// googleStore runs fake-gcs-server with a bucket, behind a proxy with which clients reach storage.googleapis.com. The
// program has Google's XML API for reading, and the JSON API for the rest, so the proxy translates (Google's documents:
// xml-api/reference-headers, json_api/v1/objects/insert).
func googleStore(t *testing.T) []string {
	t.Helper()
	address := free(t)
	_, port, _ := strings.Cut(address, ":")
	run(t, exec.Command(fakeGCS(t), "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-public-host", "storage.googleapis.com"))
	wait(t, address)
	post(t, "http://"+address+"/storage/v1/b", `{"name": "`+bucket+`"}`)
	proxy := httptest.NewServer(&google{address})
	t.Cleanup(proxy.Close)
	return append(os.Environ(), "AWS_ENDPOINT_URL=http://storage.googleapis.com", "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=testsecret")
}

// google is Google's XML API over fake-gcs-server.
type google struct{ address string }

func (g *google) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") {
			refuse(w, http.StatusBadRequest, "ExcessHeaderValues")
			return
		}
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	condition := r.Header.Get("X-Goog-If-Generation-Match")
	at := &url.URL{Scheme: "http", Host: g.address, Path: r.URL.Path, RawPath: r.URL.RawPath}
	method, body, kind := r.Method, io.Reader(nil), ""
	switch method {
	case http.MethodPut:
		method = http.MethodPost
		at.Path, at.RawPath = "/upload/storage/v1/b/"+name+"/o", ""
		query := url.Values{"uploadType": {"multipart"}, "name": {key}}
		if condition != "" {
			query.Set("ifGenerationMatch", condition)
		}
		at.RawQuery = query.Encode()
		body, kind = insertion(r)
	case http.MethodDelete:
		at.Path, at.RawPath = "/storage/v1/b/"+name+"/o/"+key, "/storage/v1/b/"+name+"/o/"+url.PathEscape(key)
		if condition != "" {
			at.RawQuery = "generation=" + condition
		}
	}
	out, err := http.NewRequest(method, at.String(), body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Host = "storage.googleapis.com"
	for _, name := range []string{"Range", "If-Match", "Accept-Encoding"} {
		if value := r.Header.Get(name); value != "" {
			out.Header.Set(name, value)
		}
	}
	if kind != "" {
		out.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound && r.Method == http.MethodDelete && condition != "":
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed") // or it is gone, which is the same to the client
	case resp.StatusCode == http.StatusNotFound:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case resp.StatusCode == http.StatusPreconditionFailed:
		refuse(w, resp.StatusCode, "PreconditionFailed")
	case resp.StatusCode >= 400:
		text, _ := io.ReadAll(resp.Body) // for a person
		refuse(w, resp.StatusCode, fmt.Sprintf("%s %s: %s", r.Method, at, text))
	case r.Method == http.MethodPut:
		var made struct{ Generation, Etag string }
		_ = json.NewDecoder(resp.Body).Decode(&made) // an empty tag fails the client
		w.Header().Set("ETag", made.Etag)
		w.Header().Set("X-Goog-Generation", made.Generation)
	default:
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // the client is gone
	}
}

// insertion returns the body of the JSON API for an object of the XML API.
func insertion(r *http.Request) (body io.Reader, kind string) {
	meta := map[string]string{}
	for name, values := range r.Header {
		if rest, ok := strings.CutPrefix(name, "X-Goog-Meta-"); ok {
			meta[strings.ToLower(rest)] = values[0]
		}
	}
	doc, _ := json.Marshal(map[string]any{"contentType": r.Header.Get("Content-Type"), "contentEncoding": r.Header.Get("Content-Encoding"), "metadata": meta})
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for _, part := range []struct {
		kind string
		data io.Reader
	}{{"application/json", bytes.NewReader(doc)}, {r.Header.Get("Content-Type"), r.Body}} {
		w, _ := m.CreatePart(textproto.MIMEHeader{"Content-Type": {part.kind}})
		_, err := io.Copy(w, part.data)
		if err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
	}
	m.Close()
	return &b, "multipart/related; boundary=" + m.Boundary()
}

// refuse answers with an error of the XML API.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}
