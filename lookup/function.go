package lookup

import (
	"cmp"
	"sort"
	"sync"

	"symkit/emit"
)

// functions keeps functions of a symbol file that were read, until they take too many bytes. Then those that were not
// used since this happened the last time are dropped.
type functions struct {
	index *emit.Index
	most  int64 // bytes; 0: no bound

	mu         sync.RWMutex
	young, old map[uint64]*textFunc // by place in the file
	used, aged int64                // bytes of young and old
	files      map[uint32]string    // names that were read, by number
	origins    map[uint32]textOrigin
	names      int64 // bytes of these
}

// textOrigin is the function in an INLINE_ORIGIN record.
type textOrigin struct{ name, file string }

// maxFunction bounds the bytes of the records of a function that is kept. The longest of real files have less than a
// megabyte.
const maxFunction = 4 << 20

// at returns the function at a place of the file. It is nil if the function has to be looked up by the index: its records
// are too long, or at the end of the address space.
func (c *functions) at(place uint64) *textFunc {
	c.mu.RLock()
	f := c.young[place]
	c.mu.RUnlock()
	if f == nil {
		f = c.take(place)
	}
	if f == unkept {
		return nil
	}
	return f
}

// unkept stands for a function that at does not return.
var unkept = &textFunc{}

// take reads the function at a place, or keeps it longer.
func (c *functions) take(place uint64) *textFunc {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.young[place]
	if f != nil {
		return f
	}
	f = c.old[place]
	if c.young == nil || c.most > 0 && c.used > c.most/2 {
		c.old, c.aged = c.young, c.used
		c.young, c.used = map[uint64]*textFunc{}, 0
		c.files, c.origins, c.names = map[uint32]string{}, map[uint32]textOrigin{}, 0
	}
	if f == nil {
		f = cmp.Or(c.read(place), unkept)
	}
	c.young[place] = f
	c.used += f.bytes()
	return f
}

// size returns the bytes of what is kept.
func (c *functions) size() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.used + c.aged + c.names
}

// textFunc is a function of a symbol file, with flat lists for its lines and calls. It is never changed.
type textFunc struct {
	name        string
	start, size uint64
	lines       layer
	places      []textPlace // of lines
	depths      []layer
	calls       []textCall
	files       []string
}

// layer divides code at starts: from one start to the next, one record is that of the addresses. None is -1.
type layer struct {
	starts []uint64
	which  []int32
}

// textPlace is a place in a source file: an index in files, or -1.
type textPlace struct {
	file int32
	line uint32
}

// textCall is an inlined call: the function, and the place of the call.
type textCall struct {
	origin textOrigin
	place  textPlace
}

// Sizes in bytes of the elements of the slices of a textFunc, and of a textFunc with its place in a map.
const (
	textFuncSize  = 200
	startSize     = 8 + 4
	textPlaceSize = 8
	textCallSize  = 40
	layerSize     = 48
)

// bytes returns the memory of the function, without the names that others share.
func (f *textFunc) bytes() int64 {
	n := textFuncSize + len(f.name) + textPlaceSize*cap(f.places) + textCallSize*cap(f.calls) + fileSize*cap(f.files) + f.lines.bytes()
	for i := range f.depths {
		n += layerSize + f.depths[i].bytes()
	}
	return int64(n)
}

func (l *layer) bytes() int { return startSize * cap(l.starts) }

// at returns the record of an address, or -1.
func (l *layer) at(addr uint64) int32 {
	i := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > addr }) - 1
	if i < 0 {
		return -1
	}
	return l.which[i]
}

// newLayer divides the code of records, of which the one that begins last holds, and of those that begin together the
// first. code has a scope for each record, from 0 up, in their order.
func newLayer(code []interval) (l layer) {
	last := int32(len(code)) - 1
	if last < 0 {
		return l
	}
	last = code[last].scope
	for i := range code {
		code[i].scope = last - code[i].scope // paint prefers the last
	}
	l.starts, l.which = new(painter).paint(code)
	for i, n := range l.which {
		if n >= 0 {
			l.which[i] = last - n
		}
	}
	return l
}

// read reads the function at a place of the file.
func (c *functions) read(place uint64) *textFunc {
	fn, ok := c.index.Function(place, maxFunction)
	if !ok {
		return nil
	}
	f := &textFunc{name: string(fn.Name), start: fn.Addr, size: uint64(fn.Size)}
	numbers := map[uint32]int32{}
	file := func(num uint32) int32 {
		n, ok := numbers[num]
		if !ok {
			n = -1
			name := c.file(num)
			if name != "" {
				n = int32(len(f.files))
				f.files = append(f.files, name)
			}
			numbers[num] = n
		}
		return n
	}

	code := make([]interval, 0, len(fn.Lines))
	f.places = make([]textPlace, len(fn.Lines))
	for i, l := range fn.Lines {
		if l.Addr+uint64(l.Size) < l.Addr {
			return nil
		}
		if l.Size > 0 {
			code = append(code, interval{l.Addr, l.Addr + uint64(l.Size), int32(i)})
		}
		f.places[i] = textPlace{file(l.File), l.Line}
	}
	f.lines = newLayer(code)

	// The calls of each depth are a layer, up to the first depth without calls.
	f.calls = make([]textCall, len(fn.Inlines))
	var depths [][]interval
	for i, in := range fn.Inlines {
		f.calls[i] = textCall{c.origin(in.Origin), textPlace{file(in.CallFile), in.CallLine}}
		for int(in.Depth) >= len(depths) {
			depths = append(depths, nil)
		}
		for _, r := range in.Ranges {
			if r.Addr+uint64(r.Size) < r.Addr {
				return nil
			}
			if r.Size > 0 {
				depths[in.Depth] = append(depths[in.Depth], interval{r.Addr, r.Addr + uint64(r.Size), int32(i)})
			}
		}
	}
	for _, code := range depths {
		if len(code) == 0 {
			break
		}
		f.depths = append(f.depths, newLayer(code))
	}
	return f
}

// file returns the name of a file, or "".
func (c *functions) file(num uint32) string {
	name, ok := c.files[num]
	if !ok {
		name = string(c.index.FileName(num))
		c.files[num] = name
		c.names += int64(len(name)) + fileSize
	}
	return name
}

// origin returns the function in an INLINE_ORIGIN record.
func (c *functions) origin(num uint32) textOrigin {
	o, ok := c.origins[num]
	if !ok {
		name, file := c.index.OriginName(num)
		o = textOrigin{string(name), string(file)}
		c.origins[num] = o
		c.names += int64(len(name)+len(file)) + textCallSize
	}
	return o
}

// frames appends the frames of an address in the function. The place in the innermost call is that of the line; each
// call has the place of the call, which is in the next outer function.
func (f *textFunc) frames(dst []Frame, addr uint64) []Frame {
	depth := 0
	for depth < len(f.depths) && f.depths[depth].at(addr) >= 0 {
		depth++
	}
	here := textPlace{file: -1}
	line := f.lines.at(addr)
	if line >= 0 {
		here = f.places[line]
	}
	for i := depth - 1; i >= 0; i-- {
		call := &f.calls[f.depths[i].at(addr)]
		file := f.file(here)
		if file == "" && i < depth-1 {
			file = call.origin.file // the old form has the file there
		}
		dst = append(dst, Frame{Name: call.origin.name, File: file, Line: here.line, Inlined: true})
		here = call.place
	}
	return append(dst, Frame{Name: f.name, File: f.file(here), Line: here.line, Start: f.start, Size: f.size})
}

// file returns the name of the file of a place, or "".
func (f *textFunc) file(p textPlace) string {
	if p.file < 0 {
		return ""
	}
	return f.files[p.file]
}
