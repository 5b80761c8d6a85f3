package dwarfx

import (
	"fmt"
	"slices"
	"testing"
)

// checkFast checks that the program of u yields the same rows when each opcode is
// read by itself, as is done if the header gives DW_LNS_copy an operand.
func checkFast(d *Data, u *Unit) error {
	var got, want LineTable
	err := d.ReadLines(u, &got)
	h := &got.h
	if len(h.opcodeLengths) == 0 || !got.steps.ok {
		return nil
	}
	at := int(u.LineOff) + 4 + 2 + 4 + 5 // unit_length, version, header_length, five fields
	if h.dwarf64 {
		at += 8 + 4
	}
	if h.version >= 4 {
		at++ // maximum_operations_per_instruction
	}
	if h.version == 5 {
		at += 2 // address_size, segment_selector_size
	}
	slow := &Data{Sections: d.Sections, code: d.code, alt: d.alt}
	slow.Line = slices.Clone(d.Line)
	slow.Line[at]++
	wantErr := slow.ReadLines(u, &want)
	if want.steps.ok || !slices.Equal(want.h.opcodeLengths[1:], h.opcodeLengths[1:]) {
		return fmt.Errorf("operands %v became %v", h.opcodeLengths, want.h.opcodeLengths)
	}
	if !slices.Equal(got.Rows, want.Rows) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		return fmt.Errorf("%s, %v\none by one %s, %v", renderRows(got.Rows), err, renderRows(want.Rows), wantErr)
	}
	return nil
}

// TestFastLines: on every fixture.
func TestFastLines(t *testing.T) {
	rows := 0
	for path, d := range eachFixture(t) {
		for i := range min(len(d.Units), 20) { // each copies .debug_line
			if u := d.Units[i]; u.HasLines {
				if err := checkFast(d, u); err != nil {
					t.Errorf("%s, unit at %#x: %v", path, u.Off, err)
				}
				var table LineTable
				if err := d.ReadLines(u, &table); err == nil && table.steps.ok {
					rows += len(table.Rows)
				}
			}
		}
	}
	if rows < 5000 {
		t.Errorf("%d rows of programs that can be run fast", rows)
	}
}

// TestFastOperands, DWARF 5 §6.2.5.2: operands of one, two and three bytes, and
// padded ones; DWARF 5 §6.2.5.3: opcodes of others, short and long.
func TestFastOperands(t *testing.T) {
	const start = "set_address 0x1000; copy; "
	tests := []struct{ name, text, want string }{
		{"advance_line of one byte", "advance_line 63; special 34; advance_line -64; special 34", "1000:1 1001:66 1002:4 1003."},
		{"advance_line of two bytes", "advance_line 64; special 34; advance_line -65; special 34; advance_line 8191; special 34; advance_line -8192; special 34", "1000:1 1001:67 1002:4 1003:8197 1004:7 1005."},
		{"advance_line of three bytes", "advance_line 8192; special 34; advance_line -8193; special 34", "1000:1 1001:8195 1002:4 1003."},
		{"advance_line padded", "bytes 3 0x81 0; special 32; bytes 3 0xff 0x7f; special 32", "1000:1 1001:2 1002:1 1003."},
		{"advance_pc", "advance_pc 127; advance_line 1; copy; advance_pc 128; advance_line 1; copy; advance_pc 0x3000; advance_line 1; copy", "1000:1 107f:2 10ff:3 40ff:4 4100."},
		{"set_file", "set_file 127; special 33; set_file 128; special 33; set_file 16383; special 33; set_file 16384; special 33; set_file 0xffffffffff; special 33", "1000:1 1001:127:2 1002:128:3 1003:16383:4 1004:16384:5 1005:4294967294:6 1006."},
		{"set_column", "set_column 5; special 33; set_column 300; special 33; set_column 70000; special 33; bytes 5 0x80 0x80 0x80 0", "1000:1 1001:2 1002:3 1003:4 1004."},
		{"set_discriminator", "set_discriminator 5; special 33; set_discriminator 0xffffffff; special 33", "1000:1 1001:2 1002:3 1003."},
	}
	for _, tt := range tests {
		for _, e := range encodings() {
			t.Run(fmt.Sprintf("DWARF 5 %s, %v", tt.name, e), func(t *testing.T) {
				p := lineProg{enc: e, text: start + tt.text + "; advance_pc 1; end_sequence"}
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
