package uploadtest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// sum is what Tecken knows of a stored file.
type sum struct {
	size int64
	md5  string
}

// key matches the names of files. (tecken/base/utils.py)
var key = regexp.MustCompile("^[^\\x00-\\x1f\\x80-\\xff\\\\^`><{}\\[\\]#%\"'|/]+/[0-9A-Fa-f]+/[^\\x00-\\x1f\\x80-\\xff\\\\^`><{}\\[\\]#%\"'|/]+$")

// isKey reports whether a text is a key of Tecken, which has ASCII alone.
func isKey(text string) bool {
	for _, c := range []byte(text) {
		if c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return key.MatchString(text)
}

const (
	// mostFiles is how many files a request of version 2 may have.
	mostFiles = 1024
	// mostZip is the size of a zip file of several members, as Mozilla's client makes them.
	mostZip = 64 << 20
)

// tecken adds the routes of Tecken.
func (s *Server) tecken(mux *http.ServeMux) {
	guard := func(handle http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			token, _, _ := strings.Cut(r.Header.Get("Auth-Token"), "-")
			want, _, _ := strings.Cut(s.opt.Token, "-")
			switch {
			case want != "" && token == "":
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w, 403, `{"error": "This requires an Auth-Token to authenticate the request"}`)
			case token != want:
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w, 403, `{"error": "API Token not matched"}`)
			default:
				handle(w, r)
			}
		}
	}
	if !s.opt.Old {
		mux.HandleFunc("POST /upload/auth_info/{$}", guard(func(w http.ResponseWriter, r *http.Request) {
			s.empty(r)
			version := 2
			if s.opt.V1 {
				version = 1
			}
			answer(w, 200, `{"email": "a@example.com", "user_id": 1, "try_symbols": false, "token_expires_at": 1, "upload_api_version": %d}`, version)
		}))
		mux.HandleFunc("POST /upload/v2/{$}", guard(s.teckenV2))
	}
	mux.HandleFunc("POST /upload/{$}", guard(s.teckenV1))
	mux.HandleFunc("GET /{module}/{id}/{file}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		text, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
		s.mu.Unlock()
		if !ok || strings.Trim(r.PathValue("id"), "0") == "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	})
}

// teckenV1 takes a zip file.
func (s *Server) teckenV1(w http.ResponseWriter, r *http.Request) {
	data, ok := s.body(r)
	if !ok {
		return
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		s.wrong(r, "type %q, %v", kind, err)
	}
	form, err := multipart.NewReader(bytes.NewReader(data), params["boundary"]).ReadForm(1 << 30)
	if err != nil || len(form.File) != 1 || len(form.Value) > 0 {
		s.wrong(r, "not a form with one file: %v, %v", form, err)
		answer(w, 400, `{"error": "Must be multipart form data with at least one file"}`)
		return
	}
	var archive []byte
	for name, files := range form.File {
		if !strings.HasSuffix(name, ".zip") || len(files) != 1 {
			s.wrong(r, "the field is called %q", name)
		}
		f, err := files[0].Open()
		if err == nil {
			archive, err = io.ReadAll(f)
		}
		if err != nil {
			s.wrong(r, "%v", err)
		}
	}

	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		s.wrong(r, "%v", err)
		answer(w, 400, `{"error": "File is not a zip file"}`)
		return
	}
	texts := map[string][]byte{}
	for _, f := range z.File {
		if !isKey(f.Name) {
			s.wrong(r, "member %q", f.Name)
			answer(w, 400, `{"error": "Unrecognized file pattern. Should only be <module>/<hex>/<file> or <name>-symbols.txt and nothing else. (First unrecognized pattern was '%s')"}`, f.Name)
			return
		}
		m, err := f.Open()
		var text []byte
		if err == nil {
			text, err = io.ReadAll(m)
		}
		if err != nil || texts[f.Name] != nil || strings.HasSuffix(f.Name, ".sym") && f.Method != zip.Deflate {
			s.wrong(r, "member %q, method %d: %v", f.Name, f.Method, err)
		}
		texts[f.Name] = text
	}
	if len(texts) == 0 || len(texts) > 1 && len(archive) > mostZip {
		s.wrong(r, "%d members in %d bytes", len(texts), len(archive))
	}
	for name, text := range texts {
		reason := s.refused(name, text)
		if reason != "" {
			answer(w, 400, `{"error": %s}`, quoted(reason))
			return
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	skipped := []string{}
	for name, text := range texts {
		known := sum{int64(len(text)), md5sum(text)}
		if s.sums[name] == known {
			skipped = append(skipped, "v1/"+name)
			continue
		}
		s.sums[name] = known
		s.keep(name, text)
	}
	list, _ := json.Marshal(skipped)
	answer(w, 201, `{"upload": {"id": 1, "size": %d, "filename": "symbols.zip", "bucket": "b", "try_symbols": false, "skipped_keys": %s}}`, len(archive), list)
}

// quoted returns a text in JSON.
func quoted(text string) []byte {
	data, _ := json.Marshal(text) // strings can be encoded
	return data
}

func md5sum(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// teckenV2 says what to do with files.
func (s *Server) teckenV2(w http.ResponseWriter, r *http.Request) {
	data, ok := s.body(r)
	if !ok {
		return
	}
	var request struct {
		Files []struct {
			Key  string `json:"key"`
			Size int64  `json:"size"`
			MD5  string `json:"md5_hash"`
		} `json:"files"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(&request)
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		s.wrong(r, "%v, %q", err, data)
		answer(w, 400, `{"error": "malformed JSON request body"}`)
		return
	}
	if len(request.Files) == 0 || len(request.Files) > mostFiles {
		s.wrong(r, "%d files", len(request.Files))
		answer(w, 400, `{"error": "too many files"}`)
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	var files []string
	for _, f := range request.Files {
		action := ""
		want := sum{f.Size, f.MD5}
		reason := s.refused(f.Key, nil)
		switch {
		case reason != "":
			action = fmt.Sprintf(`{"type": "error", "msg": %s}`, quoted(reason))
		case !isKey(f.Key):
			s.wrong(r, "key %q", f.Key)
			action = `{"type": "error", "msg": "invalid key"}`
		case !regexp.MustCompile("^[0-9a-f]{32}$").MatchString(f.MD5):
			s.wrong(r, "MD5 %q", f.MD5)
			action = `{"type": "error", "msg": "invalid MD5 hex digest"}`
		case s.sums[f.Key] == want:
			action = `{"type": "skip"}`
		default:
			id := fmt.Sprint(len(s.sessions) + 1)
			encoding := "null"
			if strings.HasSuffix(f.Key, ".sym") {
				encoding = `"gzip"`
			}
			s.sessions[id] = &session{key: f.Key, want: want, gzip: encoding != "null"}
			action = fmt.Sprintf(`{"type": "upload", "url": "%s/storage/%s?upload_id=%s", "content_encoding": %s}`, "http://"+r.Host, id, id, encoding)
		}
		files = append(files, fmt.Sprintf(`{"key": %q, "action": %s}`, f.Key, action))
	}
	answer(w, 201, `{"id": 1, "created_at": 1, "user": "a@example.com", "try_symbols": false, "upload_protocol": "gcs-resumable", "files": [%s]}`, strings.Join(files, ", "))
}

// session is an upload to Google's storage.
type session struct {
	key  string
	want sum
	gzip bool
	data []byte
	done bool
}

// quantum divides the sizes of all parts but the last.
const quantum = 256 << 10

// place matches a Content-Range.
var place = regexp.MustCompile(`^bytes (?:(\d+)-(\d+)|\*)/(\d+)$`)

// storage adds the routes of Google's storage.
func (s *Server) storage(mux *http.ServeMux) {
	mux.HandleFunc("PUT /storage/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Auth-Token") != "" || r.Header.Get("Authorization") != "" {
			s.wrong(r, "the token was sent to the storage")
		}
		if r.URL.Query().Get("upload_id") != r.PathValue("id") {
			s.wrong(r, "the query was changed")
		}
		s.mu.Lock()
		u := s.sessions[r.PathValue("id")]
		s.mu.Unlock()
		if u == nil {
			http.NotFound(w, r)
			return
		}

		at, total := int64(0), r.ContentLength
		text := r.Header.Get("Content-Range")
		if text != "" {
			m := place.FindStringSubmatch(text)
			if m == nil {
				s.wrong(r, "Content-Range %q", text)
				return
			}
			total, _ = strconv.ParseInt(m[3], 10, 64)
			if m[1] == "" {
				s.empty(r)
				s.state(w, u)
				return
			}
			at, _ = strconv.ParseInt(m[1], 10, 64)
			end, _ := strconv.ParseInt(m[2], 10, 64)
			if end-at+1 != r.ContentLength || end >= total || end+1 < total && r.ContentLength%quantum != 0 {
				s.wrong(r, "Content-Range %q, %d bytes", text, r.ContentLength)
			}
		}
		data, _ := io.ReadAll(r.Body) // what has arrived counts

		s.mu.Lock()
		defer s.mu.Unlock()
		if at > int64(len(u.data)) {
			s.wrong(r, "bytes from %d on, after %d", at, len(u.data))
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		if u.done {
			return
		}
		u.data = append(u.data[:at], data...)
		if int64(len(u.data)) < total {
			u.data = u.data[:len(u.data)/quantum*quantum]
			s.progress(w, u)
			return
		}
		s.complete(w, r, u)
	})
}

// state answers how much of a session has arrived.
func (s *Server) state(w http.ResponseWriter, u *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !u.done {
		s.progress(w, u)
	}
}

// progress answers that a session goes on. mu is locked.
func (s *Server) progress(w http.ResponseWriter, u *session) {
	if len(u.data) > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(u.data)-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}

// complete ends a session. mu is locked.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, u *session) {
	u.done = true
	text := u.data
	if u.gzip {
		z, err := gzip.NewReader(bytes.NewReader(u.data))
		if err == nil {
			text, err = io.ReadAll(z)
		}
		if err != nil {
			s.wrong(r, "%s: %v", u.key, err)
		}
	}
	got := sum{int64(len(text)), md5sum(text)}
	if got != u.want {
		s.wrong(r, "%s: %v was announced, %v came", u.key, u.want, got)
	}
	s.sums[u.key] = got
	s.keep(u.key, text)
	answer(w, 200, `{"kind": "storage#object", "size": "%d"}`, len(u.data))
}
