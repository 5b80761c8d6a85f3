package symbolizers

import (
	"strconv"

	"symkit/lookup"
)

// GNU has the options of GNU's addr2line (binutils 2.40), named like its flags.
type GNU struct {
	Addresses, Functions, Inlines, Pretty, Basenames, Demangle bool
	// Section is that of -j, of which addresses are offsets, or nil.
	Section *Section
	// Wide is set for files with addresses of 64 bits.
	Wide bool
}

// Section is where a section is in memory.
type Section struct{ Addr, Size uint64 }

// Addr returns the address that a line asks for: the hexadecimal digits that it begins with, 0 if there are none. A line
// says no more.
func (g *GNU) Addr(line []byte) (addr uint64, plain bool) { return hexPrefix(line), true }

// Answerer returns the function that makes what answers questions about f, see Questions.
func (g *GNU) Answerer(f *lookup.File) func() Answerer {
	return func() Answerer { return &gnuAnswerer{g: g, file: f} }
}

// gnuAnswerer is the Answerer of addr2line.
type gnuAnswerer struct {
	g    *GNU
	file *lookup.File
	Scratch
}

// Rest does nothing: the file is that of the program.
func (a *gnuAnswerer) Rest() {}

// Expect is called before Answer.
func (a *gnuAnswerer) Expect(addrs []uint64) {
	if a.g.Section == nil {
		a.Sweep.Expect(a.file, addrs)
	}
}

// Answer appends the answer for an address.
func (a *gnuAnswerer) Answer(dst []byte, q Question) []byte {
	g, section := a.g, Section{Size: 1<<64 - 1} // of all addresses
	if g.Section != nil {
		section = *g.Section
	}
	if g.Addresses {
		width := 8
		if g.Wide {
			width = 16
		}
		dst = g.separate(AppendHex(dst, q.Addr, width), ": ")
	}
	var frames []lookup.Frame
	var sym lookup.Symbol
	known := false
	if q.Addr < section.Size {
		frames, sym, known = a.framesAndSymbol(section.Addr + q.Addr)
		a.frames = frames
	}
	if len(frames) == 0 {
		if g.Functions {
			dst = append(dst, "??"...)
			dst = g.separate(dst, " ")
		}
		return append(dst, "??:0\n"...)
	}
	if !g.Inlines {
		frames = frames[:1]
	}
	for i := range frames {
		if i > 0 && g.Pretty {
			dst = append(dst, " (inlined by) "...)
		}
		dst = a.frame(dst, &frames[i], sym, known)
	}
	return dst
}

// separate appends the text between two parts of a pretty line, or the end of a line.
func (g *GNU) separate(dst []byte, pretty string) []byte {
	if g.Pretty {
		return append(dst, pretty...)
	}
	return append(dst, '\n')
}

// framesAndSymbol returns the frames at an address, and the symbol at or below it, whose name a function has if DWARF has no
// linkage name. Code without debug information has the symbol as its frame. The symbols are not read if places suffice.
func (a *gnuAnswerer) framesAndSymbol(addr uint64) (frames []lookup.Frame, sym lookup.Symbol, known bool) {
	frames = a.framesAt(a.file, addr)
	if len(frames) > 0 && frames[0].Line != 0 {
		last := &frames[len(frames)-1]
		if last.Linkage != "" || !a.g.Functions && last.Line != 0 {
			return frames, sym, false
		}
	}
	sym, known = a.file.SymbolBelow(addr)
	known = known && !sym.Data
	if !known {
		return frames, sym, false
	}
	if len(frames) == 0 {
		frames = append(frames, lookup.Frame{})
	}
	last := &frames[len(frames)-1]
	if last.Linkage == "" && (last.Name == "" || last.Start == sym.Addr) {
		last.Linkage = sym.Name
	}
	return frames, sym, true
}

// frame appends a frame.
func (a *gnuAnswerer) frame(dst []byte, f *lookup.Frame, sym lookup.Symbol, known bool) []byte {
	g := a.g
	if g.Functions {
		dst = appendText(dst, a.shown(rawName(f), readable(g.Demangle, gnuStyle)))
		dst = g.separate(dst, " at ")
	}

	// Code without a line has the source file of its symbol.
	file := f.File
	if file == "" && known && f.Line == 0 && !f.Inlined {
		file = sym.File
	}
	dst = append(appendText(dst, shownFile(file, g.Basenames)), ':')
	if f.Line == 0 {
		return append(dst, "?\n"...)
	}
	dst = strconv.AppendUint(dst, uint64(f.Line), 10)
	if f.Discriminator != 0 {
		dst = appendDiscriminator(dst, f.Discriminator)
	}
	return append(dst, '\n')
}

// hexPrefix returns the number that text begins with, as bfd_scan_vma with base 16 reads it: the largest if there are
// too many digits.
func hexPrefix(text []byte) (v uint64) {
	for len(text) > 0 && (text[0] == ' ' || text[0] >= '\t' && text[0] <= '\r') {
		text = text[1:]
	}
	if len(text) > 0 && text[0] == '+' {
		text = text[1:]
	}
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		text = text[2:]
	}
	v, _ = Hex(text)
	return v
}
