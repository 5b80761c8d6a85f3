package cfi

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"symkit/located"
)

// asm assembles call frame instructions, separated by ';'. It reads the table
// of the machine; a block is written in hex. Addresses take 8 bytes.
func asm(src string) (out []byte) {
	for stmt := range strings.SplitSeq(src, ";") {
		f := strings.Fields(stmt)
		if len(f) == 0 {
			continue
		}
		num := func(i int) uint64 {
			v, err := strconv.ParseInt(f[i], 0, 64)
			if err != nil {
				panic(stmt)
			}
			return uint64(v)
		}
		switch f[0] {
		case "advance_loc":
			out = append(out, opAdvanceLoc|byte(num(1)))
			continue
		case "offset":
			out = binary.AppendUvarint(append(out, opOffset|byte(num(1))), num(2))
			continue
		case "restore":
			out = append(out, opRestore|byte(num(1)))
			continue
		}
		op := 0
		for op < len(ops) && ops[op].name != f[0] {
			op++
		}
		out = append(out, byte(op))
		for i, arg := range ops[op].args {
			out = appendArg(out, arg, f[i+1])
		}
	}
	return out
}

func appendArg(out []byte, arg rune, text string) []byte {
	if arg == 'b' {
		b := hexBytes(text)
		return append(binary.AppendUvarint(out, uint64(len(b))), b...)
	}
	v, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		panic(text)
	}
	switch arg {
	case 'u', 'r':
		return binary.AppendUvarint(out, uint64(v))
	case 's':
		return appendSLEB(out, v)
	case 'a':
		return binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return appendInt(out, uint64(v), int(arg-'0'), false)
}

func appendSLEB(out []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func appendInt(out []byte, v uint64, size int, big bool) []byte {
	for i := range size {
		shift := 8 * i
		if big {
			shift = 8 * (size - 1 - i)
		}
		out = append(out, byte(v>>shift))
	}
	return out
}

func hexBytes(s string) (out []byte) {
	for i := 0; i+1 < len(s); i += 2 {
		v, err := strconv.ParseUint(s[i:i+2], 16, 8)
		if err != nil {
			panic(s)
		}
		out = append(out, byte(v))
	}
	return out
}

// build lays out a section.
type build struct {
	Section
	wide bool // the 64-bit format
	pos  []int
}

func newBuild(kind SectionKind) *build {
	return &build{Section: Section{Kind: kind, Addr: 0x10000, AddrSize: 8, Machine: elf.EM_X86_64}}
}

// entry appends an entry: id counts in the form the section stores it.
func (b *build) entry(id uint64, body []byte) int {
	at := len(b.Data)
	b.pos = append(b.pos, at)
	idSize := 4
	if b.wide && b.Kind == DebugFrame {
		idSize = 8
	}
	n := uint64(idSize + len(body))
	if b.wide {
		b.Data = appendInt(b.Data, 0xffffffff, 4, b.BigEndian)
		b.Data = appendInt(b.Data, n, 8, b.BigEndian)
	} else {
		b.Data = appendInt(b.Data, n, 4, b.BigEndian)
	}
	b.Data = appendInt(b.Data, id, idSize, b.BigEndian)
	b.Data = append(b.Data, body...)
	return at
}

// cieBody is a CIE after its id: version 4 gets the section's address size.
func (b *build) cieBody(version byte, aug string, data []byte, insns string) []byte {
	body := append([]byte{version}, aug...)
	body = append(body, 0)
	if version == 4 {
		body = append(body, byte(b.AddrSize), 0)
	}
	body = append(body, 1, 0x78, 16) // code 1, data -8, column 16
	if strings.HasPrefix(aug, "z") {
		body = append(append(body, byte(len(data))), data...)
	}
	return append(body, asm(insns)...)
}

func (b *build) cie(version byte, aug string, data []byte, insns string) int {
	id := uint64(0)
	if b.Kind == DebugFrame {
		id = ^uint64(0)
	}
	return b.entry(id, b.cieBody(version, aug, data, insns))
}

// fde appends an FDE of the CIE at cie; fields is what stands between the CIE
// pointer and the instructions.
func (b *build) fde(cie int, fields []byte, insns []byte) int {
	id := uint64(cie)
	if b.Kind == EHFrame {
		idPos := len(b.Data) + 4
		if b.wide {
			idPos += 8
		}
		id = uint64(idPos - cie)
	}
	return b.entry(id, append(append([]byte(nil), fields...), insns...))
}

// pcs is an absolute initial location and range.
func (b *build) pcs(begin, size uint64) []byte {
	return appendInt(appendInt(nil, begin, b.AddrSize, b.BigEndian), size, b.AddrSize, b.BigEndian)
}

const usualCIE = "def_cfa 7 8; offset 16 1"

// oneFDE is a .debug_frame of one CIE and the FDE [0x1000, 0x1100).
func oneFDE(cie, insns string) *build {
	b := newBuild(DebugFrame)
	c := b.cie(1, "", nil, cie)
	b.fde(c, b.pcs(0x1000, 0x100), asm(insns))
	return b
}

// ruleString renders a rule of row as the standard's tables do.
func ruleString(row *Row, r Rule) string {
	switch r.Kind {
	case KindNone:
		return "-"
	case KindUndefined:
		return "u"
	case KindSame:
		return "s"
	case KindMemCFA:
		return fmt.Sprintf("c%+d", r.Off)
	case KindCFA:
		return fmt.Sprintf("v%+d", r.Off)
	case KindReg:
		return fmt.Sprintf("r%d%+d", r.Reg, r.Off)
	case KindMemReg:
		return fmt.Sprintf("[r%d%+d]", r.Reg, r.Off)
	case KindExpr:
		return fmt.Sprintf("e:%x", row.Expr(r))
	}
	return fmt.Sprintf("[e:%x]", row.Expr(r))
}

// dumpRow renders "1000 r7+8 16=c-8".
func dumpRow(r *Row) string {
	var s strings.Builder
	s.WriteString(fmt.Sprintf("%x-%x %s", r.Begin, r.End, ruleString(r, r.CFA)))
	for _, reg := range r.Regs {
		s.WriteString(fmt.Sprintf(" %d=%s", reg.Reg, ruleString(r, reg.Rule)))
	}
	if r.RASigned {
		s.WriteString(" signed")
	}
	return s.String()
}

// dump renders every FDE's rows, and errors as "error SECTION+OFFSET: what".
func dump(s *Section) (out []string) {
	for f, err := range s.FDEs() {
		if err != nil {
			out = append(out, "error "+err.Error())
			continue
		}
		for row, err := range f.Rows() {
			if err != nil {
				out = append(out, "error "+err.Error())
				continue
			}
			out = append(out, dumpRow(row))
		}
	}
	return out
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i, g, w)
		}
	}
}

// wantError asserts the sentinel and the offset of an error.
func wantError(t *testing.T, err error, is error, offset int) {
	t.Helper()
	e, ok := errors.AsType[*located.Error](err)
	if !ok || !errors.Is(err, is) || e.Offset != offset {
		t.Errorf("error %v, want %v at %#x", err, is, offset)
	}
}
