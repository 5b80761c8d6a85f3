package load_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"symkit/elfx"
	"symkit/test/mutant"
)

var le = binary.LittleEndian

// program is an x86_64 program with functions in units of any size, in DWARF 4.
type program struct {
	info  []byte
	units int
	text  uint64   // bytes of .text that functions took
	funcs []uint64 // where in info the first one of each unit is
	plain []string // names that the symbol file has
	rnd   *rand.Rand
}

const programText = mutant.TextAddr

func newProgram() *program { return &program{rnd: rand.New(rand.NewPCG(1, 1))} }

// Abbreviations of a program (DWARF 5 §7.5.3): code, tag, children, attributes and
// forms.
var (
	programAbbrevs = [][]byte{
		{1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0, 0},                         // unit: name, language
		{2, 0x39, 1, 0x03, 0x08, 0, 0},                                     // namespace: name
		{3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0},             // function: name, low_pc, high_pc
		{4, 0x2e, 1, 0x03, 0x08, 0x6e, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0}, // and linkage_name
		{5, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0},                         // inlined function: name, inline
		{6, 0x2e, 0, 0x03, 0x08, 0x6e, 0x08, 0x20, 0x0b, 0, 0},             // and linkage_name
		{7, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x59, 0x0b, 0, 0}, // call: origin, low_pc, high_pc, line
		{8, 0x34, 0, 0x1c, 0x04, 0, 0},                                     // variable: value in a block
		// skeleton: GNU_dwo_name, GNU_dwo_id, GNU_addr_base
		{9, 0x11, 0, 0xb0, 0x42, 0x08, 0xb1, 0x42, 0x07, 0xb3, 0x42, 0x0b, 0, 0},
	}
	crossingAbbrev = []byte{10, 0x2e, 0, 0x31, 0x10, 0x11, 0x01, 0x12, 0x06, 0, 0} // function: origin in any unit, low_pc, high_pc
)

func cstrings(code byte, texts ...string) []byte {
	return append(append([]byte{code}, strings.Join(texts, "\x00")...), 0)
}

// place is low_pc and high_pc of size bytes of code.
func (p *program) place(at uint64, size uint32) []byte {
	return le.AppendUint32(le.AppendUint64(nil, programText+at), size)
}

// add appends a unit of these DIEs behind its header.
func (p *program) add(dies []byte) {
	header := append(le.AppendUint32(nil, uint32(7+len(dies))), 4, 0, 0, 0, 0, 0, 8)
	p.info = append(append(p.info, header...), dies...)
	p.units++
}

// unit appends a unit with pad bytes of a DIE that dump_syms ignores. Its namespace
// has a function and an inlined one with a plain name alone, and some with linkage
// names; those of a broken unit cannot be demangled.
func (p *program) unit(pad int, broken bool) {
	n := p.units
	space := fmt.Sprintf("space%d", n)
	link := func(name string) string {
		if broken {
			return "_ZZZZ" + name
		}
		return fmt.Sprintf("_ZN%d%s%d%sEv", len(space), space, len(name), name)
	}
	b := append(cstrings(1, fmt.Sprintf("u%d.cc", n)), 4)
	b = append(b, cstrings(2, space)...)
	const header = 4 + 7
	inlined := []string{fmt.Sprintf("inl%d", n), fmt.Sprintf("linkinl%d", n)}
	var origins []uint32
	origins = append(origins, uint32(header+len(b)))
	b = append(append(b, cstrings(5, inlined[0])...), 3)
	origins = append(origins, uint32(header+len(b)))
	b = append(append(b, cstrings(6, inlined[1], link(inlined[1]))...), 3)
	p.funcs = append(p.funcs, uint64(len(p.info)+header+len(b)))
	for i, name := range []string{fmt.Sprintf("plain%d", n), fmt.Sprintf("linked%d", n)} {
		if i == 0 {
			b = append(b, cstrings(3, name)...)
		} else {
			b = append(b, cstrings(4, name, link(name))...)
		}
		b = append(b, p.place(p.text, 64)...)
		for k, origin := range origins {
			b = append(le.AppendUint32(append(b, 7), origin), p.place(p.text+8+16*uint64(k), 8)...)
			b = append(b, byte(1+k))
		}
		b = append(b, 0) // the end of the function's children
		p.text += 64
		p.plain = append(p.plain, space+"::"+name)
	}
	p.plain = append(p.plain, space+"::"+inlined[0], space+"::"+inlined[1])
	b = append(b, 0) // and of the namespace's
	if pad > 0 {
		b = le.AppendUint32(append(b, 8), uint32(pad))
		for from := len(b); len(b)-from < pad; { // not too easy to compress
			if k := p.rnd.IntN(8); k > 0 && len(b) > from+100 {
				at := from + p.rnd.IntN(len(b)-from-50)
				b = append(b, b[at:at+50]...)
			} else {
				b = le.AppendUint64(b, p.rnd.Uint64())
			}
			b = b[:min(len(b), from+pad)]
		}
	}
	p.add(append(b, 0))
}

// fill appends units of about size bytes together.
func (p *program) fill(size int) {
	for end := len(p.info) + size; len(p.info) < end; {
		p.unit(p.rnd.IntN(1<<(6+p.rnd.IntN(13))), p.units%5 == 3)
	}
}

// crossing appends a unit whose function is named by another unit's.
func (p *program) crossing(to uint64) {
	b := append(cstrings(1, "crossing.cc"), 4)
	b = append(le.AppendUint32(append(b, 10), uint32(to)), p.place(p.text, 16)...)
	p.text += 16
	p.add(append(b, 0))
}

// skeleton appends a unit whose functions are in another file.
func (p *program) skeleton(file string, id uint64) {
	p.add(append(le.AppendUint64(cstrings(9, file), id), 0))
}

// zlibSection is the contents of a compressed section (gABI, "Section Compression").
func zlibSection(t *testing.T, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	header := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, uint32(elf.COMPRESS_ZLIB)), 0), uint64(len(data)))
	b.Write(le.AppendUint64(header, 1))
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// elf writes the program with a .debug_info of the contents info, which may be
// compressed.
func (p *program) elf(info []byte, flags elf.SectionFlag) []byte {
	abbrevs := slices.Concat(programAbbrevs...)
	if bytes.Contains(p.info, []byte("crossing.cc")) {
		abbrevs = append(abbrevs, crossingAbbrev...)
	}
	return mutant.Program(int(p.text),
		mutant.Section{Name: ".debug_info", Flags: flags, Data: info},
		mutant.Section{Name: ".debug_abbrev", Data: append(abbrevs, 0)})
}

// flat is the program with its .debug_info as it is, zlib with one that is compressed.
func (p *program) flat(t *testing.T) []byte { return p.elf(p.info, 0) }

func (p *program) zlib(t *testing.T, level int) []byte {
	return p.elf(zlibSection(t, p.info, level), elf.SHF_COMPRESSED)
}

// openProgram opens a file until t ends.
func openProgram(t *testing.T, data []byte) *elfx.File {
	t.Helper()
	f, err := elfx.NewFile("program", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
