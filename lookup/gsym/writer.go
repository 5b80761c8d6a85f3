package gsym

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"symkit/internal/hashindex"
)

// Func is a function to write.
type Func struct {
	Addr uint64
	// Size is in bytes. A function of size 0 extends to the next one.
	Size  uint64
	Name  String
	Lines []Line // by address
	Calls []Call // the inlined calls, outer before inner
}

// Line is a row: the code from Addr up to the next row is of a line of a file. Line 0 is code without a line.
type Line struct {
	Addr       uint64
	File, Line uint32
}

// Call is an inlined call. It is in the last call before it whose Depth is lower by one.
type Call struct {
	Depth      uint32 // 0 for a call in the function itself
	Name       String // of the inlined function
	File, Line uint32 // of the call
	// Ranges are the inlined code. They ascend without overlaps, and each lies in a range of the call around it.
	Ranges []Range
}

// String is the number of a text in a Writer.
type String uint32

// The mistakes of callers.
var (
	errOrder = errors.New("functions overlap or do not ascend")
	errLines = errors.New("lines do not ascend or are not in the function")
	errCalls = errors.New("an inlined call is not in the call around it")
	errName  = errors.New("no name")
)

// errSize is the error for a function that the format cannot hold.
var errSize = errors.New("more than 4 GiB, which a function of GSYM cannot have")

// Writer collects functions and writes them as one file, of version 1 if that can hold them. The first error sticks.
type Writer struct {
	uuid  []byte
	order byteOrder
	most  uint64 // bytes that a file of version 1 may have
	wide  bool   // the file is of version 2
	err   error

	seed    maphash.Seed
	strings stringTable

	fileIndex hashindex.Index
	files     [][2]String // directory and name

	addrs  []uint64
	infos  []uint64 // offsets in chunks
	chunks [][]byte // the infos of the functions; only the last one grows
	before uint64   // bytes in the chunks before the last one
	end    uint64   // of the last function

	// Of the function that is being written.
	open   [][]Range // by depth, the ranges of the calls that are open
	deltas histogram
}

// stringTable has texts. A String is the index of one, whose offset is known at once, because the table only grows.
type stringTable struct {
	index   hashindex.Index
	texts   []string
	offsets []uint64
	size    uint64
}

// byteOrder puts and appends numbers.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// chunkSize is the capacity of a chunk, so that a large file is not copied while it grows.
const chunkSize = 1 << 20

// NewWriter returns a Writer for the module with an id, in the byte order of its machine. Version 1 has the first 20
// bytes of the id alone.
func NewWriter(uuid []byte, bigEndian bool) *Writer {
	w := &Writer{
		uuid:  uuid,
		order: binary.LittleEndian,
		most:  math.MaxUint32,
		seed:  maphash.MakeSeed(),
	}
	if bigEndian {
		w.order = binary.BigEndian
	}
	w.String("")
	w.addFile([2]String{})
	return w
}

// String returns the number of a text, which the Writer keeps. The text ends at its first NUL.
func (w *Writer) String(text string) String {
	t := &w.strings
	hash := maphash.String(w.seed, text)
	n, ok := t.index.Find(hash, func(n uint32) bool { return t.texts[n] == text })
	if ok {
		return String(n)
	}
	before, _, ok0 := strings.Cut(text, "\x00")
	if ok0 {
		return w.String(before)
	}

	n = uint32(len(t.texts))
	t.index.Add(hash, n)
	t.texts, t.offsets = append(t.texts, text), append(t.offsets, t.size)
	t.size += uint64(len(text)) + 1
	if t.size > w.most {
		w.widen()
	}
	return String(n)
}

// File returns the number of a source file.
func (w *Writer) File(path string) uint32 {
	slash := strings.LastIndexByte(path, '/')
	dir := path[:max(slash, 0)]
	if slash == 0 {
		dir = "/"
	}
	return w.addFile([2]String{w.String(dir), w.String(path[slash+1:])})
}

// addFile returns the number of a file.
func (w *Writer) addFile(f [2]String) uint32 {
	hash := maphash.Comparable(w.seed, f)
	n, ok := w.fileIndex.Find(hash, func(n uint32) bool { return w.files[n] == f })
	if !ok {
		n = uint32(len(w.files))
		w.fileIndex.Add(hash, n)
		w.files = append(w.files, f)
	}
	return n
}

// Func adds a function. Functions ascend by address and do not overlap. The Writer does not keep f.
func (w *Writer) Func(f *Func) {
	if w.err != nil {
		return
	}
	err := w.check(f)
	if err != nil {
		w.fail(f, err)
		return
	}

	b := w.chunk()
	w.addrs, w.infos, w.end = append(w.addrs, f.Addr), append(w.infos, w.before+uint64(len(b))), f.Addr+f.Size
	b = w.order.AppendUint32(b, uint32(f.Size))
	b = w.appendString(b, f.Name)
	if len(f.Lines)+len(f.Calls) > 0 {
		b = w.section(b, lineTable, f, (*Writer).appendLines)
	}
	if len(f.Calls) > 0 {
		b = w.section(b, inlineInfo, f, (*Writer).appendCalls)
	}
	b = w.order.AppendUint32(b, endOfList)
	b = w.order.AppendUint32(b, 0)
	w.chunks[len(w.chunks)-1] = b
}

// appendString appends a reference to a text.
func (w *Writer) appendString(b []byte, s String) []byte {
	if w.wide {
		return w.order.AppendUint64(b, w.strings.offsets[s])
	}
	return w.order.AppendUint32(b, uint32(w.strings.offsets[s]))
}

// fail notes the error of a function.
func (w *Writer) fail(f *Func, err error) { w.err = fmt.Errorf("function at %#x: %w", f.Addr, err) }

// check returns what is wrong with a function.
func (w *Writer) check(f *Func) error {
	switch {
	case f.Name == 0:
		return errName
	case f.Addr+f.Size < f.Addr, len(w.addrs) > 0 && (f.Addr < w.end || f.Addr == w.addrs[len(w.addrs)-1]):
		return errOrder
	case f.Size > math.MaxUint32:
		return errSize
	}
	last := f.Addr
	for i := range f.Lines {
		at := f.Lines[i].Addr
		if at < last || at-f.Addr >= f.Size {
			return errLines
		}
		last = at
	}
	return nil
}

// chunk returns the last chunk, at whose end an info can begin: infos are aligned.
func (w *Writer) chunk() []byte {
	var b []byte
	last := len(w.chunks) - 1
	if last >= 0 {
		b = w.chunks[last]
	}
	b = w.align(b)
	if last < 0 || len(b) >= chunkSize {
		if last >= 0 {
			w.chunks[last], w.before = b, w.before+uint64(len(b))
		}
		b = make([]byte, 0, chunkSize+chunkSize/4)
		w.chunks = append(w.chunks, b)
	}
	return b
}

// align appends zeros up to where an info can begin.
func (w *Writer) align(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

// section appends a part of the info about f, with its kind and length in front.
func (w *Writer) section(b []byte, kind uint32, f *Func, appendTo func(*Writer, []byte, *Func) []byte) []byte {
	b = w.order.AppendUint32(b, kind)
	at := len(b)
	b = w.order.AppendUint32(b, 0)
	b = appendTo(w, b, f)
	w.order.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}
