package uploadtest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
)

const (
	chunkSize        = 8 << 20
	requestSize      = 32 << 20
	chunksPerRequest = 64
)

var (
	sha1Text = regexp.MustCompile("^[0-9a-f]{40}$")
	debugID  = regexp.MustCompile("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-[1-9a-f][0-9a-f]{0,7})?$")
)

func sha1sum(data []byte) string {
	sum := sha1.Sum(data)
	return hex.EncodeToString(sum[:])
}

// sentry adds the routes of a Sentry server with the project "app" of the organization "org".
func (s *Server) sentry(mux *http.ServeMux) {
	guard := func(handle http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if s.opt.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.opt.Token {
				_, _ = io.Copy(io.Discard, r.Body)
				answer(w, 401, `{"detail": "Invalid token"}`)
				return
			}
			handle(w, r)
		}
	}
	size, most := cmp.Or(s.opt.ChunkSize, chunkSize), cmp.Or(s.opt.RequestSize, requestSize)
	mux.HandleFunc("GET /api/0/organizations/org/chunk-upload/{$}", guard(func(w http.ResponseWriter, r *http.Request) {
		compression := `["gzip"]`
		if s.opt.NoGzip {
			compression = `[]`
		}
		answer(w, 200, `{"url": "%s/api/0/organizations/org/chunk-upload/", "chunkSize": %d, "chunksPerRequest": %d, "maxFileSize": 2147483648, "maxRequestSize": %d,
			"concurrency": 8, "hashAlgorithm": "sha1", "compression": %s, "accept": ["debug_files", "release_files", "pdbs", "sources", "bcsymbolmaps"]}`,
			"http://"+r.Host, size, chunksPerRequest, most, compression)
	}))
	mux.HandleFunc("POST /api/0/organizations/org/chunk-upload/{$}", guard(func(w http.ResponseWriter, r *http.Request) { s.takeChunks(w, r, size, most) }))
	mux.HandleFunc("POST /api/0/projects/org/app/files/difs/assemble/{$}", guard(s.assemble))
	for _, other := range []string{"/api/0/organizations/", "/api/0/projects/"} {
		mux.HandleFunc(other, guard(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			answer(w, 404, `{"detail": "The requested resource does not exist"}`)
		}))
	}
}

// takeChunks takes the chunks of a request.
func (s *Server) takeChunks(w http.ResponseWriter, r *http.Request, size, most int64) {
	data, ok := s.body(r)
	if !ok {
		return
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		s.wrong(r, "type %q, %v", kind, err)
	}
	form := multipart.NewReader(bytes.NewReader(data), params["boundary"])
	chunks := map[string][]byte{}
	sum := int64(0)
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			s.wrong(r, "%v", err)
			return
		}
		chunk, err := io.ReadAll(part)
		if err == nil && part.FormName() == "file_gzip" {
			var z *gzip.Reader
			z, err = gzip.NewReader(bytes.NewReader(chunk))
			if err == nil {
				chunk, err = io.ReadAll(z)
			}
		}
		name := part.FileName()
		want := "file_gzip"
		if s.opt.NoGzip {
			want = "file"
		}
		if err != nil || part.FormName() != want || sha1sum(chunk) != name || int64(len(chunk)) > size || chunks[name] != nil {
			s.wrong(r, "a part %q of %d bytes with the name %q: %v", part.FormName(), len(chunk), name, err)
			answer(w, 400, `{"error": "Invalid chunk"}`)
			return
		}
		chunks[name] = chunk
		sum += int64(len(chunk))
	}
	if len(chunks) == 0 || len(chunks) > chunksPerRequest || sum > most {
		s.wrong(r, "%d chunks of %d bytes", len(chunks), sum)
		answer(w, 400, `{"error": "Too many chunks"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, chunk := range chunks {
		if !s.wanted[name] {
			s.wrong(r, "chunk %s was not asked for", name)
		}
		s.chunks[name] = chunk
	}
	answer(w, 200, `{}`)
}

// assemble puts files together.
func (s *Server) assemble(w http.ResponseWriter, r *http.Request) {
	data, ok := s.body(r)
	if !ok {
		return
	}
	type file struct {
		Name    string   `json:"name"`
		DebugID string   `json:"debug_id"`
		Chunks  []string `json:"chunks"`
	}
	var request map[string]file
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(&request)
	if err != nil || len(request) == 0 || r.Header.Get("Content-Type") != "application/json" {
		s.wrong(r, "%v, %q", err, data)
		answer(w, 400, `{"error": "malformed"}`)
		return
	}

	type state struct {
		State   string   `json:"state"`
		Missing []string `json:"missingChunks"`
		Detail  *string  `json:"detail"`
		DIF     any      `json:"dif"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	states := map[string]*state{}
	for sum, f := range request {
		bad := func(text string) bool { return !sha1Text.MatchString(text) }
		if bad(sum) || f.Name == "" || f.DebugID != "" && !debugID.MatchString(f.DebugID) || slices.ContainsFunc(f.Chunks, bad) {
			s.wrong(r, "%s: %+v", sum, f)
		}
		st := &state{State: "ok", Missing: []string{}}
		states[sum] = st
		var text []byte
		for _, c := range f.Chunks {
			chunk, has := s.chunks[c]
			if !has && !slices.Contains(st.Missing, c) {
				st.Missing = append(st.Missing, c)
				s.wanted[c] = true
			}
			text = append(text, chunk...)
		}
		_, known := s.files[f.Name]
		reason := s.refused(f.Name, text)
		switch {
		case len(st.Missing) > 0:
			st.State = "not_found"
		case sha1sum(text) != sum:
			s.wrong(r, "%s: the chunks have another sum than %s", f.Name, sum)
			st.State, st.Detail = "error", new("Reported checksum mismatch")
		case reason != "":
			st.State, st.Detail = "error", &reason
		case s.polls[sum] < s.opt.Polls:
			st.State = []string{"created", "assembling"}[min(s.polls[sum], 1)]
			s.polls[sum]++
		case !known || s.polls[sum] > 0:
			s.keep(f.Name, text)
		}
		if st.State == "ok" {
			st.DIF = map[string]any{"id": "1", "uuid": f.DebugID, "debugId": f.DebugID, "objectName": f.Name, "cpuName": "x86_64", "symbolType": "breakpad", "size": len(text), "sha1": sum, "headers": map[string]string{"Content-Type": "text/x-breakpad"}, "dateCreated": "2026-01-01T00:00:00.000000Z"}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(states)
}
