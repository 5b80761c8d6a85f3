package lookup

import (
	"symkit/emit"
	"symkit/internal/mem"
	"symkit/lookup/gsym"
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
		for i, c := range s.Calls {
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
func (x *symbolFile) symbols(dst []Symbol, _ string) []Symbol { return dst }

// memory returns the bytes that the file takes in memory.
func (x *symbolFile) memory() int64 { return x.heap + x.funcs.size() }

// gsymFile is an opened GSYM file.
type gsymFile struct{ file *gsym.File }

func newGSYM(data []byte) (*gsymFile, error) {
	f, err := gsym.Open(data)
	if err != nil {
		return nil, err
	}
	return &gsymFile{f}, nil
}

func (x *gsymFile) frames(dst []Frame, addr uint64) ([]Frame, error) {
	err := mem.Guard(func() error {
		var few [16]gsym.Frame
		sym, frames, err := x.file.Lookup(few[:0], addr)
		for i := range frames {
			c := &frames[i]
			f := Frame{Name: string(c.Name), File: string(c.AppendPath(nil)), Line: c.Line, Inlined: i < len(frames)-1}
			if !f.Inlined {
				f.Start, f.Size = sym.Addr, sym.Size
			}
			dst = append(dst, f)
		}
		return err
	})
	return dst, err
}

func (x *gsymFile) symbolAt(addr uint64) (sym Symbol, ok bool) {
	err := mem.Guard(func() error {
		s, frames, err := x.file.Lookup(nil, addr)
		sym, ok = Symbol{Name: string(s.Name), Addr: s.Addr, Size: s.Size}, len(frames) > 0
		return err
	})
	return sym, ok && err == nil
}

func (x *gsymFile) symbols(dst []Symbol, name string) []Symbol {
	_ = mem.Guard(func() error {
		for s, err := range x.file.Symbols() {
			if err == nil && string(s.Name) == name {
				dst = append(dst, Symbol{Name: name, Addr: s.Addr, Size: s.Size})
			}
		}
		return nil
	})
	return dst
}
