package lookup

import "sync"

// paths has the paths of source files, each once: the units of a program name the same headers.
type paths struct {
	most  uint64 // bytes that known may have
	short bool   // without the directory of the compilation
	mu    sync.Mutex
	known map[string]string
	bytes uint64 // of known
}

// share returns the strings of text at spans, and the bytes of those that are not shared.
func (p *paths) share(text []byte, spans []textSpan) (list []string, own int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]string{}
	}
	list = make([]string, len(spans))
	for i, s := range spans {
		known, ok := p.known[string(text[s.from:s.to])]
		if !ok {
			known = string(text[s.from:s.to])
			if p.bytes+uint64(len(known)) <= p.most {
				p.bytes += uint64(len(known))
				p.known[known] = known
			} else {
				own += len(known)
			}
		}
		list[i] = known
	}
	return list, own
}
