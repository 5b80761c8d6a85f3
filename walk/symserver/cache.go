package symserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"symkit/internal/address"
	"symkit/limits"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// entry is one file of the cache.
type entry struct {
	server *Server
	place  string // with slashes; see sources.Paths
}

func (e entry) path() string { return filepath.Join(e.server.Cache, filepath.FromSlash(e.place)) }

// present reports whether the cache has the entry.
func (e entry) present() bool {
	if _, ok := e.kept(); ok || e.server.Cache == "" {
		return ok
	}
	info, err := os.Stat(e.path())
	return err == nil && info.Mode().IsRegular()
}

// drop removes a file that is damaged or of another module.
func (e entry) drop() {
	e.server.mu.Lock()
	delete(e.server.held, e.place)
	e.server.mu.Unlock()
	if e.server.Cache != "" {
		os.Remove(e.path())
	}
}

// kept returns the file if it is kept outside of the cache.
func (e entry) kept() (held, bool) {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	h, ok := e.server.held[e.place]
	return h, ok
}

// load opens the file, in the cache or outside of it, into out.
func (e entry) load(out *walk.Symbols, m *walk.Module) error {
	h, ok := e.kept()
	switch {
	case ok:
		err := sources.LoadText(out, h.text, h.source, m)
		if err == nil {
			out.URL = h.source
		}
		return err
	case e.server.Cache == "":
		return fs.ErrNotExist
	}
	err := sources.Load(out, e.path(), m, limits.Limits{})
	if err == nil {
		out.URL = sourceOf(e.path())
	}
	return err
}

// verify drops a fetched file that is not of m or has no symbols.
func (e entry) verify(m *walk.Module) error {
	var loaded walk.Symbols
	if err := e.load(&loaded, m); err != nil {
		e.drop()
		return err
	}
	return loaded.Close()
}

// absence returns the path of a file whose modification time is that of the server's
// last answer that the server lacks the entry.
func (e entry) absence() string {
	sum := sha256.Sum256([]byte(e.server.base.String() + "\x00" + e.place))
	return filepath.Join(e.server.Cache, ".missing", hex.EncodeToString(sum[:16]))
}

// missing reports whether the server answered recently that it lacks the entry.
func (e entry) missing() bool {
	if e.server.Cache == "" {
		return false
	}
	info, err := os.Stat(e.absence())
	return err == nil && time.Since(info.ModTime()) < e.server.Negative
}

// remember records that the server lacks the entry. If the record cannot be written, the
// next run sends the request again.
func (e entry) remember() {
	if e.server.Cache == "" {
		return
	}
	path := e.absence()
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644); err == nil {
		f.Close()
		now := time.Now()
		os.Chtimes(path, now, now)
	}
}

// sourceMark begins the line at the end of a file in the cache that names the source of
// the file. rust-minidump writes the same; parsers ignore it.
const sourceMark = "INFO URL "

// sourceOf returns the URL that the file at path was fetched from; empty if the file
// does not name the URL.
func sourceOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}

	// The last line of the file names the source.
	tail := make([]byte, min(info.Size(), 4096))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return ""
	}
	tail = bytes.TrimSuffix(tail, []byte{'\n'})
	line := tail[bytes.LastIndexByte(tail, '\n')+1:]
	if url, ok := bytes.CutPrefix(line, []byte(sourceMark)); ok {
		return address.New(string(url)).String() // earlier versions wrote the whole URL
	}
	return ""
}
