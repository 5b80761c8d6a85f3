package uploads

import "sync"

// hints remembers where the last part of each upload begins, so that not every part has to be looked for. Another server
// may have more parts, or have removed all.
type hints struct {
	mu  sync.Mutex
	all map[string]int64
}

// maxHints bounds the number of uploads.
const maxHints = 1 << 12

func (h *hints) get(key string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[key]
}

func (h *hints) set(key string, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil || len(h.all) >= maxHints {
		h.all = map[string]int64{}
	}
	if n == 0 {
		delete(h.all, key)
		return
	}
	h.all[key] = n
}
