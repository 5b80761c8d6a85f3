package debuginfod

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"symkit/internal/smallfile"
)

// usualMiss is the time that a miss is remembered for if the cache has no cache_miss_s.
const usualMiss = 600 * time.Second

// entry is one file in the cache: CACHE/BUILDID/KIND. An empty file means that no server
// has the file; older clients also removed all permissions of an empty file.
type entry struct {
	client *Client
	id     []byte
	kind   Kind
}

func (e *entry) dir() string { return filepath.Join(e.client.Cache, hex.EncodeToString(e.id)) }

func (e *entry) path() string { return filepath.Join(e.dir(), string(e.kind)) }

// cached reports whether the cache has the file. The error is ErrNotFound if the cache
// remembers that no server has the file. A damaged file is overwritten later.
func (e *entry) cached() (bool, error) {
	if e.client.Cache == "" {
		return false, nil
	}

	// A file with bytes is a hit if it is intact, an empty one a miss for some time.
	info, err := os.Stat(e.path())
	switch {
	case err != nil: // the file is missing, or the cache cannot be used, which writing to it shows
		return false, nil
	case info.Size() > 0:
		return verify(e.path(), e.id, e.kind) == nil, nil
	case time.Since(info.ModTime()) <= e.client.missAge():
		return false, ErrNotFound
	}
	_ = os.Remove(e.path()) // a cache that cannot be written stays as it is
	return false, nil
}

// remember writes an empty file: no server has the file. A failure has no consequence
// but another request.
func (e *entry) remember() {
	if e.client.Cache == "" {
		return
	}
	if err := os.MkdirAll(e.dir(), 0o700); err != nil {
		return
	}

	// O_EXCL: a file that another process has stored meanwhile stays.
	if f, err := os.OpenFile(e.path(), os.O_CREATE|os.O_EXCL, 0o666); err == nil {
		_ = f.Close()
	}
}

// missAge returns the time that a miss is remembered for: the number of seconds in the
// cache's file cache_miss_s.
func (c *Client) missAge() time.Duration {
	text, err := smallfile.Read(filepath.Join(c.Cache, "cache_miss_s"), smallfile.Most)
	if err != nil {
		return usualMiss
	}

	// An unusable number is treated like an absent one.
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n < 0 || n > maxSeconds {
		return usualMiss
	}
	return time.Duration(n) * time.Second
}
