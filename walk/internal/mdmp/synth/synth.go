// Package synth assembles minidumps from text, for tests.
package synth

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"symkit/walk/internal/mdmp"
)

// Dump is a minidump that was assembled from text, and where its labels are.
type Dump struct {
	Data   []byte
	Labels map[string]int
}

// Assemble assembles a minidump. The text is a sequence of words; # begins a
// comment.
//
//	stream TYPE     begins a block and gives it an entry in the directory
//	entry TYPE SIZE RVA  only an entry in the directory
//	block LABEL     begins a block that others point to
//	LABEL:          names a place
//	u8 u16 u32 u64  numbers follow, of that size
//	loc LABEL       size and offset of a block, each of 4 bytes
//	rva, rva64      the offset of a block or place
//	str "S"         a MINIDUMP_STRING, utf8 "S" a MinidumpUTF8String
//	units N "S"     UTF-16 in an array of N units
//	bytes "S"       bytes
//	zero N          zeros
//	header A B C    signature, version and number of streams in place of the
//	                right ones
//	directory N     offset of the directory in place of the right one
//
// The header comes first, then the directory, then the blocks in their order.
func Assemble(t testing.TB, big bool, text string) Dump {
	t.Helper()
	a := &assembler{t: t, order: binary.LittleEndian, labels: map[string]int{}, sizes: map[string]int{}}
	if big {
		a.order = binary.BigEndian
	}
	a.words = scan(t, text)
	a.run() // finds the streams,
	a.run() // the places of labels
	a.last = true
	a.run()
	return Dump{a.out, a.labels}
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

type assembler struct {
	t       testing.TB
	order   byteOrder
	words   []string
	out     []byte
	streams []string // labels of the streams' blocks
	types   []uint32
	labels  map[string]int
	sizes   map[string]int
	last    bool // the last run: labels are known
}

func scan(t testing.TB, text string) (words []string) {
	for line := range strings.Lines(text) {
		for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
			if line[0] == '"' {
				q, err := strconv.QuotedPrefix(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				words, line = append(words, q), line[len(q):]
				continue
			}
			w, rest, _ := strings.Cut(line, " ")
			words, line = append(words, w), rest
		}
	}
	return words
}

// run assembles once, with the labels of the run before.
func (a *assembler) run() {
	streams, types := a.streams, a.types
	a.out, a.streams, a.types = nil, nil, nil
	header := []uint64{0x504d444d, 0xa793, uint64(len(types))}
	directory := uint64(32)
	a.numbers(4, header[0], header[1], header[2], directory, 0, 0x45d35f73)
	a.numbers(8, 0)
	for i, s := range streams {
		a.numbers(4, uint64(types[i]), uint64(a.sizes[s]), uint64(a.labels[s]))
	}
	block, begin := "", 0
	end := func() { a.sizes[block] = len(a.out) - begin }
	mode := ""
	for i := 0; i < len(a.words); i++ {
		w := a.words[i]
		next := func() string {
			i++
			if i == len(a.words) {
				a.t.Fatalf("%s: an operand is missing", w)
			}
			return a.words[i]
		}
		switch {
		case w == "stream" || w == "block":
			end()
			block, begin = next(), len(a.out)
			if w == "stream" {
				block = a.stream(block)
			}
			a.labels[block] = begin
		case w == "entry":
			label := a.stream(next())
			a.sizes[label], a.labels[label] = int(a.number(next())), int(a.number(next()))
		case strings.HasSuffix(w, ":"):
			a.labels[strings.TrimSuffix(w, ":")] = len(a.out)
		case w == "header":
			for at := range 3 {
				a.order.PutUint32(a.out[4*at:], uint32(a.number(next())))
			}
		case w == "directory":
			a.order.PutUint32(a.out[12:], uint32(a.number(next())))
		case w == "zero":
			a.out = append(a.out, make([]byte, a.number(next()))...)
		case w == "units":
			n := int(a.number(next()))
			s := utf16.Encode([]rune(a.quoted(next())))
			a.units(append(s, make([]uint16, n-len(s))...))
		case sizes[w] != 0 || operands[w]:
			mode = w
		default:
			a.operand(mode, w)
		}
	}
	end()
}

var (
	sizes    = map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8}
	operands = map[string]bool{"loc": true, "rva": true, "rva64": true, "str": true, "utf8": true, "bytes": true}
)

// stream notes a stream in the directory; its block's label is its own.
func (a *assembler) stream(name string) string {
	n, err := strconv.ParseUint(name, 0, 32)
	for _, s := range mdmp.StreamTypes() {
		if s.String() == name || s.String() == name+"Stream" {
			n, err = uint64(s), nil
		}
	}
	if err != nil {
		a.t.Fatalf("no stream %s", name)
	}
	label := fmt.Sprintf("stream %d", len(a.streams))
	a.labels[name] = len(a.out)
	a.streams, a.types = append(a.streams, label), append(a.types, uint32(n))
	return label
}

func (a *assembler) operand(mode, w string) {
	switch mode {
	case "loc":
		a.numbers(4, uint64(a.sizes[w]), a.place(w))
	case "rva":
		a.numbers(4, a.place(w))
	case "rva64":
		a.numbers(8, a.place(w))
	case "bytes":
		a.out = append(a.out, a.quoted(w)...)
	case "str":
		s := utf16.Encode([]rune(a.quoted(w)))
		a.numbers(4, uint64(2*len(s)))
		a.units(append(s, 0))
	case "utf8":
		s := a.quoted(w)
		a.numbers(4, uint64(len(s)))
		a.out = append(append(a.out, s...), 0)
	default:
		if sizes[mode] == 0 {
			a.t.Fatalf("what is %s?", w)
		}
		a.numbers(sizes[mode], a.number(w))
	}
}

// place is where a label is.
func (a *assembler) place(label string) uint64 {
	at, ok := a.labels[label]
	if !ok && a.last {
		a.t.Fatalf("no label %s", label)
	}
	return uint64(at)
}

func (a *assembler) number(w string) uint64 {
	v, err := strconv.ParseUint(w, 0, 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return v
}

func (a *assembler) quoted(w string) string {
	s, err := strconv.Unquote(w)
	if err != nil {
		a.t.Fatalf("%s: %v", w, err)
	}
	return s
}

func (a *assembler) units(s []uint16) {
	for _, u := range s {
		a.numbers(2, uint64(u))
	}
}

func (a *assembler) numbers(size int, values ...uint64) {
	for _, v := range values {
		switch size {
		case 1:
			a.out = append(a.out, byte(v))
		case 2:
			a.out = a.order.AppendUint16(a.out, uint16(v))
		case 4:
			a.out = a.order.AppendUint32(a.out, uint32(v))
		case 8:
			a.out = a.order.AppendUint64(a.out, v)
		}
	}
}

// System is a SystemInfoStream of a CPU and system.
func System(cpu mdmp.CPU, os mdmp.OS) string {
	return fmt.Sprintf("stream SystemInfo u16 %d 6 0xd08 u8 4 1 u32 5 1 2600 %d rva servicepack u16 0x100 0\n"+
		"u32 0x756e6547 0x49656e69 0x6c65746e 0x6d8 0xafe9fbff 0xffffffff\nblock servicepack str \"SP 2\"\n", cpu, os)
}

// Base is the streams that every dump must have, for an amd64 of Linux.
var Base = System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 0\n"

// Whole is a text with the streams of Base that it lacks.
func Whole(text string) string {
	switch {
	case strings.Contains(text, "stream SystemInfo"):
		return text
	case strings.Contains(text, "stream ThreadList"):
		return strings.Replace(Base, "stream ThreadList u32 0\n", "", 1) + text
	}
	return Base + text
}

// Sequence is n numbers from first on, as text.
func Sequence(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " %d", first+i)
	}
	return b.String()
}
