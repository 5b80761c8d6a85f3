package serve

import (
	"net/http"
	"strconv"
	"strings"

	"symkit/serve/internal/depot"
)

// elfFile answers requests of debuginfod's clients (debuginfod(8), "WEBAPI").
func (s *Server) elfFile(w http.ResponseWriter, r *http.Request) {
	id, kind := strings.ToLower(r.PathValue("id")), r.PathValue("kind")
	if kind == "symbols" || depot.BuildIDPlaces(id, kind) == nil {
		notFound(w, "the server has executable and debuginfo of a build id: /buildid/ID/debuginfo")
		return
	}
	ctx, opened := withTime(r.Context())
	defer opened()
	content, file, err := s.intake.OpenELF(ctx, id, kind)
	if depot.Missing(err) {
		notFound(w, "the store has no such file")
		return
	}
	if err != nil {
		s.storeFailed(w, err)
		return
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-DEBUGINFOD-SIZE", strconv.FormatInt(file.Size, 10))
	most, err := strconv.ParseInt(r.Header.Get("X-Debuginfod-Maxsize"), 10, 64)
	if err == nil && most > 0 && file.Size > most {
		http.Error(w, "the file is larger than X-DEBUGINFOD-MAXSIZE", http.StatusNotAcceptable)
		return
	}
	s.send(ctx, w, r, content, file, opened)
}
