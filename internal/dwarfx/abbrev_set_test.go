package dwarfx

import "testing"

// TestDeclaration: what an abbreviation's code is followed by, up to its end, and
// whether that has a form that can refer to another unit.
func TestDeclaration(t *testing.T) {
	tests := []struct {
		name     string
		data     []byte
		size     int
		crossing bool
	}{
		{"no attributes", []byte{0x11, 0, 0, 0}, 4, false},
		{"attributes, another abbreviation after them", []byte{0x2e, 1, 3, 8, 0x11, 1, 0, 0, 2, 0x34}, 8, false},
		{"tag of three bytes", []byte{0x89, 0x82, 1, 0, 3, 8, 0, 0}, 8, false},
		{"tag with padding", []byte{0x91, 0, 0, 3, 8, 0, 0}, 7, false},
		{"attribute of two bytes", []byte{0x2e, 0, 0x88, 1, formData1, 3, 8, 0, 0}, 9, false},
		{"attribute and form of two bytes", []byte{0x2e, 0, 0x91, 0x42, 0xa0, 0x3e, 0, 0}, 8, false},
		{"form of two bytes", []byte{0x2e, 0, 3, 0xa1, 0x3e, 0, 0}, 7, false},
		{"implicit_const", []byte{0x2e, 0, 0x3a, formImplicitConst, 0, 0x3b, formImplicitConst, 0xff, 0, 0, 0}, 11, false},
		{"implicit_const of the number of a form", []byte{0x2e, 0, 0x3a, formImplicitConst, formRefAddr, 0, 0}, 7, false},
		{"form 0 with an attribute", []byte{0x2e, 0, 3, 0, 0, 0}, 6, false},
		{"attribute 0 with a form", []byte{0x2e, 0, 0, 8, 0, 0}, 6, false},
		{"ref_addr", []byte{0x2e, 0, 0x31, formRefAddr, 3, 8, 0, 0}, 8, true},
		{"ref_sig8, after another", []byte{0x2e, 0, 3, 8, 0x49, formRefSig8, 0, 0}, 8, true},
		{"indirect", []byte{0x2e, 0, 3, formIndirect, 0, 0}, 6, true},
		{"ref_addr of an attribute of two bytes", []byte{0x2e, 0, 0x88, 1, formRefAddr, 0, 0}, 7, true},
		{"references within the unit", []byte{0x2e, 0, 1, formRef1, 2, formRef2, 3, formRef4, 4, formRef8, 5, formRefUdata, 0, 0}, 14, false},
		{"ref_addr in the next", []byte{0x2e, 0, 3, 8, 0, 0, 2, 0x2e, 0, 0x31, formRefAddr, 0, 0}, 6, false},
		{"end with padding", []byte{0x2e, 0, 0x80, 0, 0, 0, 0}, 0, false},
		{"end with padding in the form", []byte{0x2e, 0, 0, 0x80, 0, 0, 0}, 0, false},
		{"ref_addr with padding", []byte{0x2e, 0, 0x31, formRefAddr | 0x80, 0, 0, 0}, 0, false},
		{"nothing", nil, 0, false},
		{"tag cut", []byte{0x80}, 0, false},
		{"children cut", []byte{0x2e}, 0, false},
		{"attributes cut", []byte{0x2e, 0, 3}, 0, false},
		{"form cut", []byte{0x2e, 0, 0x83, 0x84}, 0, false},
		{"form of two bytes cut", []byte{0x2e, 0, 0x83, 0x44, 0x81}, 0, false},
		{"constant cut", []byte{0x2e, 0, 3, formImplicitConst, 0x80}, 0, false},
		{"end cut", []byte{0x2e, 0, 3, 8, 0}, 0, false},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.5.3 "+tt.name, func(t *testing.T) {
			if size, crossing := declaration(tt.data); size != tt.size || crossing != tt.crossing {
				t.Errorf("got %d, %v, want %d, %v", size, crossing, tt.size, tt.crossing)
			}
		})
	}
}

// TestSelfContainedAbbrev: all of .debug_abbrev is read, and what cannot be read may
// have anything in it.
func TestSelfContainedAbbrev(t *testing.T) {
	plain := []byte{1, 0x11, 1, 3, 8, 0, 0}
	named := []byte{2, 0x2e, 0, 3, 8, 0x31, formRef4, 0, 0}
	crossing := []byte{3, 0x1d, 0, 0x31, formRefAddr, 0, 0}
	tests := []struct {
		name   string
		abbrev []byte
		want   bool
	}{
		{"nothing", nil, true},
		{"an empty table", []byte{0}, true},
		{"one table", join(plain, named, []byte{0}), true},
		{"no end of the table", join(plain, named), true},
		{"two tables", join(plain, []byte{0}, named, []byte{0}), true},
		{"zeros between tables and at the end", join(plain, []byte{0, 0, 0}, named, make([]byte, 16)), true},
		{"code of two bytes", join([]byte{0x80, 1}, named[1:], []byte{0}), true},
		{"code with padding", join([]byte{0x81, 0}, named[1:], []byte{0}), true},
		{"ref_addr first", join(crossing, plain, []byte{0}), false},
		{"ref_addr last", join(plain, named, crossing, []byte{0}), false},
		{"ref_addr in the second table", join(plain, []byte{0, 0, 0}, crossing, []byte{0}), false},
		{"ref_sig8", []byte{1, 0x34, 0, 0x49, formRefSig8, 0, 0, 0}, false},
		{"indirect", []byte{1, 0x34, 0, 3, formIndirect, 0, 0, 0}, false},
		{"GNU_ref_alt", []byte{1, 0x34, 0, 0x31, 0xa0, 0x3e, 0, 0, 0}, true}, // of another file
		{"code alone", []byte{1}, false},
		{"code cut", []byte{0x80}, false},
		{"attributes cut", plain[:5], false},
		{"the second table cut", join(plain, []byte{0}, named[:4]), false},
		{"a form with padding", []byte{1, 0x34, 0, 3, 0x88, 0, 0, 0, 0}, false},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.5.3 "+tt.name, func(t *testing.T) {
			if got := SelfContained(tt.abbrev); got != tt.want {
				t.Errorf("got %v", got)
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
