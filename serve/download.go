package serve

import (
	"context"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"symkit/internal/filename"
	"symkit/serve/internal/depot"
)

// symbolFile answers GET and HEAD of NAME/ID/FILE.
func (s *Server) symbolFile(w http.ResponseWriter, r *http.Request) {
	key, ok := symbolKey(r.PathValue("name"), r.PathValue("id"), r.PathValue("file"))
	if !ok {
		notFound(w, "no symbol file has this address: it is /NAME/ID/FILE")
		return
	}
	ctx, opened := withTime(r.Context())
	defer opened()
	content, file, err := s.depot.Open(ctx, key)
	if missing(err) {
		s.elsewhere(ctx, w, r, key, opened)
		return
	}
	if err != nil {
		s.storeFailed(w, err)
		return
	}
	defer content.Close()
	s.send(ctx, w, r, content, file, opened)
}

// symbolKey returns the key of a symbol file. ok is false if no file can have the names.
func symbolKey(name, id, file string) (key string, ok bool) {
	if strings.ContainsAny(name+file, `/\`) || name == "" || file == "" || file == "file.ptr" || !isID(id) || strings.Trim(id, "0") == "" {
		return "", false
	}
	return filename.Escape(name) + "/" + strings.ToUpper(id) + "/" + filename.Escape(file), true
}

// isID reports whether a text can be an id: hexadecimal digits.
func isID(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// shortestDebugID is the number of digits of the shortest debug id: 32 and an age.
const shortestDebugID = 33

// elsewhere answers a request for a symbol file that the store does not have by that name: if name and id are those of
// the code, by the address with the debug name and id; if the store finds modules by build ids alone, by such a file.
func (s *Server) elsewhere(ctx context.Context, w http.ResponseWriter, r *http.Request, key string, opened func()) {
	name, id, file := path.Dir(path.Dir(key)), path.Base(path.Dir(key)), path.Base(key)
	if strings.HasSuffix(file, ".sym") {
		if len(id) < shortestDebugID {
			target, err := s.readNote(ctx, codeKey(name, id))
			if err == nil {
				to := "/" + target
				if r.URL.RawQuery != "" {
					to += "?" + r.URL.RawQuery
				}
				w.Header().Set("Cache-Control", "public, max-age=300")
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
				return
			}
			if !missing(err) {
				s.storeFailed(w, err)
				return
			}
		}
		code := strings.ToLower(r.URL.Query().Get("code_id"))
		for _, place := range buildIDPlaces(code, "symbols") {
			content, f, err := s.depot.Open(ctx, place)
			if missing(err) {
				continue
			}
			if err != nil {
				s.storeFailed(w, err)
				return
			}
			defer content.Close()
			s.send(ctx, w, r, content, f, opened)
			return
		}
	}
	notFound(w, "the store has no such file")
}

// codeKey returns the key of the note about the debug name and id of a code file.
func codeKey(name, id string) string {
	return path.Join(depot.Private, "code", filename.Escape(name), strings.ToUpper(id))
}

// maxNote bounds a note in bytes: a key with escaped characters.
const maxNote = 4096

// readNote returns the text of a small file. The error is fs.ErrNotExist if there is none.
func (s *Server) readNote(ctx context.Context, key string) (string, error) {
	r, _, err := s.depot.Open(ctx, key)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxNote))
	return strings.TrimSpace(string(text)), err
}

// send sends a stored file: as it is stored if the client knows the encoding, inflated otherwise.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, r *http.Request, content io.ReadSeeker, file depot.File, opened func()) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	tag := strings.Trim(file.Tag, `"`)
	size := file.Size
	switch {
	case file.Encoding == "":
	case accepts(r.Header.Get("Accept-Encoding"), file.Encoding):
		h.Set("Content-Encoding", file.Encoding)
		tag += "-" + file.Encoding
	default:
		digest, err := s.depot.Digest(ctx, file)
		if err != nil {
			s.storeFailed(w, err)
			return
		}
		size = digest.Size
		plain := depot.Inflate(content, file.Encoding, size)
		defer plain.Close()
		content = plain
	}
	opened()

	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", "public, max-age=604800, no-transform")
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", contentType(file.Key))
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10)) // http.ServeContent leaves it out beside an encoding
	http.ServeContent(w, r, "", file.Modified, content)
}

// contentType returns the type of a file.
func contentType(key string) string {
	if strings.HasSuffix(key, ".sym") {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// accepts reports whether the header Accept-Encoding has an encoding (RFC 9110, 12.5.3).
func accepts(header, encoding string) bool {
	any := false
	for item := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		weight, ok := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		wanted := !ok || err == nil && q > 0
		switch name {
		case encoding, "x-" + encoding:
			return wanted
		case "*":
			any = wanted
		}
	}
	return any
}
