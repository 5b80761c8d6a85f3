package walk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"symkit/internal/mem"
	"symkit/internal/wire"
)

// Generated has the names of generated code, read from perf maps and jitdump files.
type Generated struct {
	funcs []generatedFunc // by address, of the same address the latest last
	lines []generatedLine // by address
	// ends is the greatest end of the functions up to each.
	ends  []uint64
	files []*mem.Mapping
}

type generatedFunc struct {
	addr, size uint64
	name       []byte
	order      int // a later function replaces the functions that it overlaps
}

type generatedLine struct {
	addr uint64
	file []byte
	line uint32
}

// errGenerated: a file is neither a perf map nor a jitdump file.
var errGenerated = errors.New("neither a perf map (lines of START SIZE NAME) nor a jitdump file")

// Add reads a perf map or a jitdump file up to the first damage. Where functions
// overlap, the function that was added last counts. The names alias data. Add returns
// an error if the file has no function.
func (g *Generated) Add(data []byte) error {
	before := len(g.funcs)
	var err error
	if len(data) >= 4 && (string(data[:4]) == jitMagicLittle || string(data[:4]) == jitMagicBig) {
		err = g.jitdump(data)
	} else {
		g.perfMap(data)
	}

	switch {
	case len(g.funcs) > before:
		err = nil // a program that crashes cuts its last record short
	case err == nil:
		err = errGenerated
	}

	// A lookup goes back from the last function that begins at or before an address. ends
	// shows where no earlier function can have the address.
	slices.SortStableFunc(g.funcs, func(a, b generatedFunc) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.order, b.order))
	})
	slices.SortStableFunc(g.lines, func(a, b generatedLine) int { return cmp.Compare(a.addr, b.addr) })
	g.ends = g.ends[:0]
	end := uint64(0)
	for _, f := range g.funcs {
		end = max(end, f.addr+f.size)
		g.ends = append(g.ends, end)
	}
	return err
}

// AddFile is Add for the file at path, which stays mapped until Close.
func (g *Generated) AddFile(path string) error {
	file, err := mem.Open(path)
	if err != nil {
		return err
	}
	g.files = append(g.files, file)
	changed := mem.Guard(func() error {
		err = g.Add(file.Bytes())
		return nil
	})
	err = cmp.Or(err, changed)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Close releases the files. It may be called for a nil Generated.
func (g *Generated) Close() (err error) {
	if g == nil {
		return nil
	}
	for _, file := range g.files {
		err = errors.Join(err, file.Release())
	}
	g.files = nil
	return err
}

func (g *Generated) add(addr, size uint64, name []byte) {
	if size == 0 || addr+size < addr || len(name) == 0 {
		return
	}
	g.funcs = append(g.funcs, generatedFunc{addr, size, name, len(g.funcs)})
}

// perfMap reads lines of "START SIZE NAME", in hexadecimal (Linux
// tools/perf/Documentation/jit-interface.txt). Other lines are skipped.
func (g *Generated) perfMap(data []byte) {
	for line := range bytes.Lines(data) {
		start, rest, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte{' '})
		size, name, _ := bytes.Cut(rest, []byte{' '})
		a, err1 := strconv.ParseUint(string(bytes.TrimPrefix(start, []byte("0x"))), 16, 64)
		n, err2 := strconv.ParseUint(string(bytes.TrimPrefix(size, []byte("0x"))), 16, 64)
		if err1 == nil && err2 == nil {
			g.add(a, n, name)
		}
	}
}

// A jitdump file begins with "JiTD" as a word of its byte order (Linux
// tools/perf/Documentation/jitdump-specification.txt).
const (
	jitMagicLittle = "DTiJ"
	jitMagicBig    = "JiTD"
)

const (
	jitLoad  = 0
	jitMove  = 1
	jitLines = 2
)

// jitdump reads the records of functions, of those that moved, and of lines.
func (g *Generated) jitdump(data []byte) error {
	c := wire.New("jitdump", data, string(data[:4]) == jitMagicBig)
	c.Skip(8)
	size := c.U32()
	c.Seek(uint64(size))
	names := map[uint64][]byte{}
	for c.Len() >= 16 && c.Err() == nil {
		// A record begins with its kind, its size and its time.
		at := c.Pos()
		id, total := c.U32(), c.U32()
		c.Skip(8) // timestamp
		if total < 16 {
			return &wire.Error{Section: "jitdump", Offset: at, Err: wire.ErrTruncated}
		}
		r := c.Sub(uint64(total) - 16)
		switch id {
		case jitLoad:
			r.Skip(16) // process, thread, address in the file
			addr, n, index := r.U64(), r.U64(), r.U64()
			name := r.CString()
			if r.Err() == nil {
				names[index] = name
				g.add(addr, n, name)
			}
		case jitMove:
			r.Skip(24)
			addr, n, index := r.U64(), r.U64(), r.U64()
			if r.Err() == nil {
				g.add(addr, n, names[index])
			}
		case jitLines:
			g.jitLines(&r)
		}
	}
	return c.Err()
}

// jitLines reads where lines begin.
func (g *Generated) jitLines(r *wire.Cursor) {
	r.Skip(8) // the function
	for n := r.U64(); n > 0 && r.Len() > 0; n-- {
		l := generatedLine{addr: r.U64(), line: r.U32()}
		r.Skip(4)
		l.file = r.CString()
		if r.Err() == nil {
			g.lines = append(g.lines, l)
		}
	}
}

// maxOverlaps bounds the functions that are looked at for one address.
const maxOverlaps = 1 << 12

// place returns the function and line of an address. g may be nil.
func (g *Generated) place(addr uint64) *Place {
	if g == nil {
		return noPlace
	}
	// Functions may overlap: the one that was added last counts.
	best := -1
	last := sort.Search(len(g.funcs), func(i int) bool { return g.funcs[i].addr > addr }) - 1
	for i := last; i >= 0 && last-i < maxOverlaps && g.ends[i] > addr; i-- {
		if f := &g.funcs[i]; addr-f.addr < f.size && (best < 0 || f.order > g.funcs[best].order) {
			best = i
		}
	}

	if best < 0 {
		return noPlace
	}
	f := &g.funcs[best]
	// The line is the last one that begins in the function, up to the address.
	p := &Place{Func: string(f.name), FuncAddr: f.addr}
	i := sort.Search(len(g.lines), func(i int) bool { return g.lines[i].addr > addr }) - 1
	if i >= 0 && g.lines[i].addr >= f.addr {
		p.File, p.Line, p.LineAddr = string(g.lines[i].file), g.lines[i].line, g.lines[i].addr
	}
	return p
}
