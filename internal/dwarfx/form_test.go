package dwarfx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/located"
)

type formValue struct {
	form, value string
	want        uint64
	since       int // the DWARF version
}

// formValues gives for every form a value and the number that is read of it. Strings and references have tests
// of their own.
var formValues = []formValue{
	{"addr", "0x12345678", 0x12345678, 2},
	{"addrx", "300", 300, 5}, {"addrx1", "0xf1", 0xf1, 5}, {"addrx2", "0xf1f2", 0xf1f2, 5},
	{"addrx3", "0xf1f2f3", 0xf1f2f3, 5}, {"addrx4", "0xf1f2f3f4", 0xf1f2f3f4, 5}, {"GNU_addr_index", "300", 300, 4},
	{"block", "abc", 0, 2}, {"block1", "abcd", 0, 2}, {"block2", "", 0, 2}, {"block4", "abcde", 0, 2}, {"exprloc", "ab", 0, 4},
	{"LLVM_addrx_offset", "0x12c00000005", 300<<32 | 5, 5},
	{"data1", "0xf1", 0xf1, 2}, {"data2", "0xf1f2", 0xf1f2, 2}, {"data4", "0xf1f2f3f4", 0xf1f2f3f4, 2},
	{"data8", "0xf1f2f3f4f5f6f7f8", 0xf1f2f3f4f5f6f7f8, 2}, {"data16", "7", 0, 5},
	{"sdata", "-3", ^uint64(2), 2}, {"udata", "0xffffffffffffffff", ^uint64(0), 2}, {"implicit_const", "-9", ^uint64(8), 5},
	{"flag", "1", 1, 2}, {"flag_present", "", 1, 4},
	{"ref1", "0xf1", 0xf1, 2}, {"ref2", "0xf1f2", 0xf1f2, 2}, {"ref4", "0xf1f2f3f4", 0xf1f2f3f4, 2}, {"ref8", "9", 9, 2},
	{"ref_udata", "300", 300, 2}, {"ref_addr", "0x1234", 0x1234, 2}, {"ref_sig8", "0x12", 0x12, 4}, {"GNU_ref_alt", "5", 5, 4},
	{"ref_sup4", "5", 5, 5}, {"ref_sup8", "5", 5, 5}, {"sec_offset", "0x1234", 0x1234, 4},
	{"loclistx", "300", 300, 5}, {"rnglistx", "300", 300, 5},
	{"strx", "300", 300, 5}, {"strx1", "0xf1", 0xf1, 5}, {"strx2", "0xf1f2", 0xf1f2, 5}, {"strx3", "0xf1f2f3", 0xf1f2f3, 5},
	{"strx4", "0xf1f2f3f4", 0xf1f2f3f4, 5}, {"GNU_str_index", "300", 300, 4},
	{"string", "s", 0, 2}, {"strp", "s", 0, 2}, {"line_strp", "s", 0, 5}, {"strp_sup", "s", 0, 5}, {"GNU_strp_alt", "s", 0, 4},
}

// TestEveryFormIsCovered: the table above has every form of DWARF 5 §7.5.6.
func TestEveryFormIsCovered(t *testing.T) {
	for name, code := range forms {
		if _, known := formSize(&Unit{AddrSize: 8}, code); !known {
			t.Errorf("%s (%#x) is unknown", name, code)
		}
		if name == "indirect" {
			continue
		}
		if !slices.ContainsFunc(formValues, func(v formValue) bool { return v.form == name }) {
			t.Errorf("%s has no value", name)
		}
	}
	for code := range uint16(0x40) {
		if _, known := formSize(&Unit{AddrSize: 8}, code); known != (code == 1 || code >= 3 && code <= 0x2c) {
			t.Errorf("form %#x: known %v", code, known)
		}
	}
}

// TestForms, DWARF 5 §7.5.6: every form, read by readAttrs, read by the scan
// (as an attribute that the scan reads), skipped by the scan, skipped among children
// that the scan does not read, and after DW_FORM_indirect. The attributes after the
// form show that its size was right.
func TestForms(t *testing.T) {
	const after = " Lowpc:addr=0x1000 Highpc:data1=0x10\n"
	for _, e := range encodings() {
		for _, f := range formValues {
			if e.version < f.since {
				continue
			}
			for _, indirect := range []string{"", "indirect/", "indirect/indirect/"} {
				if indirect != "" && f.form == "implicit_const" {
					continue
				}
				attr := ":" + indirect + f.form + "=" + f.value
				t.Run(fmt.Sprintf("DWARF 5 §7.5.6 %v %s", e, attr), func(t *testing.T) {
					a, d, scans := e.scan(t, `
unit
  CompileUnit Name:string=c
    Typedef DeclLine`+attr+` {}
      Variable Name`+attr+`
    Subprogram DeclLine`+attr+after+`
    Subprogram @wanted Declaration`+attr+after)
					s := scans[0]
					if len(s.Funcs) != 2 || s.Ranges[1] != (Range{Lo: 0x1000, Hi: 0x1010}) || s.Ranges[0] != s.Ranges[1] {
						t.Errorf("scan: %+v", s)
					}
					var x Namer
					var vals slots
					if err := x.seek(d, Ref(a.labels["@wanted"])); err != nil {
						t.Fatal(err)
					}
					if err := d.readDIE(x.scan.u, x.scan.t, &x.scan.c, &vals); err != nil {
						t.Fatal(err)
					}
					got := vals[slotDeclaration]
					if f.form == "string" || f.form == "exprloc" || strings.HasPrefix(f.form, "block") {
						got.v = 0 // its offset
					}
					if got != (value{f.want, forms[f.form]}) {
						t.Errorf("value %#x, want %#x", got, f.want)
					}
					if low := vals[slotLowPC]; low.v != 0x1000 {
						t.Errorf("after it: low_pc %#x", low)
					}
				})
			}
		}
	}
}

// TestIndirectErrors, DWARF 5 §7.5.6.
func TestIndirectErrors(t *testing.T) {
	at := le5.lengthSize() + 8 + 1
	tests := []struct {
		name  string
		value []byte
		err   error
		at    int
	}{
		{"implicit_const", []byte{formImplicitConst, 0, 0}, ErrForm, at + 1},
		{"unknown", []byte{0x2d, 0, 0}, ErrForm, at + 1},
		{"form 0", []byte{0, 0, 0}, ErrForm, at + 1},
		{"of 17 bits", []byte{0x88, 0x80, 0x04}, ErrForm, at + 3},
		{"cut", []byte{0x80, 0x80, 0x80}, located.ErrTruncated, at + 3},
		{"without an end", []byte{formIndirect, formIndirect, formIndirect}, located.ErrTruncated, at + 3},
		{"then cut", []byte{formIndirect, formData4, 0}, located.ErrTruncated, at + 2},
	}
	for _, tt := range tests {
		t.Run("DWARF 5 §7.5.6 "+tt.name, func(t *testing.T) {
			a := le5.asm().units("unit\n CompileUnit Name:indirect/data2=0\n")
			copy(a.info[at:], tt.value)
			_, errs := Open(a.sections(), nil)
			if len(errs) != 1 {
				t.Fatalf("errors %v", errs)
			}
			checkErr(t, errs[0], tt.err, ".debug_info", tt.at)
		})
	}
}

// TestValuesCut: a value that the unit ends in, for every form, is an error at
// the value or in it, read or passed over.
func TestValuesCut(t *testing.T) {
	for _, f := range formValues {
		if f.form == "implicit_const" || f.form == "flag_present" {
			continue
		}
		for _, attr := range []string{"Name", "DeclLine"} {
			t.Run(attr+" "+f.form, func(t *testing.T) {
				a := le5.asm().units("unit\n CompileUnit {}\nunit\n CompileUnit\n  Subprogram " + attr + ":" + f.form + "=" + f.value + "\n")
				d := a.open(t)
				u := d.Units[1]
				start := u.first + 2
				for end := start; end < u.End-1; end++ {
					cut := *u
					cut.End, cut.bytes = end, u.bytes[:end-u.Off]
					var s Scan
					err := d.ScanUnit(&cut, true, &s)
					want := located.ErrTruncated
					if f.form == "string" {
						want = located.ErrUnterminated
					}
					e, _ := err.(*located.Error)
					if e == nil || e.Err != want || e.Section != ".debug_info" || uint64(e.Offset) < start || uint64(e.Offset) > end {
						t.Errorf("cut at %#x: error %v", end, err)
					}
				}
			})
		}
	}
}

// TestStrings, DWARF 5 §7.5.5: strings of all forms, and where they may lead.
func TestStrings(t *testing.T) {
	for _, e := range encodings() {
		for _, form := range []string{"string", "strp", "line_strp", "strx", "strx1", "strx2", "strx3", "strx4", "GNU_str_index"} {
			t.Run(fmt.Sprintf("%s %v", form, e), func(t *testing.T) {
				a, d, scans := e.scan(t, "unit\n CompileUnit Name:strp=first\n  Subprogram @f Name:"+form+
					"=f MIPSLinkage:"+form+"=_Zf Lowpc:addr=0x1000 Highpc:udata=1\n")
				fn := scans[0].Funcs[0]
				name, err1 := d.Units[0].String(fn.Name)
				linkage, err2 := d.Units[0].String(fn.Linkage)
				if string(name) != "f" || string(linkage) != "_Zf" || err1 != nil || err2 != nil {
					t.Errorf("name %q, linkage %q, %v, %v", name, linkage, err1, err2)
				}
				if uint64(fn.DIE) != a.labels["@f"] {
					t.Errorf("at %#x", fn.DIE)
				}
			})
		}
	}
}

// TestString: the places that String rejects.
func TestString(t *testing.T) {
	d := &Data{Sections: Sections{Str: []byte("a\x00bc\x00d"), LineStr: []byte("l\x00")}}
	u := &Unit{Off: 0x100, data: d, bytes: []byte("u\x00i"), texts: []byte("t\x00")}
	good := map[Str]string{
		0: "", makeStr(secStr, 0): "a", makeStr(secStr, 1): "", makeStr(secStr, 3): "c", makeStr(secLineStr, 0): "l",
		makeStr(secInfo, 0x100): "u", makeStr(secInfo, 0x101): "", makeStr(secUnit, 0): "t", makeStr(secAltStr, 0): "",
	}
	for s, want := range good {
		if got, err := u.String(s); string(got) != want || err != nil {
			t.Errorf("%#x: %q, %v", uint64(s), got, err)
		}
	}
	bad := []struct {
		s       Str
		err     error
		section string
		at      int
	}{
		{makeStr(secStr, 5), located.ErrUnterminated, ".debug_str", 5},
		{makeStr(secInfo, 0x102), located.ErrUnterminated, ".debug_info", 0x102},
		{makeStr(secInfo, 0x103), located.ErrOffset, ".debug_info", 0x103},
		{makeStr(secInfo, 0xff), located.ErrOffset, ".debug_info", 0x103}, // of the unit before
		{makeStr(secInfo, 0), located.ErrOffset, ".debug_info", 0x103},
		{makeStr(secUnit, 2), located.ErrOffset, ".debug_info", 2},
		{makeStr(secStr, 6), located.ErrOffset, ".debug_str", 6},
		{makeStr(secLineStr, 1<<40), located.ErrOffset, ".debug_line_str", 2},
		{makeStr(secStr, ^uint64(0)), located.ErrOffset, ".debug_str", 6},
		{makeStr(secStr, 1<<60|1), located.ErrOffset, ".debug_str", 6},
	}
	for _, tt := range bad {
		_, err := u.String(tt.s)
		if err == nil {
			t.Errorf("%#x: no error", uint64(tt.s))
			continue
		}
		checkErr(t, err, tt.err, tt.section, tt.at)
	}
}

// TestIndexes: an index that leads nowhere is no string and no address.
func TestIndexes(t *testing.T) {
	d := &Data{Sections: Sections{StrOffsets: make([]byte, 16), Addr: make([]byte, 23)}}
	u := &Unit{AddrSize: 8, Version: 5, strOffsetsBase: 8, addrBase: 8}
	for v, want := range map[uint64]bool{0: true, 1: true, 2: false, 1 << 62: false, ^uint64(0): false} {
		if got := d.str(u, value{v, formStrx}) != 0; got != want {
			t.Errorf("string %#x: %v", v, got)
		}
	}
	for v, want := range map[uint64]bool{0: true, 1: false, 1 << 61: false, ^uint64(0): false} {
		if _, got := d.address(u, value{v, formAddrx}); got != want {
			t.Errorf("address %#x: %v", v, got)
		}
	}
	u.addrBase, u.strOffsetsBase = 24, ^uint64(0)
	if _, ok := d.address(u, value{0, formAddrx}); ok || d.str(u, value{0, formStrx}) != 0 {
		t.Error("a base outside of the section")
	}
	if _, ok := d.address(u, value{8, formData8}); ok || d.str(u, value{8, formData8}) != 0 {
		t.Error("a constant")
	}
}

// TestReferences, DWARF 5 §7.5.5: what a reference refers to.
func TestReferences(t *testing.T) {
	u := &Unit{Off: 0x100, End: 0x180, first: 0x10c}
	tests := []struct {
		form uint16
		v    uint64
		want Ref
	}{
		{formRef1, 0x20, 0x120}, {formRef2, 0x7f, 0x17f}, {formRef4, 0x80, 0}, {formRef8, ^uint64(0), 0}, {formRefUdata, 0x21, 0x121},
		{formRefAddr, 0x20, 0x20}, {formRefAddr, 0x99999, 0x99999}, {formRefSig8, 0x20, 0}, {formGNURefAlt, 0x20, 0x20 | refAlt}, {formRefSup4, 0x20, 0x20 | refAlt},
		{formData4, 0x20, 0}, {0, 0x20, 0},
	}
	for _, tt := range tests {
		if got := u.ref(value{tt.v, tt.form}); got != tt.want {
			t.Errorf("form %#x of %#x: %#x, want %#x", tt.form, tt.v, got, tt.want)
		}
	}
}
