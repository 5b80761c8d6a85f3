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
	used  int64     // bytes of all files, as of their last releases
}

// cached is a file of a Cache, or the error of opening it.
type cached struct {
	key       string
	place     *list.Element // nil if the entry is no longer in the cache
	ready     chan struct{} // closed when the file is open
	file      *File
	err       error
	cancelled bool // the error is that of the context of the call that opened the file
	users     int
	bytes     int64
}

// NewCache returns a Cache for so many bytes, 0 for no bound. It opens files by the function open. The bytes of a
// file are what File.Memory returns; a file that is in use counts, but is not closed.
func NewCache(budget int64, open func(ctx context.Context, key string) (*File, error)) *Cache {
	return &Cache{budget: budget, open: open, files: map[string]*cached{}}
}

// Get returns the file of a key, which stays open until release is called. Calls at the same time open the file once. The
// error is that of opening the file, which is not tried again, or that of ctx.
func (c *Cache) Get(ctx context.Context, key string) (f *File, release func(), err error) {
	for {
		e, found := c.take(key)
		if !found {
			e.file, e.err = c.open(ctx, key)
			e.cancelled = e.err != nil && ctx.Err() != nil
			if e.cancelled {
				c.remove(e)
			}
			close(e.ready)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			c.release(e)
			return nil, nil, context.Cause(ctx)
		}
		if e.err == nil {
			return e.file, func() { c.release(e) }, nil
		}
		c.release(e)
		if !e.cancelled || ctx.Err() != nil {
			return nil, nil, e.err
		}
	}
}

// take returns the entry of a key for one use, and makes the entry if there is none.
func (c *Cache) take(key string) (e *cached, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e = c.files[key]
	found = e != nil
	if found {
		c.order.MoveToFront(e.place)
	} else {
		e = &cached{key: key, ready: make(chan struct{}), bytes: cachedMemory}
		e.place = c.order.PushFront(e)
		c.files[key] = e
		c.used += e.bytes
	}
	e.users++
	return e, found
}

// release ends a use of e, and closes files if there are too many.
func (c *Cache) release(e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.place == nil {
		if e.users == 0 && e.file != nil {
			e.file.Close()
		}
		return
	}
	select {
	case <-e.ready:
	default: // this call does not wait until the file is open
		return
	}
	if e.file != nil {
		c.used -= e.bytes
		e.bytes = cachedMemory + e.file.Memory()
		c.used += e.bytes
	}
	for place := c.order.Back(); place != nil && c.budget > 0 && c.used > c.budget; {
		old := place.Value.(*cached)
		place = place.Prev()
		if old.users == 0 {
			c.drop(old)
		}
	}
}

// cachedMemory is what a file takes at least, in bytes.
const cachedMemory = 4096

// Forget has the next Get of a key open the file again. Users of the file keep it.
func (c *Cache) Forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.files[key]
	if e != nil {
		c.drop(e)
	}
}

// remove is drop for an entry that may have been dropped.
func (c *Cache) remove(e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.place != nil {
		c.drop(e)
	}
}

// drop takes e out of the cache, and closes its file unless there are users, of which the last one does it.
func (c *Cache) drop(e *cached) {
	c.order.Remove(e.place)
	delete(c.files, e.key)
	c.used -= e.bytes
	e.place = nil
	if e.users == 0 && e.file != nil {
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
