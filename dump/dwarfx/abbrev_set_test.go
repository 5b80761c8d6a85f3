package dwarfx

import "testing"

// TestDeclarationLen: what an abbreviation's code is followed by, up to its end.
func TestDeclarationLen(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want int
	}{
		{"no attributes", []byte{0x11, 0, 0, 0}, 4},
		{"attributes, another abbreviation behind them", []byte{0x2e, 1, 3, 8, 0x11, 1, 0, 0, 2, 0x34}, 8},
		{"tag of three bytes", []byte{0x89, 0x82, 1, 0, 3, 8, 0, 0}, 8},
		{"tag with padding", []byte{0x91, 0, 0, 3, 8, 0, 0}, 7},
		{"attribute of two bytes", []byte{0x2e, 0, 0x88, 1, formData1, 3, 8, 0, 0}, 9},
		{"attribute and form of two bytes", []byte{0x2e, 0, 0x91, 0x42, 0xa0, 0x3e, 0, 0}, 8},
		{"form of two bytes", []byte{0x2e, 0, 3, 0xa1, 0x3e, 0, 0}, 7},
		{"implicit_const", []byte{0x2e, 0, 0x3a, formImplicitConst, 0, 0x3b, formImplicitConst, 0xff, 0, 0, 0}, 11},
		{"form 0 with an attribute", []byte{0x2e, 0, 3, 0, 0, 0}, 6},
		{"attribute 0 with a form", []byte{0x2e, 0, 0, 8, 0, 0}, 6},
		{"end with padding", []byte{0x2e, 0, 0x80, 0, 0, 0, 0}, 0},
		{"end with padding in the form", []byte{0x2e, 0, 0, 0x80, 0, 0, 0}, 0},
		{"nothing", nil, 0},
		{"tag cut", []byte{0x80}, 0},
		{"children cut", []byte{0x2e}, 0},
		{"attributes cut", []byte{0x2e, 0, 3}, 0},
		{"form cut", []byte{0x2e, 0, 0x83, 0x84}, 0},
		{"form of two bytes cut", []byte{0x2e, 0, 0x83, 0x44, 0x81}, 0},
		{"constant cut", []byte{0x2e, 0, 3, formImplicitConst, 0x80}, 0},
		{"end cut", []byte{0x2e, 0, 3, 8, 0}, 0},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.5.3 "+tt.name, func(t *testing.T) {
			if got := declarationLen(tt.data); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// TestAbbrevSet: abbreviations that several tables have are compiled once, under
// whatever codes; those that units of another kind have are not the same. A set
// that is full is followed by another.
func TestAbbrevSet(t *testing.T) {
	call := func(code, line int) []byte {
		return le5.buf().uleb(uint64(code)).bytes(0x1d, 0, 0x31, formRef4, 0x59, formImplicitConst).sleb(int64(line)).bytes(0, 0).b
	}
	const n = maxSet - 1 // and one of the last table
	var up, down, last []byte
	for i := range n {
		up, down = append(up, call(i+1, 2*i)...), append(down, call(i+1, 2*(n-1-i))...)
	}
	last = append(call(1, 6), call(3, 5)...)
	d := le5.asm().units("unit\n CompileUnit\nunit\n CompileUnit\nunit\n CompileUnit Language:data1=0x1d\nunit\n CompileUnit\n").open(t)
	d.Abbrev, d.abbrevBytes = join(up, []byte{0}, down, []byte{0}, last, []byte{0}), 1<<30
	at := uint64(len(up) + 1)
	tests := []struct {
		name    string
		off     uint64
		line    func(code int) int
		abbrevs int // in the set
		full    bool
	}{
		{"new", 0, func(code int) int { return 2 * (code - 1) }, n, false},
		{"in another order", at, func(code int) int { return 2 * (n - code) }, n, false},
		{"of another language", 2 * at, func(code int) int { return 7 - code + code/3 }, 2, false},
		{"one is new", 2 * at, func(code int) int { return 7 - code + code/3 }, n + 1, true},
	}
	for i, tt := range tests {
		u := d.Units[i]
		u.abbrevOff = tt.off
		table, err := d.abbrevs(u)
		if err != nil {
			t.Fatal(err)
		}
		if full := d.sets[setKey{5, 8, false, familyOf(u.Language)}] == nil; len(table.abbrevs) != tt.abbrevs || full != tt.full {
			t.Errorf("%s: %d abbreviations, full %v", tt.name, len(table.abbrevs), full)
		}
		for code := 1; code <= n; code += 2 {
			if a := table.lookup(uint64(code)); a == nil && i < 2 || a != nil && table.consts[a.consts] != int64(tt.line(code)) {
				t.Fatalf("%s: code %d: %+v", tt.name, code, a)
			}
		}
	}
}
