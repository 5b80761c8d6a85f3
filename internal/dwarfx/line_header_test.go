package dwarfx

import (
	"fmt"
	"testing"

	"symkit/located"
)

// TestLineFiles, DWARF 5 §6.2.4: directories and files in every encoding, with
// define_file after them.
func TestLineFiles(t *testing.T) {
	for _, e := range encodings() {
		t.Run(fmt.Sprintf("DWARF 5 §6.2.4 %v", e), func(t *testing.T) {
			p := lineProg{enc: e, dirs: []string{"/d1", "d2"}, files: []lineFile{{"a.c", 0}, {"b.c", 1}, {"c.c", 2}, {"d.c", 99}},
				text: "define_file e.c 1; set_address 0x1000; set_file 2; copy; advance_pc 1; end_sequence"}
			want := [][3]string{{"", "a.c", "ok"}, {"/d1", "b.c", "ok"}, {"d2", "c.c", "ok"}, {"", "d.c", "ok"}, {"/d1", "e.c", "ok"}, {"", "", ""}}
			if e.version == 5 {
				// Directory and file 0 are the first ones; directory 0 is BaseDir.
				p.dirs = append([]string{"/comp"}, p.dirs...)
			} else {
				want = append([][3]string{{"", "", ""}}, want...)
			}
			var table LineTable
			if err := p.lines(t, &table); err != nil {
				t.Fatal(err)
			}
			for n, w := range want {
				dir, name, ok := table.File(uint32(n))
				if string(dir) != w[0] || string(name) != w[1] || ok != (w[2] != "") {
					t.Errorf("file %d: %q, %q, %v", n, dir, name, ok)
				}
			}
			if _, _, ok := table.File(EndOfCode); ok {
				t.Error("EndOfCode is a file")
			}
			if got := renderRows(table.Rows); got != "1000:2:1 1001." {
				t.Errorf("rows %s", got)
			}
		})
	}
}

// TestLineColumns, DWARF 5 §6.2.4.1: columns in any order and number, in every
// form of string; MD5, LLVM's source and what others add are passed over.
func TestLineColumns(t *testing.T) {
	for _, columns := range []string{"pd", "dp", "pdm", "mpd", "pdms", "tpsd", "p"} {
		for _, form := range []string{"string", "strp", "line_strp", "strx", "strx1", "strx2", "strx4"} {
			for _, d64 := range []bool{false, true} {
				t.Run(fmt.Sprintf("DWARF 5 §6.2.4.1 %s %s, 64-bit %v", columns, form, d64), func(t *testing.T) {
					e := le5
					e.d64 = d64
					p := lineProg{enc: e, columns: columns, pathForm: form, dirs: []string{"/comp", "/d"}, files: []lineFile{{"a", 0}, {"b", 1}},
						text: "set_address 0x1000; copy; advance_pc 1; end_sequence"}
					var table LineTable
					if err := p.lines(t, &table); err != nil {
						t.Fatal(err)
					}
					dir, name, ok := table.File(1)
					if want := columns != "p"; string(name) != "b" || !ok || (string(dir) == "/d") != want {
						t.Errorf("file 1: %q, %q, %v", dir, name, ok)
					}
					if got := renderRows(table.Rows); got != "1000:1 1001." {
						t.Errorf("rows %s", got)
					}
				})
			}
		}
	}
}

// TestLineHeaderErrors, DWARF 5 §6.2.4: what a header is rejected for. Bytes
// are set in, or cut from, a good table of one directory and file.
func TestLineHeaderErrors(t *testing.T) {
	const (
		header4 = 4 + 2 + 4     // up to the end of header_length, DWARF 4
		header5 = 4 + 2 + 2 + 4 // DWARF 5
		fixed   = 6 + 12        // minimum_instruction_length to the lengths
		tables5 = header5 + fixed
	)
	// The tables of DWARF 5: 1 column, path string, 1 directory "/", 2 columns,
	// path string, directory udata, 1 file "a", 0.
	set := func(at int, b ...byte) func([]byte) []byte {
		return func(line []byte) []byte { copy(line[at:], b); return line }
	}
	cut := func(n int) func([]byte) []byte {
		return func(line []byte) []byte { line[0] = byte(n - 4); return line[:n] }
	}
	tests := []struct {
		name   string
		e      enc
		damage func([]byte) []byte
		err    error
		at     int
	}{
		{"§7.4 reserved length", le5, set(0, 0xf0, 0xff, 0xff, 0xff), located.ErrReserved, 0},
		{"§7.4 length cut", le5, func(b []byte) []byte { return b[:2] }, located.ErrTruncated, 0},
		{"§7.4 longer than the section", le5, set(0, 0xff), located.ErrTruncated, 4},
		{"§6.2.4 length 0", le5, set(0, 0), located.ErrTruncated, 4},
		{"§6.2.4 version 1", le5, set(4, 1), ErrVersion, 0},
		{"§6.2.4 version 7", le5, set(4, 7), ErrVersion, 0},
		{"§6.2.4 address size 3", le5, set(6, 3), ErrAddrSize, 0},
		{"§6.2.4 address size 0", le5, set(6, 0), ErrAddrSize, 0},
		{"§6.2.4 header_length beyond the table", le5, set(8, 0xff), ErrLineHeader, 0},
		{"§6.2.4 header_length beyond the table, DWARF 4", le4, set(6, 0xff), ErrLineHeader, 0},
		{"§6.2.4 opcode lengths cut", le5, func(b []byte) []byte { b[8] = 6; return cut(header5 + 6 + 3)(b) }, located.ErrTruncated, header5 + 6},
		{"§6.2.4.1 directory without an end", le5, func(b []byte) []byte { b[8] = 0; return cut(tables5 + 5)(b) }, located.ErrUnterminated, tables5 + 4},
		{"§6.2.4.1 files cut", le5, func(b []byte) []byte { b[8] = 0; return cut(tables5 + 6)(b) }, located.ErrTruncated, tables5 + 6},
		{"§6.2.4.1 more entries than bytes", le5, set(tables5+3, 0x7f), ErrLineHeader, tables5 + 4},
		{"§6.2.4.1 entries without columns", le5, set(tables5, 0, 1, 0, 0), ErrLineHeader, tables5 + 2},
		{"§6.2.4.1 unknown form", le5, set(tables5+2, 0x3f), ErrForm, tables5 + 4},
		{"§6.2.4.1 implicit_const", le5, set(tables5+2, formImplicitConst), nil, tables5 + 4},
		{"§6.2.4.1 string outside of .debug_str", le5, set(tables5+2, formStrp), located.ErrOffset, tables5 + 4},
		{"§6.2.4.1 string outside of .debug_line_str", le5, set(tables5+2, formLineStrp), located.ErrOffset, tables5 + 4},
		{"DWARF 4 §6.2.4 directory without an end", le4, func(b []byte) []byte { b[6] = 0; return cut(header4 + fixed + 1)(b) }, located.ErrUnterminated, header4 + fixed},
		{"DWARF 4 §6.2.4 directories without an end", le4, func(b []byte) []byte { b[6] = 0; return cut(header4 + fixed + 2)(b) }, located.ErrUnterminated, header4 + fixed + 2},
		{"DWARF 4 §6.2.4 file cut", le4, func(b []byte) []byte { b[6] = 0; return cut(header4 + fixed + 6)(b) }, located.ErrTruncated, header4 + fixed + 6},
		{"DWARF 4 §6.2.4 files without an end", le4, func(b []byte) []byte { b[6] = 0; return cut(header4 + fixed + 8)(b) }, located.ErrUnterminated, header4 + fixed + 8},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 "+tt.name, func(t *testing.T) {
			p := lineProg{enc: tt.e, dirs: []string{"/"}, files: []lineFile{{"a", 0}}, text: "set_address 0x1000; copy; advance_pc 1; end_sequence"}
			a := tt.e.asm().units("unit\n CompileUnit StmtList:sec_offset=0\n")
			p.asm = a
			a.sec.Line = tt.damage(p.build())
			d := a.open(t)
			table := LineTable{Rows: make([]LineRow, 3)}
			checkErr(t, d.ReadLines(d.Units[0], &table), tt.err, ".debug_line", tt.at)
			if len(table.Rows) > 0 {
				t.Errorf("rows %s", renderRows(table.Rows))
			}
		})
	}
	t.Run("DWARF 5 §7.5.5 DW_AT_stmt_list outside of the section", func(t *testing.T) {
		a := le5.asm().units("unit\n CompileUnit StmtList:sec_offset=9\n")
		a.sec.Line = make([]byte, 8)
		d := a.open(t)
		var table LineTable
		checkErr(t, d.ReadLines(d.Units[0], &table), located.ErrOffset, ".debug_line", 0)
	})
}

// TestLineProgramStart: the program begins where header_length says, whatever
// a later version has put in front of it.
func TestLineProgramStart(t *testing.T) {
	for _, e := range []enc{le4, le5} {
		p := lineProg{enc: e, dirs: []string{"/"}, files: []lineFile{{"a", 0}}}
		head := p.build()
		p.text = "bytes 0xff 0xff 0xff; set_address 0x1000; copy; advance_pc 1; end_sequence"
		line := p.build()
		line[map[int]int{4: 6, 5: 8}[e.version]] += 3
		a := e.asm().units("unit\n CompileUnit StmtList:sec_offset=0\n")
		a.sec.Line = line
		d := a.open(t)
		var table LineTable
		if err := d.ReadLines(d.Units[0], &table); err != nil || renderRows(table.Rows) != "1000:1 1001." {
			t.Errorf("%v, header %d: %v, %s", e, len(head), err, renderRows(table.Rows))
		}
	}
}

// TestOpcodeBase0, DWARF 5 §6.2.4: no number of opcodes is meant by 0; that
// there are none is, as for 1, but that 0 itself is special then.
func TestOpcodeBase0(t *testing.T) {
	a := le5.asm().units("unit\n CompileUnit StmtList:sec_offset=0\n")
	h := le5.buf().bytes(1, 1, 1, 0, 14, 0, 0, 0, 0, 0)
	body := le5.buf().uint(2, 5).bytes(8, 0).offset(uint64(len(h.b))).bytes(h.b...).bytes(0, 15, 30)
	a.sec.Line = le5.buf().length(body.b).b
	a.code = CodeMap{{Lo: 0, Hi: 0x100}}
	d := a.open(t)
	var table LineTable
	if err := d.ReadLines(d.Units[0], &table); err != nil || renderRows(table.Rows) != "0:1 1:2 3." {
		t.Errorf("%v, %s", err, renderRows(table.Rows))
	}
}

// TestBaseDir, DWARF 5 §6.2.4: directory 0 repeats DW_AT_comp_dir.
func TestBaseDir(t *testing.T) {
	tests := []struct {
		version          int
		dir0, comp, want string
	}{
		{5, "/table", "/unit", "/unit"}, {5, "/table", "unit", "/table"}, {5, "/table", "", "/table"}, {5, "table", "", "table"},
		{5, "./argp", "./argp", "./argp"}, {5, "table", "/unit", "/unit"}, {4, "/table", "unit", "unit"}, {4, "/table", "", ""},
	}
	for _, tt := range tests {
		p := lineProg{enc: enc{version: tt.version, addr: 8}, dirs: []string{tt.dir0}, text: "end_sequence"}
		var table LineTable
		if err := p.lines(t, &table); err != nil {
			t.Fatal(err)
		}
		if got := string(table.BaseDir([]byte(tt.comp))); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	var none LineTable
	if got := string(none.BaseDir([]byte("c"))); got != "c" {
		t.Errorf("no table: %q", got)
	}
}
