package archive

import (
	"slices"
	"sync"

	"symkit/internal/limits"
)

// unpackedCache keeps the bytes of deflated archives that other archives hold:
// without it, opening each of n members would inflate the archives around it, n
// times.
type unpackedCache struct {
	mu      sync.Mutex
	entries []unpacked // the one used last is the last
	size    int        // of all entries, in bytes
}

type unpacked struct {
	archive *Member // every scan of a file has members of its own
	data    []byte
}

// maxUnpacked bounds the cache in bytes; a larger archive is inflated each time.
const maxUnpacked = limits.FreeSize

var unpackedArchives unpackedCache

// get returns the bytes of archive, or nil if they are not there.
func (c *unpackedCache) get(archive *Member) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(u unpacked) bool { return u.archive == archive })
	if i < 0 {
		return nil
	}
	found := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), found)
	return found.data
}

// put adds the bytes of archive in place of those that were not used for the
// longest time.
func (c *unpackedCache) put(archive *Member, data []byte) {
	if len(data) > maxUnpacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.entries, func(u unpacked) bool { return u.archive == archive }) {
		return // another goroutine was faster
	}
	for len(c.entries) > 0 && c.size+len(data) > maxUnpacked {
		c.size -= len(c.entries[0].data)
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, unpacked{archive, data})
	c.size += len(data)
}
