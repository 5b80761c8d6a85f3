package sources

import (
	"cmp"
	"context"
	"debug/elf"
	"math"
	"slices"

	"symkit/elfx"
	"symkit/walk"
)

// Sized is a Supplier that completes the symbols of another one, which lack the sizes of PUBLIC
// records, by those in the module's file, if the file is on this machine. Without the size, an
// address far after a symbol would bear its name.
type Sized struct {
	walk.Supplier
	// Files returns a finder of files, and is called for each module.
	Files func() *Files
}

// Symbols implements walk.Supplier.
func (s *Sized) Symbols(ctx context.Context, m *walk.Module) *walk.Symbols {
	out := s.Supplier.Symbols(ctx, m)
	if out.Index == nil || !out.Index.LacksSizes() {
		return out
	}
	files := s.Files()
	defer files.Close()
	file := files.Local(m)
	if file == nil {
		return out
	}
	sizes := symbolSizes(file)
	out.Heap += int64(len(sizes)) * 16
	out.Index.SetSizes(func(addr uint64) uint32 {
		i, ok := slices.BinarySearchFunc(sizes, addr, func(s symbolSize, addr uint64) int { return cmp.Compare(s.addr, addr) })
		if !ok {
			return 0
		}
		return sizes[i].size
	})
	return out
}

// Prefetch implements walk.Prefetcher.
func (s *Sized) Prefetch(ctx context.Context, m *walk.Module) bool {
	p, ok := s.Supplier.(walk.Prefetcher)
	return ok && p.Prefetch(ctx, m)
}

// symbolSize is the greatest size of the symbols at an address of a module.
type symbolSize struct {
	addr uint64 // from the module's load address on
	size uint32
}

// symbolSizes returns the sizes of a file's symbols, by address.
func symbolSizes(file *elfx.File) (out []symbolSize) {
	load := file.LoadAddress()
	for _, read := range []func() (*elfx.SymbolTable, error){file.Symtab, file.Dynsym} {
		table, err := read()
		if err != nil || table == nil {
			continue // the symbols of a damaged table have no sizes
		}
		for i := range table.Symbols {
			s := &table.Symbols[i]
			addr := s.Value
			if file.Machine == elf.EM_ARM || file.Machine == elf.EM_MIPS {
				addr &^= 1 // Thumb, MIPS16 or microMIPS code
			}
			if s.Size > 0 && s.Shndx != 0 && addr >= load {
				out = append(out, symbolSize{addr - load, uint32(min(s.Size, math.MaxUint32))})
			}
		}
	}
	slices.SortFunc(out, func(a, b symbolSize) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(b.size, a.size)) })
	return slices.Clip(slices.CompactFunc(out, func(a, b symbolSize) bool { return a.addr == b.addr }))
}
