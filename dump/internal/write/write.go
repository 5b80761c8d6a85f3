// Package write writes the records of a module as the text of a symbol file.
//
// It takes a header and the records and gives text, formatted on all processors and
// written in order. The text does not depend on the number of goroutines.
package write

import (
	"io"
	"iter"
	"slices"
	"strings"

	"symkit/dump/internal/record"
	"symkit/emit"
	"symkit/internal/dwarfx"
)

// Header holds the MODULE and INFO records, with which a symbol file begins.
type Header struct {
	OS, Arch, ID, Name string
	CodeID             string   // empty: no INFO record but those of Extra
	Extra              []string // INFO lines, each "KEY text"
	Generator          string   // empty: no INFO GENERATOR
}

// Module writes a symbol file: identity, files, origins, functions, publics,
// unwind rules. The records are formatted on at most jobs goroutines.
func Module(out io.Writer, h Header, m *record.Module, jobs int) error {
	w := emit.NewWriter(out)
	w.Record(&emit.Module{OS: h.OS, Arch: h.Arch, ID: h.ID, Name: h.Name})
	if h.CodeID != "" {
		w.Record(&emit.Info{Key: emit.KeyCodeID, Text: h.CodeID})
	}

	// Plug-ins of build systems take the third word of the first INFO record for the code id.
	// Without a CODE_ID there is no other INFO record, except those that options add.
	for _, line := range h.Extra {
		key, text, _ := strings.Cut(line, " ")
		w.Record(&emit.Info{Key: key, Text: text})
	}
	if h.Generator != "" && h.CodeID != "" {
		w.Record(&emit.Info{Key: emit.KeyGenerator, Text: h.Generator})
	}
	if m == nil {
		return w.Flush()
	}

	for _, r := range m.Signals {
		if h.CodeID == "" {
			break
		}
		for part := range emit.Split(r.Lo, r.Hi-r.Lo) {
			info := emit.SignalFrame(part.Addr, part.Size)
			w.Record(&info)
		}
	}

	if h.CodeID != "" {
		writeSizes(w, m)
	}

	var file emit.File
	for i, name := range m.Files.Names {
		file.Num, file.Name = uint32(i), append(file.Name[:0], name...)
		w.Record(&file)
	}
	err := writeChunks(w, chunks(m), bufferSize(m), jobs)
	if err != nil {
		return err
	}
	return w.Flush()
}

// writeSizes writes the sizes of the PUBLIC records, which have none themselves.
func writeSizes(w *emit.Writer, m *record.Module) {
	for from := 0; from < len(m.PublicSizes); from += emit.MaxPublicSizes {
		to := min(from+emit.MaxPublicSizes, len(m.PublicSizes))
		sizes := m.PublicSizes[from:to]
		if !slices.ContainsFunc(sizes, func(size uint32) bool { return size > 0 }) {
			continue
		}
		info := emit.PublicSizes{First: m.Publics[from].Addr, Last: m.Publics[to-1].Addr, Sizes: sizes}.Info()
		w.Record(&info)
	}
}

// chunk appends some records to dst.
type chunk func(dst []byte) []byte

// chunkRecords is about how many records a chunk has. A long name counts for
// several: one for each nameRecord bytes.
const (
	chunkRecords = 1 << 13
	nameRecord   = 64
)

// chunks yields the chunks of the origins, the functions, the publics and the unwind
// rules.
func chunks(m *record.Module) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		funcs := func(dst []byte, _ int, funcs []record.Func) []byte { return appendFuncs(dst, m, funcs) }
		more := yieldRuns(yield, m.Origins.Texts, func(name *string) int { return 1 + len(*name)/nameRecord }, appendOrigins) &&
			yieldRuns(yield, m.Funcs, records, funcs) &&
			yieldRuns(yield, m.Publics, func(p *emit.Public) int { return 1 + len(p.Name)/nameRecord }, appendPublics)
		if !more || m.Unwind == nil {
			return
		}

		// Package unwind has divided its entries already.
		for i := range m.Unwind.Runs() {
			if !yield(func(dst []byte) []byte { return m.Unwind.Append(dst, i) }) {
				return
			}
		}
	}
}

// yieldRuns cuts list into runs of about chunkRecords records and yields a chunk for
// each: format, which gets the run and the index of the run's first element. It
// reports whether yield always returned true.
func yieldRuns[T any](yield func(chunk) bool, list []T, records func(*T) int, format func(dst []byte, first int, run []T) []byte) bool {
	from, sum := 0, 0
	for i := range list {
		sum += records(&list[i])
		if sum < chunkRecords && i+1 < len(list) {
			continue
		}

		first, run := from, list[from:i+1]
		if !yield(func(dst []byte) []byte { return format(dst, first, run) }) {
			return false
		}
		from, sum = i+1, 0
	}
	return true
}

// records is about how many records f makes.
func records(f *record.Func) int {
	return 1 + len(f.Name)/nameRecord + len(f.Lines) + 2*len(f.Calls.List)
}

// appendOrigins appends the records of names, whose numbers begin at first.
func appendOrigins(dst []byte, first int, names []string) []byte {
	for i, name := range names {
		dst = emit.InlineOrigin{Num: uint32(first + i), Name: []byte(name)}.AppendSound(dst)
	}
	return dst
}

func appendPublics(dst []byte, _ int, publics []emit.Public) []byte {
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

// append appends the records of f. Almost every f has one FUNC record; a function of
// 4 GiB or more has several, each with its own share of the lines and inlined calls.
func (w *funcWriter) append(dst []byte, f *record.Func) []byte {
	for part := range emit.Split(f.Addr, f.Size) {
		head := emit.Func{Addr: part.Addr, Size: part.Size, Name: []byte(f.Name), Multiple: f.Multiple}
		if f.Sound {
			dst = head.AppendSound(dst)
		} else {
			dst = head.Append(dst)
		}

		lo, hi := part.Addr, part.Addr+uint64(part.Size)
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

		// Only the calls of a function with several records have to be divided.
		ranges := f.Calls.Ranges[call.Ranges.From:call.Ranges.To]
		if f.Size < 1<<32 {
			for _, r := range ranges {
				record.Ranges = append(record.Ranges, emit.Range{Addr: r.Lo - w.m.Load, Size: uint32(r.Hi - r.Lo)})
			}
		} else {
			record.Ranges = w.appendParts(record.Ranges, ranges, lo, hi)
		}
		dst = record.Append(dst)
	}
	return dst
}

// appendParts cuts ranges into parts that a record can have, and appends the parts
// that begin in [lo, hi).
func (w *funcWriter) appendParts(dst []emit.Range, ranges []dwarfx.Range, lo, hi uint64) []emit.Range {
	for _, r := range ranges {
		for part := range emit.Split(r.Lo-w.m.Load, r.Hi-r.Lo) {
			if part.Addr >= lo && part.Addr < hi {
				dst = append(dst, part)
			}
		}
	}
	return dst
}
