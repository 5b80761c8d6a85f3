package check

import "debug/dwarf"

// originNames turns the origins of a unit's inlined calls into numbers of
// names, each once.
type originNames struct {
	r   *replay
	s   *unitScan
	far *farReader
	ids map[dieRef]uint32
}

func newOriginNames(r *replay, s *unitScan) *originNames {
	return &originNames{r, s, r.dw.far(), map[dieRef]uint32{}}
}

func (n *originNames) id(at dieRef) uint32 {
	id, ok := n.ids[at]
	if !ok {
		id = n.r.names.id(n.s.naming(at, n.far))
		n.ids[at] = id
	}
	return id
}

// isSplit tells a unit whose functions are in a .dwo file.
func isSplit(root *dwarf.Entry) bool {
	return root.Val(dwarf.AttrDwoName) != nil || root.Val(attrGNUDwoName) != nil || root.Tag == dwarf.TagSkeletonUnit
}

// attrGNUDwoName is DW_AT_GNU_dwo_name, of split DWARF 4.
const attrGNUDwoName = dwarf.Attr(0x2130)
