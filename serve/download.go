package serve

import (
	"context"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"symkit/serve/internal/depot"
)

// symbolFile answers GET and HEAD of NAME/ID/FILE.
func (s *Server) symbolFile(w http.ResponseWriter, r *http.Request) {
	key, ok := depot.SymbolKey(r.PathValue("name"), r.PathValue("id"), r.PathValue("file"))
	if !ok {
		notFound(w, "no symbol file has this address: it is /NAME/ID/FILE")
		return
	}
	ctx, opened := withTime(r.Context())
	defer opened()
	content, file, err := s.depot.Open(ctx, key)
	if depot.Missing(err) {
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

// elsewhere answers a request for a symbol file that the store does not have by that name: if name and id are those of
// the code, by the address with the debug name and id; if the store finds modules by build ids alone, by such a file.
func (s *Server) elsewhere(ctx context.Context, w http.ResponseWriter, r *http.Request, key string, opened func()) {
	name, id, file := path.Dir(path.Dir(key)), path.Base(path.Dir(key)), path.Base(key)
	if strings.HasSuffix(file, ".sym") {
		if len(id) < depot.ShortestDebugID {
			target, err := depot.ReadNote(ctx, s.depot, depot.CodeKey(name, id))
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
			if !depot.Missing(err) {
				s.storeFailed(w, err)
				return
			}
		}
		code := strings.ToLower(r.URL.Query().Get("code_id"))
		for _, place := range depot.BuildIDPlaces(code, "symbols") {
			content, f, err := s.depot.Open(ctx, place)
			if depot.Missing(err) {
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
		h.Set("Content-Type", depot.ContentType(file.Key))
	}
	h.Set("Content-Length", strconv.FormatInt(size, 10)) // http.ServeContent leaves it out beside an encoding
	http.ServeContent(w, r, "", file.Modified, content)
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
