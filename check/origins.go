package check

import (
	"symkit/check/internal/truth/dwarfinfo"
)

// originNames turns the origins of a unit's inlined calls into numbers of
// names, each once.
type originNames struct {
	r   *replay
	s   *dwarfinfo.Scan
	far *dwarfinfo.FarReader
	ids map[dwarfinfo.Ref]uint32
}

func newOriginNames(r *replay, s *dwarfinfo.Scan) *originNames {
	return &originNames{r, s, r.dw.Far(), map[dwarfinfo.Ref]uint32{}}
}

func (n *originNames) id(at dwarfinfo.Ref) uint32 {
	id, ok := n.ids[at]
	if !ok {
		id = n.r.names.ID(n.s.Naming(at, n.far))
		n.ids[at] = id
	}
	return id
}
