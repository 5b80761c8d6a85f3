package lookup

import (
	"cmp"
	"hash/crc32"
	"slices"
	"sort"
	"sync"

	"symkit/internal/filename"
	"symkit/internal/mem"
	"symkit/lookup/gsym"
)

// gsymFile is an opened GSYM file.
type gsymFile struct {
	path   string
	file   *gsym.File
	byName func() []nameKey
	once   sync.Once
	losses losses // the first damage, since a function can be asked for again and again
}

// nameKey is the hash of the first bytes of a function's name, and the index of the function. Names are not compared to
// be sorted, since many functions can have one long name.
type nameKey struct{ hash, index uint32 }

// hashed is how many bytes of a name count.
const hashed = 128

func newGSYM(path string, data []byte) (*gsymFile, error) {
	f, err := gsym.Open(data)
	if err != nil {
		return nil, err
	}
	x := &gsymFile{path: path, file: f}
	x.byName = sync.OnceValue(x.sortNames)
	return x, nil
}

// sortNames returns the keys of the functions, by hash and address.
func (x *gsymFile) sortNames() (keys []nameKey) {
	i := uint32(0)
	for s, err := range x.file.Symbols() {
		if err == nil {
			keys = append(keys, nameKey{hashName(s.Name), i})
		}
		i++
	}
	slices.SortFunc(keys, func(a, b nameKey) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.index, b.index)) })
	return keys
}

func hashName[T string | []byte](name T) uint32 {
	return crc32.ChecksumIEEE([]byte(name[:min(len(name), hashed)]))
}

// lose notes damage, and returns the error with the path of the file.
func (x *gsymFile) lose(err error) error {
	if err != nil {
		err = &filename.Error{Path: x.path, Err: err}
		x.once.Do(func() { x.losses.add(err) })
	}
	return err
}

func (x *gsymFile) frames(dst []Frame, addr uint64) ([]Frame, error) {
	err := mem.Guard(func() error {
		var few [16]gsym.Frame
		sym, frames, err := x.file.Lookup(few[:0], addr)
		text := 0
		for i := range frames {
			c := &frames[i]
			text += len(c.Name) + len(c.Dir) + len(c.Base)
			if text > mostText && i < len(frames)-1 {
				continue
			}
			f := Frame{Name: string(c.Name), File: string(c.AppendPath(nil)), Line: c.Line, Inlined: i < len(frames)-1}
			if !f.Inlined {
				f.Start, f.Size = sym.Addr, sym.Size
			}
			dst = append(dst, f)
		}
		return err
	})
	return dst, x.lose(err)
}

func (x *gsymFile) symbolAt(addr uint64) (sym Symbol, ok bool) {
	err := mem.Guard(func() error {
		s, frames, err := x.file.Lookup(nil, addr)
		sym, ok = Symbol{Name: string(s.Name), Addr: s.Addr, Size: s.Size}, len(frames) > 0
		return err
	})
	return sym, ok && err == nil
}

func (x *gsymFile) symbols(dst []Symbol, name string, n int) []Symbol {
	_ = mem.Guard(func() error {
		keys, hash := x.byName(), hashName(name)
		i := sort.Search(len(keys), func(i int) bool { return keys[i].hash >= hash })
		for ; i < len(keys) && keys[i].hash == hash && n != 0; i++ {
			s, err := x.file.Symbol(int(keys[i].index))
			if err == nil && string(s.Name) == name {
				dst = append(dst, Symbol{Name: name, Addr: s.Addr, Size: s.Size})
				n--
			}
		}
		return nil
	})
	return dst
}
