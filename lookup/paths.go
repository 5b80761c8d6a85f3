package lookup

import "sync"

// paths has the paths of source files, each once: the units of a program name the same headers.
type paths struct {
	mu    sync.Mutex
	known map[string]string
}

// share puts the strings of text at spans into list.
func (p *paths) share(text []byte, spans []textSpan, list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]string{}
	}
	for i, s := range spans {
		known, ok := p.known[string(text[s.from:s.to])]
		if !ok {
			known = string(text[s.from:s.to])
			p.known[known] = known
		}
		list[i] = known
	}
}
