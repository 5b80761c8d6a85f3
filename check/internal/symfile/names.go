package symfile

// Names are the FILE or INLINE_ORIGIN records.
type Names struct {
	List   []Name
	sparse map[uint32]uint32 // number to index, for numbers that are not their index
}

type Name struct {
	Num  uint32
	At   uint32
	Text []byte
}

func (n *Names) add(num, at uint32, text []byte) {
	if uint64(num) != uint64(len(n.List)) {
		if n.sparse == nil {
			n.sparse = map[uint32]uint32{}
		}
		if _, ok := n.Index(num); !ok {
			n.sparse[num] = uint32(len(n.List))
		}
	}
	n.List = append(n.List, Name{num, at, text})
}

// Index is the place in list of the first record with a number.
func (n *Names) Index(num uint32) (uint32, bool) {
	if uint64(num) < uint64(len(n.List)) && n.List[num].Num == num {
		if i, ok := n.sparse[num]; ok {
			return min(i, num), true
		}
		return num, true
	}
	i, ok := n.sparse[num]
	return i, ok
}

// Text is the name with a number, nil for none.
func (n *Names) Text(num uint32) []byte {
	if i, ok := n.Index(num); ok {
		return n.List[i].Text
	}
	return nil
}
