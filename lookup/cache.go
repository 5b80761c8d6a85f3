package lookup

import (
	"container/list"
	"context"
	"sync"
)

// Cache keeps files open, by keys of the caller: paths or build ids. Files that are not in use are closed, the one
// that has not been used for the longest time first, when all together take more than a budget.
type Cache struct {
	budget int64
	open   func(ctx context.Context, key string) (*File, error)

	mu    sync.Mutex
	files map[string]*cached
	order list.List // of *cached, the one that was used last in front
}

// cached is a file of a Cache, or the error of opening it.
type cached struct {
	key   string
	place *list.Element
	ready chan struct{} // closed when the file is open
	file  *File
	err   error
	users int
}

// NewCache returns a Cache for so many bytes, 0 for no bound. It opens files by the function open. The bytes of a
// file are those of its decoded units and of its sections that are compressed (File.Memory); a file that is in use
// counts, but is not closed.
func NewCache(budget int64, open func(ctx context.Context, key string) (*File, error)) *Cache {
	return &Cache{budget: budget, open: open, files: map[string]*cached{}}
}

// Get returns the file of a key, which stays open until release is called. The error is that of opening the file,
// which is not tried again unless ctx was done.
func (c *Cache) Get(ctx context.Context, key string) (f *File, release func(), err error) {
	c.mu.Lock()
	e := c.files[key]
	if e == nil {
		e = &cached{key: key, ready: make(chan struct{})}
		e.place = c.order.PushFront(e)
		c.files[key] = e
		e.users++
		c.mu.Unlock()
		e.file, e.err = c.open(ctx, key)
		if e.err != nil && ctx.Err() != nil {
			c.mu.Lock()
			c.drop(e)
			c.mu.Unlock()
		}
		close(e.ready)
	} else {
		c.order.MoveToFront(e.place)
		e.users++
		c.mu.Unlock()
		<-e.ready
	}
	if e.err != nil {
		c.release(e)
		return nil, nil, e.err
	}
	return e.file, func() { c.release(e) }, nil
}

// release ends a use of e, and closes files if there are too many.
func (c *Cache) release(e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if c.budget <= 0 || e.users > 0 {
		return
	}
	used := int64(0)
	for place := c.order.Front(); place != nil; {
		e := place.Value.(*cached)
		place = place.Next()
		select {
		case <-e.ready:
		default:
			continue
		}
		used += cachedMemory
		if e.file != nil {
			used += e.file.Memory()
		}
		if used > c.budget && e.users == 0 {
			c.drop(e)
		}
	}
}

// cachedMemory is what a file takes at least, in bytes.
const cachedMemory = 4096

// drop closes the file of e.
func (c *Cache) drop(e *cached) {
	c.order.Remove(e.place)
	delete(c.files, e.key)
	if e.file != nil {
		e.file.Close()
	}
}

// Close closes all files. None may be in use.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.files {
		c.drop(e)
	}
}
