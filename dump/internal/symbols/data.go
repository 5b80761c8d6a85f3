package symbols

import (
	"cmp"
	"debug/elf"
	"slices"

	"symkit/internal/dwarfx"
)

// inCode finds the data that symbols name in code. A data symbol is of the type STT_OBJECT, or is
// a label after a mapping symbol for data, $d, which the assemblers of some machines write
// (AAELF32 §5.5.5, AAELF64 §5.6.2, RISC-V psABI, "Mapping Symbol").
type inCode struct {
	code    dwarfx.CodeMap
	objects []uint64
	marks   []mark
}

// mark is a mapping symbol.
type mark struct {
	addr uint64
	data bool
}

// object adds a symbol of the type STT_OBJECT.
func (x *inCode) object(addr uint64) {
	if x.code.Contains(addr) {
		x.objects = append(x.objects, addr)
	}
}

// mapping adds a symbol without a type if it is a mapping symbol.
func (x *inCode) mapping(m elf.Machine, addr uint64, name []byte) {
	if m != elf.EM_ARM && m != elf.EM_AARCH64 && m != elf.EM_RISCV || len(name) < 2 || name[0] != '$' {
		return
	}
	switch name[1] {
	case 'a', 't', 'x', 'd':
		if (len(name) == 2 || name[2] == '.' || name[1] == 'x') && x.code.Contains(addr) {
			x.marks = append(x.marks, mark{addr, name[1] == 'd'})
		}
	}
}

// named returns the addresses of data, ascending: of objects, and of the labels in t that are data.
func (x *inCode) named(t Table) []uint64 {
	slices.SortFunc(x.marks, func(a, b mark) int { return cmp.Compare(a.addr, b.addr) })
	data := x.objects
	if len(x.marks) > 0 {
		for i := range t {
			if !t[i].IsFunc() && x.isData(t[i].Addr) {
				data = append(data, t[i].Addr)
			}
		}
	}
	slices.Sort(data)
	return slices.Compact(data)
}

// isData reports whether the last mapping symbol at or below addr is one for data. Of several at
// one address, which an empty section leaves, one for code counts.
func (x *inCode) isData(addr uint64) bool {
	i, _ := slices.BinarySearchFunc(x.marks, addr, func(m mark, addr uint64) int {
		if m.addr > addr {
			return 1
		}
		return -1
	})
	last := i - 1
	for i--; i >= 0 && x.marks[i].addr == x.marks[last].addr; i-- {
		if !x.marks[i].data {
			return false
		}
	}
	return last >= 0
}
