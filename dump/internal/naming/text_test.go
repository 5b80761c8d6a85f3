package naming

import (
	"bytes"
	"slices"
	"testing"

	"symkit/internal/demangle"
	"symkit/internal/dwarfx"
	"symkit/limits"
)

// TestSharedLabel: of two functions that share an assembler label, only the one without
// a plain name is called by the label, whichever is read first.
func TestSharedLabel(t *testing.T) {
	abbrevs := []byte{
		1, 0x11, 1, 0x13, 0x0b, 0, 0, // DW_TAG_compile_unit: DW_AT_language
		2, 0x2e, 0, 0x6e, 0x0e, 0, 0, // DW_TAG_subprogram: DW_AT_linkage_name in .debug_str
		3, 0x2e, 0, 0x6e, 0x0e, 0x03, 0x08, 0, 0, // and DW_AT_name
		0,
	}
	dies := []byte{
		24, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, // length, version, .debug_abbrev offset, size of addresses
		1, 0x0c, // C99
		2, 1, 0, 0, 0,
		3, 1, 0, 0, 0, 'o', 'n', 'e', 0,
		0,
	}
	const label, one = 13, 18 // the DIEs
	for _, refs := range [][]dwarfx.Ref{{label, one}, {one, label}} {
		data, errs := dwarfx.Open(dwarfx.Sections{Info: dies, Abbrev: abbrevs, Str: []byte("\x00label\x00"), AddrSize: 8}, nil)
		if len(errs) > 0 || len(data.Units) != 1 {
			t.Fatal(errs, data.Units)
		}

		// A name is cached when the next batch begins.
		table := NewTable(uint64(len(dies)), limits.Limits{}, false)
		namer := NewNamer(table)
		got := map[dwarfx.Ref]string{}
		for i, ref := range refs {
			_, numbers, _ := namer.Unit(data.Units[0], i, nil, []dwarfx.Ref{ref})
			got[ref] = table.Text(numbers[0])
		}
		if got[label] != "label" || got[one] != "one" {
			t.Errorf("order %v: %v", refs, got)
		}
	}
}

// TestFortranLabel: a linkage name of a procedure of a module is a label where only its compiler knows the form.
func TestFortranLabel(t *testing.T) {
	for _, tt := range []struct {
		linkage, plain string
		want           bool
	}{
		{"__mesh_MOD_area", "area", false},
		{"_QMmeshParea", "area", false},
		{"my_mp_solve_", "my_mp_solve", false},
		{"solve_it__", "solve_it", false},
		{"SOLVE", "solve", true},
		{"mesh_mp_area_", "area", true}, // Intel's
		{"mesh_mp_area_ip_scaled_", "SCALED", true},
		{"mesh_area_", "area", true}, // NVIDIA's
		{"area$mesh_", "area", true}, // Cray's
		{"c_area", "area", true},     // bind(C, name="c_area")
		{"mesh_mp_area_", "", false},
	} {
		k := newKey(&dwarfx.Unit{Language: 0x0e}, dwarfx.Naming{Linkage: []byte(tt.linkage), Name: []byte(tt.plain)}, dwarfx.Naming{}, nil)
		if label := k.Linkage == nil; label != tt.want {
			t.Errorf("%s, %q: a label: %v", tt.linkage, tt.plain, label)
		}
	}
}

// TestSymbol: a symbol that is not mangled leaves the function its plain name.
func TestSymbol(t *testing.T) {
	const cxx = dwarfx.Language(4)
	for _, tt := range []struct{ symbol, plain, want string }{
		{"main", "main", "main"},
		{"label", "f", "f"},
		{"_ZN4shop1fEv", "f", "shop::f()"},
		{"label", "", "label"},
		{"debug.Dwarf.scan", "scan", "debug.Dwarf.scan"}, // Zig's
		{"rescan", "scan", "scan"},
		{".scan", "scan", "scan"},
	} {
		table := NewTable(0, limits.Limits{}, false)
		k := SymbolKey([]byte(tt.symbol), &Key{Plain: []byte(tt.plain), Unit: &dwarfx.Unit{}, Language: cxx, Lost: true})
		number := NewNamer(table).Symbol(&k, 0)
		if got := table.Text(number); got != tt.want || !table.IsSound(number) {
			t.Errorf("%s, %s: %q, want %q", tt.symbol, tt.plain, got, tt.want)
		}
	}
}

// TestAssembly: names in a unit of an assembler are those of symbols, mangled ones of ocamlopt too.
func TestAssembly(t *testing.T) {
	for plain, want := range map[string]string{"camlE.area_297": "E.area_297", "camlO__twice_86": "O.twice_86", "memcpy": "memcpy", "_Z1fv": "f()"} {
		own := dwarfx.Naming{Name: []byte(plain), Unit: &dwarfx.Unit{Language: 0x8001}}
		k := newKey(own.Unit, own, dwarfx.Naming{}, nil)
		table := NewTable(0, limits.Limits{}, false)
		number := NewNamer(table).number(&k, 0)
		if got := table.Text(number); got != want {
			t.Errorf("%s: %q, want %q", plain, got, want)
		}
	}
}

// TestQualified: a linkage name that is the plain name with its scope is a name, and no label.
func TestQualified(t *testing.T) {
	for _, tt := range []struct{ linkage, want string }{
		{"debug.Dwarf.scan", "debug.Dwarf.scan"},
		{"array_list.Aligned(u8,null).scan", "array_list.Aligned(u8,null).scan"},
		{"log::Shape::scan(log::Shape)", "log::Shape::scan(log::Shape)"}, // Mojo's
		{"__GI_scan", ""},
		{"scan", ""},
	} {
		const c99 = dwarfx.Language(12)
		own := dwarfx.Naming{Linkage: []byte(tt.linkage), Name: []byte("scan"), Unit: &dwarfx.Unit{Language: c99}}
		if k := newKey(own.Unit, own, dwarfx.Naming{}, nil); string(k.Linkage) != tt.want {
			t.Errorf("%s: linkage name %q, want %q", tt.linkage, k.Linkage, tt.want)
		}
	}
}

// TestHaskell: the linkage name is written, as GHC's plain names are numbers or short. Every
// code of one function has the same plain name.
func TestHaskell(t *testing.T) {
	for _, tt := range []struct{ linkage, plain, want string }{
		{"Main_area_info", "L7133701809754875330", "Main_area_info"},
		{"Main_zdfShowShapezuzdcshowsPrec_info", "showsPrec", "Main_zdfShowShapezuzdcshowsPrec_info"},
		{"s2yC_info", "showsPrec", "s2yC_info"},
		{"", "showsPrec", "showsPrec"},
	} {
		u := &dwarfx.Unit{Language: 0x18}
		own := dwarfx.Naming{Linkage: []byte(tt.linkage), Name: []byte(tt.plain), Unit: u}
		k := newKey(u, own, dwarfx.Naming{}, nil)
		if text, _, _ := readable(&k, new(demangle.Demangler)); text != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.linkage, tt.plain, text, tt.want)
		}
	}
}

// TestObjectiveC: the name of a method has its class in it, whatever is around its DIE; names
// within the method begin with the method's.
func TestObjectiveC(t *testing.T) {
	abbrevs := []byte{
		1, 0x11, 1, 0x13, 0x0b, 0, 0, // DW_TAG_compile_unit: DW_AT_language
		2, 0x13, 1, 0x03, 0x08, 0, 0, // DW_TAG_structure_type: DW_AT_name
		3, 0x2e, 1, 0x03, 0x08, 0, 0, // DW_TAG_subprogram: DW_AT_name
		4, 0x2e, 0, 0x03, 0x08, 0, 0, // and no children
		0,
	}
	dies := slices.Concat([]byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0x11},
		[]byte("\x02C\x00"), []byte("\x03-[C m:]\x00"), []byte("\x02L\x00"), []byte("\x04f\x00"), []byte{0, 0},
		[]byte("\x04+[C(More) n]\x00"), []byte("\x04g\x00"), []byte{0, 0})
	dies[0] = byte(len(dies) - 4)
	data, errs := dwarfx.Open(dwarfx.Sections{Info: dies, Abbrev: abbrevs, AddrSize: 8}, nil)
	if len(errs) > 0 || len(data.Units) != 1 {
		t.Fatal(errs, data.Units)
	}

	var refs []dwarfx.Ref
	want := []string{"-[C m:]", "-[C m:]::L::f", "+[C(More) n]", "C::g"}
	for _, die := range []string{"\x03-[C m:]", "\x04f", "\x04+[C(More) n]", "\x04g"} {
		refs = append(refs, dwarfx.Ref(bytes.Index(dies, []byte(die))))
	}
	table := NewTable(uint64(len(dies)), limits.Limits{}, false)
	_, numbers, _ := NewNamer(table).Unit(data.Units[0], 0, nil, refs)
	for i, number := range numbers {
		if got := table.Text(number); got != want[i] {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
}
