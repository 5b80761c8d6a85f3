package dump

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"symkit/dump/dwarfx"
	"symkit/elfx"
	"symkit/emit"
)

// Write writes m as a symbol file, in the order of DESIGN: identity, files,
// origins, functions, publics, unwind rules. The files it was made of must still
// be open; that they changed meanwhile is an error.
func (m *Module) Write(out io.Writer) error {
	var failed error
	err := elfx.Guard(func() error {
		failed = m.write(out)
		return nil
	})
	if m.unwinder != nil {
		m.unwinder.count(&m.Stats, m.img)
	}
	if errors.Is(failed, elfx.ErrChanged) { // on another goroutine
		failed, err = nil, elfx.ErrChanged
	}
	switch {
	case failed != nil:
		return fmt.Errorf("writing symbols: %w", failed)
	case m.img == nil:
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", m.img.Main.Path(), err)
	}
	return m.img.Unchanged()
}

func (m *Module) write(out io.Writer) error {
	w := emit.NewWriter(out)
	w.Module(emit.Module{OS: m.OS, Arch: m.Arch, ID: m.ID, Name: m.Name})
	if m.CodeID != "" {
		w.Info(emit.Info{Key: emit.KeyCodeID, Text: m.CodeID})
	}
	for _, line := range m.Extra {
		key, text, _ := strings.Cut(line, " ")
		w.Info(emit.Info{Key: key, Text: text})
	}
	if m.Generator != "" {
		w.Info(emit.Info{Key: emit.KeyGenerator, Text: m.Generator})
	}
	for _, r := range m.SignalFrames {
		for piece := range emit.Pieces(r.Lo, r.Hi-r.Lo) {
			w.Info(emit.SignalFrame(piece.Addr, piece.Size))
		}
	}
	for i, name := range m.Files {
		w.File(emit.File{Num: uint32(i), Name: []byte(name)})
	}
	if err := m.writeChunks(w); err != nil {
		return err
	}
	return w.Flush()
}

// A chunk is records that are formatted at once: the function appends them.
type chunk func(dst []byte) []byte

// chunkRecords is about how many records a chunk has. Long names count for
// several.
const (
	chunkRecords = 1 << 13
	nameRecord   = 64 // bytes of a name that count for a record
)

// chunks yields what formats the origins, the functions, the publics and the unwind
// rules.
func (m *Module) chunks() iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for first, names := range runs(m.Origins, func(name *string) int { return 1 + len(*name)/nameRecord }) {
			if !yield(func(dst []byte) []byte { return appendOrigins(dst, names, first) }) {
				return
			}
		}
		for _, funcs := range runs(m.Funcs, (*Func).records) {
			if !yield(func(dst []byte) []byte { return m.appendFuncs(dst, funcs) }) {
				return
			}
		}
		for _, publics := range runs(m.Publics, func(p *emit.Public) int { return 1 + len(p.Name)/nameRecord }) {
			if !yield(func(dst []byte) []byte { return appendPublics(dst, publics) }) {
				return
			}
		}
		if m.unwinder == nil {
			return
		}
		for i := range m.unwinder.losses {
			if !yield(func(dst []byte) []byte { return m.unwinder.append(dst, i) }) {
				return
			}
		}
	}
}

// runs yields list in runs of some thousand records, each with the index of its
// first element.
func runs[T any](list []T, records func(*T) int) iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		from, sum := 0, 0
		for i := range list {
			if sum += records(&list[i]); sum < chunkRecords && i+1 < len(list) {
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
func (f *Func) records() int {
	return 1 + len(f.Name)/nameRecord + len(f.lines) + 2*len(f.inlines)
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

func (m *Module) appendFuncs(dst []byte, funcs []Func) []byte {
	var s callScratch
	for i := range funcs {
		dst = m.appendFunc(dst, &funcs[i], &s)
	}
	return dst
}

// callScratch is memory for one inlined call.
type callScratch struct {
	own    []dwarfx.Range
	record emit.Inline
}

// appendFunc appends the records of f. Its size is almost always one piece; each
// further piece has its own share of the lines and inlined calls.
func (m *Module) appendFunc(dst []byte, f *Func, s *callScratch) []byte {
	for piece := range emit.Pieces(f.Addr, f.Size) {
		record := emit.Func{Addr: piece.Addr, Size: piece.Size, Name: []byte(f.Name), Multiple: f.Multiple}
		if f.sound {
			dst = record.AppendSound(dst)
		} else {
			dst = record.Append(dst)
		}
		lo, hi := piece.Addr, piece.Addr+uint64(piece.Size)
		dst = m.appendInlines(dst, f, lo, hi, s)
		for _, l := range f.lines {
			if l.Addr >= lo && l.Addr < hi {
				l.File = m.places.files[l.File]
				dst = l.Append(dst)
			}
		}
	}
	return dst
}

// appendInlines appends the records of the calls in the part of f at [lo, hi).
func (m *Module) appendInlines(dst []byte, f *Func, lo, hi uint64, s *callScratch) []byte {
	for i := range f.inlines {
		in := &f.inlines[i]
		record := &s.record
		record.Depth, record.CallLine = in.Depth, in.CallLine
		record.CallFile, record.Origin = m.places.files[in.CallFile], m.places.origins[in.Origin]
		record.Ranges = record.Ranges[:0]
		if f.Size < 1<<32 {
			for k := in.Ranges.From; k < in.Ranges.To; k++ {
				r := f.ranges.at(k)
				record.Ranges = append(record.Ranges, emit.Range{Addr: r.Lo - m.bias, Size: uint32(r.Hi - r.Lo)})
			}
		} else {
			record.Ranges = m.appendPieces(record.Ranges, f, in, lo, hi, s)
		}
		dst = record.Append(dst)
	}
	return dst
}

// appendPieces appends the ranges of a call in the part of f at [lo, hi).
func (m *Module) appendPieces(dst []emit.Range, f *Func, in *inline, lo, hi uint64, s *callScratch) []emit.Range {
	s.own = f.ranges.append(s.own[:0], in.Ranges)
	for _, r := range s.own {
		for piece := range emit.Pieces(r.Lo-m.bias, r.Hi-r.Lo) {
			if piece.Addr >= lo && piece.Addr < hi {
				dst = append(dst, piece)
			}
		}
	}
	return dst
}
