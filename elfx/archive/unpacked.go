package archive

import (
	"slices"
	"sync"

	"symkit/internal/bounds"
)

// unpackedCache keeps the bytes of deflated archives inside other archives. Without
// the cache, opening n members of such an archive would inflate the archive n times.
type unpackedCache struct {
	filling sync.Mutex // held while an archive is inflated

	mu      sync.Mutex
	entries []unpacked // in the order of their last use
	size    int        // of all entries, in bytes
}

// unpacked is one entry of the cache.
type unpacked struct {
	archive *Member // the key: each scan of a file makes new Members
	data    []byte
}

// maxUnpacked bounds the cache in bytes; a larger archive is inflated each time.
const maxUnpacked = bounds.FreeSize

var unpackedArchives unpackedCache

// get returns the bytes of archive, or nil if they are not in the cache.
func (c *unpackedCache) get(archive *Member) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()

	i := slices.IndexFunc(c.entries, func(u unpacked) bool { return u.archive == archive })
	if i < 0 {
		return nil
	}

	// The entry moves to the end: its use is the latest.
	found := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), found)
	return found.data
}

// put adds the bytes of archive. If necessary, it removes the entries whose last use is
// the oldest.
func (c *unpackedCache) put(archive *Member, data []byte) {
	if len(data) > maxUnpacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	if slices.ContainsFunc(c.entries, func(u unpacked) bool { return u.archive == archive }) {
		return // another goroutine was faster
	}

	// Make space: the entries at the start have the oldest use.
	for len(c.entries) > 0 && c.size+len(data) > maxUnpacked {
		c.size -= len(c.entries[0].data)
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, unpacked{archive, data})
	c.size += len(data)
}
