package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"symkit/elfx"
	"symkit/serve/internal/depot"
	"symkit/serve/internal/spool"
)

// buildIDPlaces returns the keys of the files of a kind, "executable", "debuginfo" or "symbols", in stores that find
// modules by build ids (packages dump/store and elfx/debuginfod).
func buildIDPlaces(id, kind string) []string {
	if !isID(id) || len(id) <= 2 {
		return nil
	}
	split := id[:2] + "/" + id[2:]
	switch kind {
	case "executable":
		return []string{split + "/executable", split, ".build-id/" + split}
	case "debuginfo":
		return []string{split + "/debuginfo", split + ".debug", ".build-id/" + split + ".debug"}
	case "symbols":
		return []string{split + "/breakpad", split + ".sym"}
	}
	return nil
}

// elfFile answers requests of debuginfod's clients (debuginfod(8), "WEBAPI").
func (s *Server) elfFile(w http.ResponseWriter, r *http.Request) {
	id, kind := strings.ToLower(r.PathValue("id")), r.PathValue("kind")
	if kind == "symbols" || buildIDPlaces(id, kind) == nil {
		notFound(w, "the server has executable and debuginfo of a build id: /buildid/ID/debuginfo")
		return
	}
	ctx, opened := withTime(r.Context())
	defer opened()
	content, file, err := s.openELF(ctx, id, kind)
	if missing(err) {
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

// openELF opens an ELF file by its build id. A program that has its debug information inside is its own debug file.
func (s *Server) openELF(ctx context.Context, id, kind string) (io.ReadSeekCloser, depot.File, error) {
	for _, place := range buildIDPlaces(id, kind) {
		content, file, err := s.depot.Open(ctx, place)
		if !missing(err) {
			return content, file, err
		}
	}
	content, file, err := s.openNoted(ctx, id, kind)
	if !missing(err) || kind != "debuginfo" {
		return content, file, err
	}
	content, file, err = s.openELF(ctx, id, "executable")
	if err != nil {
		return nil, file, err
	}
	has, err := s.hasDebugInfo(file, content)
	if err == nil && !has {
		err = errMissing
	}
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, file, errors.Join(err, content.Close())
	}
	return content, file, nil
}

// openNoted opens the ELF file that a note names for a build id: an upload has stored it by the name of its module.
func (s *Server) openNoted(ctx context.Context, id, kind string) (io.ReadSeekCloser, depot.File, error) {
	key, err := s.readNote(ctx, elfKey(id, kind))
	if err != nil {
		return nil, depot.File{}, err
	}
	content, file, err := s.depot.Open(ctx, key)
	if err == nil && file.Encoding == "" && strings.HasSuffix(key, ".gz") {
		file.Encoding = "gzip" // it was sent packed
	}
	return content, file, err
}

// maxRemembered bounds what a server remembers of ELF files.
const maxRemembered = 1 << 14

// hasDebugInfo reports whether an ELF file has debug information.
func (s *Server) hasDebugInfo(file depot.File, content io.ReadSeeker) (has bool, err error) {
	id := file.Key + "\x00" + file.Tag
	s.mu.Lock()
	has, known := s.debug[id]
	s.mu.Unlock()
	if known {
		return has, nil
	}

	path := s.depot.Path(file)
	if path == "" {
		copied, err := spool.New(s.depot.Spool(), s.opt.MaxFile)
		if err != nil {
			return false, err
		}
		defer copied.Close()
		err = depot.Copy(copied, content, file.Encoding)
		if err != nil {
			return false, err
		}
		path = copied.Path()
	}
	f, err := elfx.Open(path)
	if err == nil {
		has = f.Section(".debug_info") != nil
		f.Close()
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.debug) >= maxRemembered {
		clear(s.debug)
	}
	s.debug[id] = has
	return has, nil
}
