package dwarfx

import (
	"fmt"
	"strings"
)

// lineProg is a line number program to be assembled (DWARF 5 §6.2.4). Its zero
// fields mean what gas writes.
type lineProg struct {
	enc
	minInst, maxOps, opcodeBase byte
	lineBase                    int8
	lineRange                   int // -1 for 0
	lengths                     []byte
	dirs                        []string
	files                       []lineFile
	columns                     string // DWARF 5: columns of the files: p path, d directory, m MD5, s source, t time
	pathForm                    string // DWARF 5: form of the paths
	// index adds a string to .debug_str_offsets, for pathForm strx.
	asm  *asm
	text string
}

type lineFile struct {
	name string
	dir  uint64
}

// standardLengths are the operands of the standard opcodes (DWARF 5 §6.2.5.2).
var standardLengths = []byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}

// build writes the table and adds the strings it needs to p.asm.
func (p lineProg) build() []byte {
	if p.minInst == 0 {
		p.minInst = 1
	}
	if p.maxOps == 0 {
		p.maxOps = 1
	}
	switch p.lineRange {
	case 0:
		p.lineRange = 14
		p.lineBase = -5
	case -1:
		p.lineRange = 0
	}
	if p.opcodeBase == 0 {
		p.opcodeBase = 13
	}
	if p.lengths == nil && p.opcodeBase > 0 {
		p.lengths = append(append([]byte{}, standardLengths...), 1, 2, 0)[:p.opcodeBase-1]
	}
	h := p.buf().bytes(p.minInst)
	if p.version >= 4 {
		h.bytes(p.maxOps)
	}
	h.bytes(1, byte(p.lineBase), byte(p.lineRange), p.opcodeBase).bytes(p.lengths...)
	if p.version == 5 {
		p.tables(h)
	} else {
		p.tablesV4(h)
	}
	body := p.buf().uint(2, uint64(p.version))
	if p.version == 5 {
		body.bytes(byte(p.addr), 0)
	}
	body.offset(uint64(len(h.b))).bytes(h.b...)
	return p.buf().length(append(body.b, p.code()...)).b
}

func (p lineProg) tablesV4(h *buf) {
	for _, d := range p.dirs {
		h.str(d)
	}
	h.bytes(0)
	for _, f := range p.files {
		h.str(f.name).uleb(f.dir).bytes(0, 0)
	}
	h.bytes(0)
}

func (p lineProg) tables(h *buf) {
	w := &dieWriter{asm: p.asm, w: h}
	if p.columns == "" {
		p.columns, p.pathForm = "pd", "string"
	}
	h.bytes(1).uleb(lnctPath).uleb(formCode(p.pathForm)).uleb(uint64(len(p.dirs)))
	for _, d := range p.dirs {
		w.value(p.pathForm, d)
	}
	h.bytes(byte(len(p.columns)))
	kinds := map[rune][2]uint64{'p': {lnctPath, formCode(p.pathForm)}, 'd': {lnctDir, formUdata}, 'm': {5, formData16},
		's': {0x2001, formLineStrp}, 't': {3, formBlock}}
	for _, c := range p.columns {
		h.uleb(kinds[c][0]).uleb(kinds[c][1])
	}
	h.uleb(uint64(len(p.files)))
	for _, f := range p.files {
		for _, c := range p.columns {
			switch c {
			case 'p':
				w.value(p.pathForm, f.name)
			case 'd':
				h.uleb(f.dir)
			case 'm':
				w.value("data16", "5")
			case 's':
				w.value("line_strp", "int main;")
			case 't':
				w.value("block", "ttt")
			}
		}
	}
}

// code assembles the program: an opcode a line, or several with ";" between.
// "special N" is an opcode as it stands; "bytes" takes bytes.
func (p lineProg) code() []byte {
	w := p.buf()
	for line := range strings.Lines(strings.ReplaceAll(p.text, ";", "\n")) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		arg := func(i int) uint64 { return number(words[i]) }
		ext := func(b *buf) { w.bytes(0).uleb(uint64(len(b.b))).bytes(b.b...) }
		switch words[0] {
		case "copy":
			w.bytes(lnsCopy)
		case "advance_pc":
			w.bytes(lnsAdvancePC).uleb(arg(1))
		case "advance_line":
			w.bytes(lnsAdvanceLine).sleb(int64(arg(1)))
		case "set_file":
			w.bytes(lnsSetFile).uleb(arg(1))
		case "set_column":
			w.bytes(lnsSetColumn).uleb(arg(1))
		case "negate_stmt":
			w.bytes(lnsNegateStmt)
		case "set_basic_block":
			w.bytes(lnsSetBasicBlock)
		case "const_add_pc":
			w.bytes(lnsConstAddPC)
		case "fixed_advance_pc":
			w.bytes(lnsFixedAdvancePC).uint(2, arg(1))
		case "set_prologue_end":
			w.bytes(lnsSetPrologueEnd)
		case "set_epilogue_begin":
			w.bytes(lnsSetEpilogue)
		case "set_isa":
			w.bytes(lnsSetISA).uleb(arg(1))
		case "special":
			w.bytes(byte(arg(1)))
		case "end_sequence":
			ext(p.buf().bytes(lneEndSequence))
		case "set_address":
			ext(p.buf().bytes(lneSetAddress).address(arg(1)))
		case "set_address_sized":
			ext(p.buf().bytes(lneSetAddress).uint(int(arg(1)), arg(2)))
		case "define_file":
			ext(p.buf().bytes(lneDefineFile).str(words[1]).uleb(arg(2)).bytes(0, 0))
		case "set_discriminator":
			ext(p.buf().bytes(4).uleb(arg(1)))
		case "extended":
			b := p.buf()
			for i := range words[1:] {
				b.bytes(byte(arg(1 + i)))
			}
			ext(b)
		case "bytes":
			for i := range words[1:] {
				w.bytes(byte(arg(1 + i)))
			}
		default:
			panic("assembler: " + line)
		}
	}
	return w.b
}

// renderRows writes rows as "addr:line" or "addr:file:line" where the file is
// not 1, "addr." for EndOfCode.
func renderRows(rows []LineRow) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch r.File {
		case EndOfCode:
			fmt.Fprintf(&b, "%x.", r.Addr)
		case 1:
			fmt.Fprintf(&b, "%x:%d", r.Addr, r.Line)
		default:
			fmt.Fprintf(&b, "%x:%d:%d", r.Addr, r.File, r.Line)
		}
	}
	return b.String()
}

// checkRows checks what LineTable.Rows promises.
func checkRows(rows []LineRow) error {
	for i, r := range rows {
		switch {
		case i == 0 && r.File == EndOfCode:
			return fmt.Errorf("row 0 ends no code")
		case i > 0 && r.Addr < rows[i-1].Addr:
			return fmt.Errorf("row %d: %#x after %#x", i, r.Addr, rows[i-1].Addr)
		case i > 0 && r.Addr == rows[i-1].Addr && rows[i-1].File != EndOfCode:
			return fmt.Errorf("row %d: %#x twice", i, r.Addr)
		case i > 0 && r.File == EndOfCode && rows[i-1].File == EndOfCode:
			return fmt.Errorf("row %d ends no code", i)
		}
	}
	if n := len(rows); n > 0 && rows[n-1].File != EndOfCode {
		return fmt.Errorf("the last row does not end the code")
	}
	return nil
}
