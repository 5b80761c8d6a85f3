package lookup

import (
	"symkit/emit"
	"symkit/internal/mem"
)

// symbolFile is an opened symbol file. Its addresses are module-relative. Functions are read and kept as function.go says.
type symbolFile struct {
	index *emit.Index
	id    []byte // build id, or nil
	heap  int64  // bytes of the text, unless the text is mapped, and of the index
	funcs functions
}

func newSymbolFile(index *emit.Index, id []byte, heap int64, opt Options) *symbolFile {
	return &symbolFile{index: index, id: id, heap: heap + index.HeapSize(), funcs: functions{index: index, most: opt.Memory}}
}

func (x *symbolFile) frames(dst []Frame, addr uint64) ([]Frame, error) {
	err := mem.Guard(func() error {
		place, ok := x.index.FuncAt(addr)
		if ok {
			f := x.funcs.at(place)
			if f != nil {
				dst = f.frames(dst, addr)
				return nil
			}
		}
		s, ok := x.index.Symbol(addr)
		if !ok || s.After {
			return nil
		}
		text := 0
		for i, c := range s.Calls {
			text += len(c.Func) + len(c.File)
			if text > mostText && i < len(s.Calls)-1 {
				continue
			}
			f := Frame{Name: string(c.Func), File: string(c.File), Line: c.Line, Inlined: i < len(s.Calls)-1}
			if !f.Inlined {
				f.Start, f.Size = s.Addr, uint64(s.Size)
			}
			dst = append(dst, f)
		}
		return nil
	})
	return dst, err
}

func (x *symbolFile) symbolAt(addr uint64) (Symbol, bool) {
	sym, after, ok := x.symbol(addr)
	return sym, ok && !after
}

// symbol returns the symbol at an address. after: nothing shows that the symbol, which begins before the address, reaches
// it.
func (x *symbolFile) symbol(addr uint64) (sym Symbol, after, ok bool) {
	err := mem.Guard(func() error {
		var s emit.Symbol
		s, ok = x.index.Symbol(addr)
		if ok {
			sym, after = Symbol{Name: string(s.Calls[len(s.Calls)-1].Func), Addr: s.Addr, Size: uint64(s.Size)}, s.After
		}
		return nil
	})
	return sym, after, ok && err == nil
}

// symbols appends nothing: a symbol file is not indexed by name.
func (x *symbolFile) symbols(dst []Symbol, _ string, _ int) []Symbol { return dst }

// memory returns the bytes that the file takes in memory.
func (x *symbolFile) memory() int64 { return x.heap + x.funcs.size() }
