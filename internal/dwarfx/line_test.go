package dwarfx

import (
	"fmt"
	"strings"
	"testing"

	"symkit/located"
)

// lines runs the program of p where code lies from 0x1000 on.
func (p lineProg) lines(t testing.TB, table *LineTable) error {
	t.Helper()
	return p.linesIn(t, CodeMap{{Lo: 0x1000, Hi: 0x100000}}, table)
}

// linesIn runs the program of p, after 3 other bytes, in a unit of p's encoding.
func (p lineProg) linesIn(t testing.TB, code CodeMap, table *LineTable) error {
	t.Helper()
	a := p.enc.asm()
	a.code, p.asm = code, a
	form := "sec_offset"
	if p.version < 4 {
		form = "data4"
	}
	a.units("unit\n CompileUnit StmtList:" + form + "=3\n")
	a.sec.Line = append([]byte{9, 9, 9}, p.build()...)
	d := a.open(t)
	err := d.ReadLines(d.Units[0], table)
	if err := checkRows(table.Rows); err != nil {
		t.Errorf("%v: %s", err, renderRows(table.Rows))
	}
	return err
}

// TestLineOpcodes, DWARF 5 §6.2.5: every opcode in every encoding.
func TestLineOpcodes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"§6.2.5.3 end_sequence alone", "end_sequence", ""},
		{"§6.2.5.2 copy", "set_address 0x1000; copy; set_address 0x1001; end_sequence", "1000:1 1001."},
		{"§6.2.5.2 advance_pc", "set_address 0x1000; copy; advance_pc 300; end_sequence", "1000:1 112c."},
		{"§6.2.5.2 advance_line", "set_address 0x1000; advance_line 99; copy; advance_pc 1; advance_line -70; copy; advance_pc 1; end_sequence", "1000:100 1001:30 1002."},
		{"§6.2.5.2 set_file", "set_address 0x1000; set_file 300; copy; advance_pc 1; end_sequence", "1000:300:1 1001."},
		{"§6.2.5.2 what does not matter", "set_address 0x1000; set_column 300; negate_stmt; set_basic_block; set_prologue_end; set_epilogue_begin; set_isa 300; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"§6.2.5.2 const_add_pc", "set_address 0x1000; copy; const_add_pc; end_sequence", "1000:1 1011."},
		{"§6.2.5.2 fixed_advance_pc", "set_address 0x1000; copy; fixed_advance_pc 0xfff; end_sequence", "1000:1 1fff."},
		{"§6.2.5.3 set_discriminator", "set_address 0x1000; set_discriminator 300; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"§6.2.5.3 extended opcodes of others", "set_address 0x1000; extended 0x80 1 2 3; extended 0; extended 0xff; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"§6.2.5.3 end_sequence resets", "set_address 0x1000; set_file 2; advance_line 5; copy; advance_pc 1; end_sequence; set_address 0x2000; copy; advance_pc 1; end_sequence", "1000:2:6 1001. 2000:1 2001."},
		{"§6.2.5.3 end_sequence with bytes after it", "set_address 0x1000; copy; advance_pc 1; extended 1 2 3", "1000:1 1001."},
		{"§6.2.2 rows at one address", "set_address 0x1000; copy; advance_line 1; copy; advance_line 1; copy; advance_pc 1; advance_line 1; copy; end_sequence", "1000:3 1001."},
		{"§6.2.2 rows of one line", "set_address 0x1000; copy; advance_pc 1; copy; advance_pc 1; copy; advance_line 1; advance_pc 1; copy; advance_pc 1; end_sequence", "1000:1 1003:2 1004."},
		{"§6.2.2 row at one address that restores the line before", "set_address 0x1000; copy; advance_pc 4; advance_line 1; copy; advance_line -1; copy; advance_pc 1; end_sequence", "1000:1 1005."},
		{"§6.2.2 rows at one address, then of the same line", "set_address 0x1000; copy; advance_line 1; copy; advance_pc 1; copy; advance_pc 1; end_sequence", "1000:2 1002."},
		{"§6.2.2 line 0", "set_address 0x1000; advance_line -1; copy; advance_pc 1; end_sequence", "1000:0 1001."},
		{"§6.2.2 numbers that do not fit", "set_address 0x1000; advance_line 0x7fffffffff; set_file 0xffffffffffffffff; copy; advance_pc 1; end_sequence", "1000:4294967294:4294967295 1001."},
		{"§6.2.2 line that goes below 0 and comes back", "set_address 0x1000; advance_line -10; advance_line 11; copy; advance_pc 1; end_sequence", "1000:2 1001."},
		{"§6.2.2 empty sequence", "set_address 0x1000; copy; end_sequence", ""},
		{"§6.2.2 empty last row", "set_address 0x1000; copy; advance_pc 2; advance_line 3; copy; end_sequence", "1000:1 1002."},
		{"§6.2.2 sequences that touch", "set_address 0x1000; copy; advance_pc 16; end_sequence; set_address 0x1010; copy; advance_pc 1; end_sequence", "1000:1 1010. 1010:1 1011."},
		{"§6.2.2 sequences out of order", "set_address 0x2000; copy; advance_pc 1; end_sequence; set_address 0x1000; advance_line 1; copy; advance_pc 1; end_sequence; set_address 0x3000; copy; advance_pc 1; end_sequence",
			"1000:2 1001. 2000:1 2001. 3000:1 3001."},
		{"§6.2.2 sequence in another", "set_address 0x1000; copy; advance_pc 16; advance_line 1; copy; advance_pc 16; end_sequence; set_address 0x1004; advance_line 8; copy; advance_pc 8; end_sequence", "1000:1 1010:2 1020."},
		{"§6.2.2 sequences of the same code", "set_address 0x1000; copy; advance_pc 16; end_sequence; set_address 0x1000; advance_line 8; copy; advance_pc 16; end_sequence", "1000:1 1010."},
		{"§6.2.2 sequence that overlaps the end of another", "set_address 0x1000; copy; advance_pc 16; end_sequence; set_address 0x1004; advance_line 8; copy; advance_pc 8; advance_line 1; copy; advance_pc 8; advance_line 1; copy; advance_pc 4; end_sequence",
			"1000:1 1010. 1010:10 1014:11 1018."},
		{"§6.2.2 rows that go backwards", "set_address 0x1000; copy; advance_pc 16; advance_line 1; copy; set_address 0x1008; advance_line 1; copy; advance_pc 4; end_sequence", "1000:1 1010."},
		{"§6.2.2 end_sequence before the rows", "set_address 0x1000; copy; advance_pc 16; advance_line 1; copy; advance_pc 16; advance_line 1; copy; set_address 0x1004; end_sequence", "1000:1 1010:2 1020."},
		{"§6.2.2 no end_sequence", "set_address 0x1000; copy; advance_pc 16; advance_line 1; copy; advance_pc 4", "1000:1 1010:2 1014."},
		{"§6.2.5.2 advance_pc that wraps", "set_address 0x1010; copy; advance_pc 0xfffffffffffffff0; advance_line 1; copy; advance_pc 4; end_sequence", "1000:2 1004."},
		{"§6.2.5.3 no set_address where no code lies at 0", "copy; advance_pc 1; advance_line 1; copy; advance_pc 1; end_sequence", "0:1 1:2 2."},
		{"rows at 0 before set_address", "copy; advance_line 4; copy; set_address 0x1000; advance_line 1; copy; advance_pc 4; end_sequence; set_address 0x2000; copy; advance_pc 1; end_sequence", "1000:6 1004. 2000:1 2001."},
		{"rows outside of code before set_address", "advance_pc 0x500; copy; set_address 0x1000; advance_line 1; copy; advance_pc 4; end_sequence", "1000:2 1004."},
		{"tombstone 0", "set_address 0; copy; advance_pc 0x1000; advance_line 1; copy; advance_pc 16; end_sequence; set_address 0x1000; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"tombstone -1", "set_address -1; copy; advance_pc 0x1001; advance_line 1; copy; advance_pc 16; end_sequence; set_address 0x1000; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"tombstone -2", "set_address -2; copy; advance_pc 0x1002; advance_line 1; copy; advance_pc 16; end_sequence; set_address 0x1000; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"tombstone outside of code", "set_address 0xfff; copy; advance_pc 1; advance_line 1; copy; advance_pc 16; end_sequence; set_address 0x1000; copy; advance_pc 1; end_sequence", "1000:1 1001."},
		{"tombstone in the middle", "set_address 0x1000; copy; advance_pc 4; advance_line 1; copy; advance_pc 4; set_address 0; copy; advance_pc 9; copy; end_sequence; set_address 0x2000; copy; advance_pc 1; end_sequence",
			"1000:1 1004:2 1008. 2000:1 2001."},
		{"tombstone -1 in the middle", "set_address 0x1000; copy; advance_pc 4; set_address -1; advance_line 1; copy; advance_pc 9; end_sequence; set_address 0x2000; copy; advance_pc 1; end_sequence", "1000:1 1004. 2000:1 2001."},
		{"tombstone twice in a sequence", "set_address 0; copy; advance_pc 8; set_address 0; advance_line 5; copy; advance_pc 8; end_sequence; set_address 0x2000; copy; advance_pc 1; end_sequence", "2000:1 2001."},
		{"tombstone until the next set_address", "set_address 0; copy; advance_pc 8; set_address 0x1000; advance_line 5; copy; advance_pc 8; end_sequence", "1000:6 1008."},
		{"tombstone that no end_sequence follows", "set_address 0; copy; advance_pc 8", ""},
		{"set_address to the end of the section", "set_address 0x7ff0; copy; set_address 0x8000; end_sequence", "7ff0:1 8000."},
		{"set_address far outside of code", "set_address 0x1000; copy; advance_pc 4; set_address 0x70000000; advance_line 1; copy; advance_pc 4; end_sequence; set_address 0x2000; copy; advance_pc 1; end_sequence", "1000:1 1004. 2000:1 2001."},
	}
	for _, tt := range tests {
		for _, e := range encodings() {
			t.Run(fmt.Sprintf("DWARF 5 %s, %v", tt.name, e), func(t *testing.T) {
				p := lineProg{enc: e, text: tt.text}
				var table LineTable
				if err := p.linesIn(t, CodeMap{{Lo: 0x1000, Hi: 0x8000}}, &table); err != nil {
					t.Error(err)
				}
				if got := renderRows(table.Rows); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			})
		}
	}
}

// TestSpecialOpcodes, DWARF 5 §6.2.5.1: every special opcode against the
// formula, with instructions of other sizes and several operations in one.
func TestSpecialOpcodes(t *testing.T) {
	params := []struct {
		lineBase           int8
		lineRange          int
		base, minInst, ops byte
	}{{-5, 14, 13, 1, 1}, {-3, 12, 10, 1, 1}, {-1, 4, 1, 4, 1}, {-10, 245, 10, 2, 1}, {0, 1, 14, 1, 1}, {-5, 14, 13, 16, 3}, {1, 4, 13, 1, 255}}
	for _, p := range params {
		t.Run(fmt.Sprintf("DWARF 5 §6.2.5.1 %+v", p), func(t *testing.T) {
			for op := int(p.base); op < 256; op++ {
				prog := lineProg{enc: le5, lineBase: p.lineBase, lineRange: p.lineRange, opcodeBase: p.base, minInst: p.minInst, maxOps: p.ops}
				head := "set_address 0x1000; bytes 3 0xe4 0; bytes 1; " // advance_line 100; copy
				if p.base < 4 {
					head = "set_address 0x1000; special 1; "
				}
				prog.text = head + fmt.Sprintf("special %d; special %d; extended 1", op, op)
				line, addr, index := uint64(101), uint64(0x1000), uint64(0)
				step := func(op int) {
					adj := uint64(op) - uint64(p.base)
					ops := adj / uint64(p.lineRange)
					addr += uint64(p.minInst) * ((index + ops) / uint64(p.ops))
					index = (index + ops) % uint64(p.ops)
					line += uint64(int64(p.lineBase) + int64(adj%uint64(p.lineRange)))
				}
				if p.base < 4 {
					line = 1
					step(1)
				}
				rows := []LineRow{{addr, clip32(line), 1}}
				for range 2 {
					step(op)
					rows = append(rows, LineRow{addr, clip32(line), 1})
				}
				want := fold(rows)
				var table LineTable
				if err := prog.lines(t, &table); err != nil {
					t.Fatal(err)
				}
				if got := renderRows(table.Rows); got != want {
					t.Errorf("opcode %d: %s, want %s", op, got, want)
				}
			}
		})
	}
}

// fold renders the rows of a sequence that ends at its last row's address, as
// LineTable has them: the last row of an address holds, rows of one line are one.
func fold(rows []LineRow) string {
	end := rows[len(rows)-1].Addr
	var out []LineRow
	for i, r := range rows {
		if r.Addr == end || rows[i+1].Addr == r.Addr {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Line != r.Line {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		out = append(out, LineRow{end, 0, EndOfCode})
	}
	return renderRows(out)
}

// TestLineParameters, DWARF 5 §6.2.4: minimum_instruction_length,
// maximum_operations_per_instruction, opcode_base.
func TestLineParameters(t *testing.T) {
	tests := []struct {
		name string
		p    lineProg
		want string
	}{
		{"§6.2.5.2 minimum_instruction_length 4", lineProg{minInst: 4, text: "set_address 0x1000; copy; advance_pc 3; advance_line 1; copy; fixed_advance_pc 2; advance_line 1; copy; const_add_pc; end_sequence"}, "1000:1 100c:2 100e:3 1052."},
		{"§6.2.5.2 op_index", lineProg{maxOps: 3, minInst: 16, text: "set_address 0x1000; copy; advance_pc 2; advance_line 1; copy; advance_pc 2; advance_line 1; copy; advance_pc 5; end_sequence"}, "1000:2 1010:3 1030."},
		{"§6.2.5.2 fixed_advance_pc resets op_index", lineProg{maxOps: 3, minInst: 16, text: "set_address 0x1000; copy; advance_pc 2; fixed_advance_pc 16; advance_line 1; copy; advance_pc 2; end_sequence"}, "1000:1 1010."},
		{"§6.2.5.3 set_address resets op_index", lineProg{maxOps: 3, minInst: 16, text: "set_address 0x1000; copy; advance_pc 2; set_address 0x1010; advance_line 1; copy; advance_pc 3; end_sequence"}, "1000:1 1010:2 1020."},
		{"§6.2.5.3 end_sequence resets op_index", lineProg{maxOps: 3, minInst: 16, text: "set_address 0x1000; copy; advance_pc 5; end_sequence; set_address 0x2000; copy; advance_pc 3; end_sequence"}, "1000:1 1010. 2000:1 2010."},
		{"§6.2.4 opcode_base 10 (DWARF 2)", lineProg{opcodeBase: 10, text: "set_address 0x1000; copy; fixed_advance_pc 4; special 20; advance_pc 4; end_sequence"}, "1000:1 1004:6 1008."},
		{"§6.2.4 opcode_base 1", lineProg{opcodeBase: 1, text: "set_address 0x1000; special 7; special 21; end_sequence"}, "1000:2 1001."},
		{"§6.2.4 opcode_base 16: unknown standard opcodes", lineProg{opcodeBase: 16, text: "set_address 0x1000; bytes 13 0x80 0x80 1; bytes 14 0x81 1 0; bytes 15; copy; advance_pc 1; end_sequence"}, "1000:1 1001."},
		{"§6.2.4 line_range 0 without special opcodes", lineProg{lineRange: -1, text: "set_address 0x1000; copy; advance_pc 1; end_sequence"}, "1000:1 1001."},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			tt.p.enc = le5
			var table LineTable
			err := tt.p.lines(t, &table)
			if err != nil {
				t.Error(err)
			}
			if got := renderRows(table.Rows); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("DWARF 5 §6.2.4 opcode_base 0: every opcode is special", func(t *testing.T) {
		p := lineProg{enc: le5, text: "bytes 0 14 28"}
		p.asm = le5.asm()
		p.asm.sec.Line = p.build()
		at := 4 + 2 + 2 + 4 + 5
		p.asm.sec.Line[at] = 0
		d := p.asm.units("unit\n CompileUnit StmtList:sec_offset=0\n").open(t)
		var table LineTable
		// The lengths are now read as lists of directories: only that it ends matters.
		if err := d.ReadLines(d.Units[0], &table); err != nil {
			t.Log(err)
		}
	})
}

// TestLineErrors: damage in a program ends it there; the rows before it stand.
func TestLineErrors(t *testing.T) {
	const good = "set_address 0x1000; copy; advance_pc 4;"
	tests := []struct {
		name, text string
		lineRange  int
		err        error
		at         int // from the end of the good part
	}{
		{"§6.2.5.1 special opcode with a line_range of 0", "special 20", -1, ErrLineOp, 0},
		{"§6.2.5.2 operand cut", "bytes 2", 0, located.ErrTruncated, 1},
		{"§6.2.5.2 operand of 65 bits", "bytes 2 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0x7f", 0, located.ErrOverflow, 1},
		{"§6.2.5.2 signed operand of 65 bits", "bytes 3 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0xff 0x10", 0, located.ErrOverflow, 1},
		{"§6.2.5.2 fixed_advance_pc cut", "bytes 9 1", 0, located.ErrTruncated, 1},
		{"§6.2.5.2 set_column cut", "bytes 5 0x80 0x80", 0, located.ErrTruncated, 3},
		{"§6.2.5.3 length cut", "bytes 0", 0, located.ErrTruncated, 1},
		{"§6.2.5.3 length 0", "bytes 0 0 1", 0, located.ErrTruncated, 2},
		{"§6.2.5.3 longer than the program", "bytes 0 9 1 1", 0, located.ErrTruncated, 2},
		{"§6.2.5.3 set_address without an address", "extended 2", 0, ErrAddrSize, 3},
		{"§6.2.5.3 set_address of 3 bytes", "set_address_sized 3 5", 0, ErrAddrSize, 3},
		{"§6.2.5.3 set_address of 9 bytes", "extended 2 0 0 0 0 0 0 0 0 0", 0, ErrAddrSize, 3},
		{"§6.2.5.3 define_file without an end", "extended 3 97", 0, located.ErrUnterminated, 3},
		{"§6.2.5.3 define_file cut", "extended 3 97 0 1", 0, located.ErrTruncated, 6},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			p := lineProg{enc: le5, lineRange: tt.lineRange, text: good}
			p.asm = le5.asm()
			at := 3 + len(p.build())
			p.text = good + tt.text
			var table LineTable
			err := p.lines(t, &table)
			checkErr(t, err, tt.err, ".debug_line", at+tt.at)
			if got := renderRows(table.Rows); got != "1000:1 1004." {
				t.Errorf("rows %s", got)
			}
			if n := strings.Count(fmt.Sprint(err), ".debug_line"); n > 1 {
				t.Errorf("the place is told %d times: %v", n, err)
			}
		})
	}
}

// TestSetAddressSizes: the address of set_address is as long as it says.
func TestSetAddressSizes(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		top := fmt.Sprint(^uint64(0) >> (64 - 8*size))
		p := lineProg{enc: le5, text: fmt.Sprintf("set_address_sized %d 0x10; copy; advance_pc 4; end_sequence; set_address_sized %[1]d %s; copy; advance_pc 9; end_sequence", size, top)}
		var table LineTable
		if err := p.linesIn(t, CodeMap{{Lo: 0x10, Hi: 0x1000}}, &table); err != nil {
			t.Error(err)
		}
		if got := renderRows(table.Rows); got != "10:1 14." {
			t.Errorf("size %d: %s", size, got)
		}
	}
}

// TestNoLines: a unit without DW_AT_stmt_list leaves nothing of the table's last use.
func TestNoLines(t *testing.T) {
	var table LineTable
	p := lineProg{enc: le5, dirs: []string{"/"}, files: []lineFile{{"a", 0}}, text: "set_address 0x1000; copy; advance_pc 4; end_sequence"}
	if err := p.lines(t, &table); err != nil || len(table.Rows) != 2 {
		t.Fatalf("%v, %v", table.Rows, err)
	}
	d := le5.asm().units("unit\n CompileUnit\n").open(t)
	if err := d.ReadLines(d.Units[0], &table); err != nil || len(table.Rows) != 0 {
		t.Errorf("%v, %v", table.Rows, err)
	}
	if _, _, ok := table.File(0); ok {
		t.Error("a file is left")
	}
}
