package uploadtest

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// upload is one of version 2: a place for a file.
type upload struct {
	data []byte
	put  bool
}

// completion matches the body of :complete as JSON and as Breakpad's own client writes it, without quotes around
// names.
var completion = regexp.MustCompile(`^\{\s*"?symbol_id"?:\s*\{\s*"?debug_file"?:\s*"([^"]+)",\s*"?debug_id"?:\s*"([0-9A-Fa-f]+)"\s*\},\s*"?symbol_upload_type"?:\s*"([A-Z_]+)"\s*\}$`)

// uploadTypes are those of version 2.
var uploadTypes = []string{"BREAKPAD", "ELF", "PE", "MACHO", "DEBUG_ONLY", "DWP", "DSYM", "PDB"}

// breakpad adds the routes of Breakpad's protocols: version 2 below /breakpad, version 1 at /breakpad itself.
func (s *Server) breakpad(mux *http.ServeMux) {
	guard := func(handle http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if s.opt.Token != "" && r.URL.Query().Get("key") != s.opt.Token {
				_, _ = io.Copy(io.Discard, r.Body)
				http.Error(w, "the key is not valid", http.StatusForbidden)
				return
			}
			handle(w, r)
		}
	}
	mux.HandleFunc("POST /breakpad", guard(s.symUploadV1))
	if s.opt.Old {
		return
	}
	mux.HandleFunc("GET /breakpad/v1/symbols/{module}/{id}", guard(func(w http.ResponseWriter, r *http.Request) {
		id, ok := strings.CutSuffix(r.PathValue("id"), ":checkStatus")
		if !ok || !regexp.MustCompile("^[0-9A-Fa-f]+$").MatchString(id) {
			s.wrong(r, "id %q", r.PathValue("id"))
		}
		s.mu.Lock()
		_, found := s.files[r.PathValue("module")+"/"+id+"/BREAKPAD"]
		s.mu.Unlock()
		status := "MISSING"
		if found {
			status = "FOUND"
		}
		answer(w, 200, `{"status": "%s"}`, status)
	}))
	mux.HandleFunc("POST /breakpad/v1/uploads:create", guard(func(w http.ResponseWriter, r *http.Request) {
		s.empty(r)
		s.mu.Lock()
		defer s.mu.Unlock()
		key := fmt.Sprintf("k%d", len(s.uploads)+1)
		s.uploads[key] = &upload{}
		answer(w, 200, `{"uploadUrl": "%s/breakpad-storage/%s?signature=x", "uploadKey": "%s"}`, "http://"+r.Host, key, key)
	}))
	mux.HandleFunc("PUT /breakpad-storage/{key}", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "signature=x" || r.Header.Get("Authorization") != "" {
			s.wrong(r, "query %q", r.URL.RawQuery)
		}
		data, ok := s.body(r)
		if !ok {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		u := s.uploads[r.PathValue("key")]
		if u == nil || len(data) == 0 {
			s.wrong(r, "no such upload, or no bytes: %d", len(data))
			http.NotFound(w, r)
			return
		}
		u.data, u.put = data, true
	})
	mux.HandleFunc("POST /breakpad/v1/uploads/{key}", guard(s.complete2))
}

// complete2 ends an upload of version 2.
func (s *Server) complete2(w http.ResponseWriter, r *http.Request) {
	data, ok := s.body(r)
	if !ok {
		return
	}
	key, isComplete := strings.CutSuffix(r.PathValue("key"), ":complete")
	m := completion.FindSubmatch(bytes.TrimSpace(data))
	kind := r.Header.Get("Content-Type")
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[key]
	if !isComplete || m == nil || u == nil || !u.put || kind != "application/json" && kind != "application/son" || !slices.Contains(uploadTypes, string(m[3])) {
		s.wrong(r, "type %q, %q, %+v", kind, data, u)
		http.Error(w, "wrong", http.StatusBadRequest)
		return
	}
	name := fmt.Sprintf("%s/%s/%s", m[1], m[2], m[3])
	reason := s.refused(name, u.data)
	if reason != "" {
		http.Error(w, reason, http.StatusBadRequest)
		return
	}
	if string(m[3]) == "BREAKPAD" {
		s.sameModule(r, u.data, "", "", string(m[1]), string(m[2]))
	}
	result := "OK"
	if bytes.Equal(s.files[name], u.data) {
		result = "DUPLICATE_DATA"
	}
	s.keep(name, u.data)
	answer(w, 200, `{"result": "%s"}`, result)
}

// symUploadV1 takes a form.
func (s *Server) symUploadV1(w http.ResponseWriter, r *http.Request) {
	data, ok := s.body(r)
	if !ok {
		return
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		s.wrong(r, "type %q, %v", kind, err)
	}
	form, err := multipart.NewReader(bytes.NewReader(data), params["boundary"]).ReadForm(1 << 30)
	if err != nil {
		s.wrong(r, "%v", err)
		http.Error(w, "not a form", http.StatusBadRequest)
		return
	}
	value := func(name string) string {
		v := form.Value[name]
		if len(v) != 1 || v[0] == "" {
			s.wrong(r, "field %q: %q", name, v)
			return ""
		}
		return v[0]
	}
	files := form.File["symbol_file"]
	if len(files) != 1 || len(form.File) != 1 {
		s.wrong(r, "%d files", len(form.File))
		http.Error(w, "no symbol_file", http.StatusBadRequest)
		return
	}
	for name := range form.Value {
		if !slices.Contains([]string{"version", "os", "cpu", "debug_file", "code_file", "debug_identifier"}, name) {
			s.wrong(r, "field %q", name)
		}
	}
	var text []byte
	f, err := files[0].Open()
	if err == nil {
		text, err = io.ReadAll(f)
	}
	if err != nil {
		s.wrong(r, "%v", err)
	}
	if value("code_file") != value("debug_file") || strings.Contains(value("debug_identifier"), "-") {
		s.wrong(r, "fields %v", form.Value)
	}
	s.sameModule(r, text, value("os"), value("cpu"), value("debug_file"), value("debug_identifier"))
	name := value("debug_file") + "/" + value("debug_identifier") + "/BREAKPAD"
	reason := s.refused(name, text)
	if reason != "" {
		http.Error(w, reason, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(name, text)
	fmt.Fprintln(w, "kept")
}

// sameModule compares what a request says with the MODULE record. Empty texts are not compared.
func (s *Server) sameModule(r *http.Request, text []byte, system, cpu, name, id string) {
	line, _, _ := strings.Cut(string(text), "\n")
	words := strings.SplitN(line, " ", 5)
	if len(words) != 5 || words[0] != "MODULE" || system != "" && words[1] != system || cpu != "" && words[2] != cpu || words[3] != id || words[4] != name {
		s.wrong(r, "%q is not %s %s %s %s", line, system, cpu, id, name)
	}
}
