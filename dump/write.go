package dump

import (
	"fmt"
	"io"
	"strings"

	"symkit/emit"
)

// Write writes m as a symbol file, in the order of DESIGN: identity, files,
// origins, functions, publics, unwind rules.
func (m *Module) Write(out io.Writer) error {
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
	for i, name := range m.Origins {
		w.InlineOrigin(emit.InlineOrigin{Num: uint32(i), Name: []byte(name)})
	}
	for i := range m.Funcs {
		m.Funcs[i].write(w)
	}
	for _, p := range m.Publics {
		w.Public(p)
	}
	for _, text := range m.CFI {
		w.Chunk(text)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing symbols: %w", err)
	}
	return nil
}

// write writes the records of f. Its size is almost always one piece; each
// further piece has its own share of the lines and inlined calls.
func (f *Func) write(w *emit.Writer) {
	for piece := range emit.Pieces(f.Addr, f.Size) {
		w.Func(emit.Func{Addr: piece.Addr, Size: piece.Size, Name: []byte(f.Name), Multiple: f.Multiple})
		lo, hi := piece.Addr, piece.Addr+uint64(piece.Size)
		f.writeInlines(w, lo, hi)
		for _, l := range f.Lines {
			if l.Addr >= lo && l.Addr < hi {
				w.Line(l)
			}
		}
	}
}

func (f *Func) writeInlines(w *emit.Writer, lo, hi uint64) {
	for i := range f.Inlines {
		in := &f.Inlines[i]
		ranges := f.Ranges[in.Ranges.From:in.Ranges.To]
		if f.Size >= 1<<32 {
			ranges = within(ranges, lo, hi)
		}
		w.Inline(emit.Inline{
			Depth: in.Depth, CallLine: in.CallLine, CallFile: in.CallFile, Origin: in.Origin, Ranges: ranges,
		})
	}
}

// within returns the ranges that begin in [lo, hi).
func within(ranges []emit.Range, lo, hi uint64) (out []emit.Range) {
	for _, r := range ranges {
		if r.Addr >= lo && r.Addr < hi {
			out = append(out, r)
		}
	}
	return out
}
