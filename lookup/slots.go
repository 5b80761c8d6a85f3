package lookup

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"symkit/elfx"
	"symkit/internal/filename"
	"symkit/internal/limitof"
	"symkit/internal/plt"
	"symkit/limits"
)

// pltSuffix follows the name of a function in that of its slot, as in objdump and perf.
const pltSuffix = "@plt"

// slotTable has the slots of procedure linkage tables by address. No two overlap.
type slotTable []Symbol

// readSlots reads the slots of f, a file of size bytes. Indirect functions have the names of table. It calls lose with
// damage.
func readSlots(f *elfx.File, size uint64, table *symbolTable, l limits.Limits, lose func(...error)) (t slotTable) {
	most, exceeded := l.Max(limitof.Names, size), l.Exceeded(limitof.Names, size)
	slots, errs := plt.Read(f, plt.Options{Most: most, Exceeded: exceeded, Resolver: func(addr uint64) []byte {
		sym, _ := table.at(addr)
		if sym.Addr != addr {
			return nil
		}
		return []byte(sym.Name)
	}})
	lose(errs...)
	bytes := uint64(0)
	for i := range slots {
		s := &slots[i]
		name := string(s.Name)
		if !s.Head {
			name, _, _ = strings.Cut(name, "@") // the version of a symbol
			name += pltSuffix
		}
		bytes += uint64(len(name))
		if bytes > most { // slots can share a long name
			lose(&filename.Error{Path: f.Path(), Err: exceeded})
			break
		}
		t = append(t, Symbol{Name: name, Addr: s.Addr, Size: uint64(s.Size)})
	}
	slices.SortStableFunc(t, func(a, b Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
	return t
}

// at returns the slot that covers an address.
func (t slotTable) at(addr uint64) (Symbol, bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].Addr > addr }) - 1
	if i < 0 || addr-t[i].Addr >= t[i].Size {
		return Symbol{}, false
	}
	return t[i], true
}
