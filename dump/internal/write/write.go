// Package write writes the records of a module as the text of a symbol file.
package write

import (
	"io"
	"iter"
	"strings"

	"symkit/dump/dwarfx"
	"symkit/dump/internal/record"
	"symkit/emit"
)

// Header is what a symbol file begins with.
type Header struct {
	OS, Arch, ID, Name string
	CodeID             string   // empty: no INFO CODE_ID
	Extra              []string // INFO lines, each "KEY text"
	Generator          string   // empty: no INFO GENERATOR
}

// Module writes a symbol file: identity, files, origins, functions, publics,
// unwind rules. The records are formatted on at most jobs goroutines.
func Module(out io.Writer, h Header, m *record.Module, jobs int) error {
	w := emit.NewWriter(out)
	w.Module(emit.Module{OS: h.OS, Arch: h.Arch, ID: h.ID, Name: h.Name})
	if h.CodeID != "" {
		w.Info(emit.Info{Key: emit.KeyCodeID, Text: h.CodeID})
	}
	for _, line := range h.Extra {
		key, text, _ := strings.Cut(line, " ")
		w.Info(emit.Info{Key: key, Text: text})
	}
	if h.Generator != "" {
		w.Info(emit.Info{Key: emit.KeyGenerator, Text: h.Generator})
	}
	if m == nil {
		return w.Flush()
	}

	for _, r := range m.Signals {
		for piece := range emit.Pieces(r.Lo, r.Hi-r.Lo) {
			w.Info(emit.SignalFrame(piece.Addr, piece.Size))
		}
	}
	for i, name := range m.Files.Names {
		w.File(emit.File{Num: uint32(i), Name: []byte(name)})
	}
	err := writeChunks(w, chunks(m), bufferSize(m), jobs)
	if err != nil {
		return err
	}
	return w.Flush()
}

// chunk appends some records to dst.
type chunk func(dst []byte) []byte

// chunkRecords is about how many records a chunk has. A long name counts for
// several: one for each nameRecord bytes.
const (
	chunkRecords = 1 << 13
	nameRecord   = 64
)

// chunks yields what formats the origins, the functions, the publics and the
// unwind rules.
func chunks(m *record.Module) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for first, names := range runs(m.Origins.Texts, func(name *string) int { return 1 + len(*name)/nameRecord }) {
			if !yield(func(dst []byte) []byte { return appendOrigins(dst, names, first) }) {
				return
			}
		}
		for _, funcs := range runs(m.Funcs, records) {
			if !yield(func(dst []byte) []byte { return appendFuncs(dst, m, funcs) }) {
				return
			}
		}
		for _, publics := range runs(m.Publics, func(p *emit.Public) int { return 1 + len(p.Name)/nameRecord }) {
			if !yield(func(dst []byte) []byte { return appendPublics(dst, publics) }) {
				return
			}
		}
		if m.Unwind == nil {
			return
		}
		for i := range m.Unwind.Runs() {
			if !yield(func(dst []byte) []byte { return m.Unwind.Append(dst, i) }) {
				return
			}
		}
	}
}

// runs yields list in runs of about chunkRecords records, each with the index of
// its first element.
func runs[T any](list []T, records func(*T) int) iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		from, sum := 0, 0
		for i := range list {
			sum += records(&list[i])
			if sum < chunkRecords && i+1 < len(list) {
				continue
			}
			if !yield(from, list[from:i+1]) {
				return
			}
			from, sum = i+1, 0
		}
	}
}

// records is about how many records f makes.
func records(f *record.Func) int {
	return 1 + len(f.Name)/nameRecord + len(f.Lines) + 2*len(f.Calls.List)
}

// appendOrigins appends the records of names, whose numbers begin at first.
func appendOrigins(dst []byte, names []string, first int) []byte {
	for i, name := range names {
		dst = emit.InlineOrigin{Num: uint32(first + i), Name: []byte(name)}.AppendSound(dst)
	}
	return dst
}

func appendPublics(dst []byte, publics []emit.Public) []byte {
	for i := range publics {
		dst = publics[i].Append(dst)
	}
	return dst
}

func appendFuncs(dst []byte, m *record.Module, funcs []record.Func) []byte {
	w := funcWriter{m: m}
	for i := range funcs {
		dst = w.append(dst, &funcs[i])
	}
	return dst
}

// funcWriter appends functions.
type funcWriter struct {
	m      *record.Module
	inline emit.Inline // scratch
}

// append appends the records of f. The size of f is almost always one piece; each
// further piece has its own share of the lines and inlined calls.
func (w *funcWriter) append(dst []byte, f *record.Func) []byte {
	for piece := range emit.Pieces(f.Addr, f.Size) {
		head := emit.Func{Addr: piece.Addr, Size: piece.Size, Name: []byte(f.Name), Multiple: f.Multiple}
		if f.Sound {
			dst = head.AppendSound(dst)
		} else {
			dst = head.Append(dst)
		}

		lo, hi := piece.Addr, piece.Addr+uint64(piece.Size)
		dst = w.appendCalls(dst, f, lo, hi)
		for _, l := range f.Lines {
			if l.Addr >= lo && l.Addr < hi {
				l.File = w.m.Files.Place[l.File]
				dst = l.Append(dst)
			}
		}
	}
	return dst
}

// appendCalls appends the records of the calls in the part of f at [lo, hi).
func (w *funcWriter) appendCalls(dst []byte, f *record.Func, lo, hi uint64) []byte {
	record := &w.inline
	for i := range f.Calls.List {
		call := &f.Calls.List[i]
		record.Depth, record.CallLine = call.Depth, call.CallLine
		record.CallFile, record.Origin = w.m.Files.Place[call.CallFile], w.m.Origins.Place[call.Origin]
		record.Ranges = record.Ranges[:0]

		ranges := f.Calls.Ranges[call.Ranges.From:call.Ranges.To]
		if f.Size < 1<<32 {
			for _, r := range ranges {
				record.Ranges = append(record.Ranges, emit.Range{Addr: r.Lo - w.m.Load, Size: uint32(r.Hi - r.Lo)})
			}
		} else {
			record.Ranges = w.appendPieces(record.Ranges, ranges, lo, hi)
		}
		dst = record.Append(dst)
	}
	return dst
}

// appendPieces appends the parts of ranges in [lo, hi), in pieces that a record
// can have.
func (w *funcWriter) appendPieces(dst []emit.Range, ranges []dwarfx.Range, lo, hi uint64) []emit.Range {
	for _, r := range ranges {
		for piece := range emit.Pieces(r.Lo-w.m.Load, r.Hi-r.Lo) {
			if piece.Addr >= lo && piece.Addr < hi {
				dst = append(dst, piece)
			}
		}
	}
	return dst
}
