package check

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestSound checks files of producers with unusual output, with symbol files that are right. Each
// of these once had findings.
func TestSound(t *testing.T) {
	for _, test := range []struct {
		name string
		// A symbol file in which the text old is replaced by new is wrong and has findings: the
		// rule that accepts the true file does not accept everything.
		old, new string
		check    string
	}{
		// DWARF 5 with an absolute name beside a directory: debug/dwarf joins the two.
		{"abspath-clang14.o", "FILE 0 /s/x.c", "FILE 0 /b/s/x.c", checks.Lines},
		// The scopes of a function literal have linkage names of D, and so has a constructor,
		// whose plain name is not the one that it is demangled to.
		{"lambda-gdc12.o", "lambda.C.m().__lambda1", "lambda.C.n().__lambda1", checks.Names},
		{"lambda-gdc12.o", "lambda.C.this(int).hash", "lambda.D.this(int).hash", checks.Names},
		// Subprograms without linkage names, of instances of generic packages and of the
		// binder's ada_main, have encoded ones as DW_AT_name.
		{"inst-gnat12.o", "inst.ints.twice.inner", "inst.twice.inner", checks.Names},
		{"inst-gnat12.o", "ada_main'Elab_Body", "ada_main'Elab_Spec", checks.Names},
		{"inst-gnat12.o", `inst."*"`, `inst."+"`, checks.Names},
		// The flags state what the class does not.
		{"n32-mips64el-gcc12.elf", "Linux mips64 ", "Linux mips ", checks.Module},
		// An absolute symbol, as BOLT's __hot_end, needs no PUBLIC unless it is a function.
		{"abs-gas.elf", "PUBLIC 1008 0 stub\n", "", checks.Publics},
		// Range lists with indices of addresses, in a unit without DW_AT_addr_base.
		{"addrbase-dwarfutil19.elf", "INLINE 0 2 0 0 1074 18", "INLINE 0 2 0 0 1074 17", checks.Inlines},
		// GCC 4.1 writes the calls in an inlined call as its siblings.
		{"siblings-gas.o", "INLINE 2 30 0 2 c 4\n", "", checks.Inlines},
		{"siblings-gas.o", "INLINE 1 40 0 4 20 8\n", "INLINE 1 40 0 3 20 8\n", checks.Inlines},
		// Assemblers write lines, but no sizes: a function ends at the next symbol, where data
		// begins, or with its lines.
		{"unsized-nasm.o", "FUNC a 16 0 second\n", "FUNC a 15 0 second\n", checks.Funcs},
		{"unsized-nasm.o", "FUNC 20 2 0 own\n", "FUNC 20 3 0 own\n", checks.Funcs},
		{"unsized-nasm.o", "FUNC 3a 6 0 third\n3a 5 29 0\n3f 1 30 0\n", "PUBLIC 3a 0 third\n", checks.Lines},
		{"unsized-nasm.o", "FUNC 40 3 0 last\n40 2 33 0\n42 1 34 0\n", "", checks.Lines},
		{"unsized-yasm.o", "5 5 6 0\n", "5 5 7 0\n", checks.Lines},
		{"unsized-gas.o", "FUNC 1c 8 0 second\n", "FUNC 1c 10 0 second\n", checks.Funcs},
		// Swift: an extension's module is not the function, and a type's DIE has a mangled name.
		{"swift-swiftc62.o", " Int.cubed()\n", " Swift.Int.swift\n", checks.Names},
		{"swift-swiftc62.o", " static Int.+++ infix(_:_:)\n", " static Int.--- infix(_:_:)\n", checks.Names},
		{"swift-swiftc62.o", " Main.main\n", " main.$s5swift4MainVD.main\n", checks.Names},
		// -g1 leaves plain names, symbols know the rest; the library does not read constraints (half).
		{"lines-clang23.o", " shop::Box::get(int) const\n", " shop::Bag::get(int) const\n", checks.Names},
		{"lines-clang23.o", " int shop::half<int>(int)\n", " int shop::third<int>(int)\n", checks.Names},
		{"lines-gcc16.o", " shop::(anonymous namespace)::hidden(int)\n", " shop::hidden(int)\n", checks.Names},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join("testdata", "sound", test.name)
			img, sym := openTest(t, path, test.name), readTest(t, path+".sym")
			if rep := mustCheck(t, img, sym, Options{}); rep.Total() > 0 {
				t.Errorf("%s", text(t, rep))
			}
			wrong := bytes.Replace(sym, []byte(test.old), []byte(test.new), 1)
			rep := mustCheck(t, img, wrong, Options{})
			if bytes.Equal(wrong, sym) || !slices.ContainsFunc(rep.Findings, func(f report.Finding) bool { return f.Check == test.check }) {
				t.Errorf("%q for %q was not found: %s", test.new, test.old, text(t, rep))
			}
		})
	}
}

// TestPlainNames: the plain names that the DWARF has with -g1 are right too.
func TestPlainNames(t *testing.T) {
	const name = "lines-clang23.o"
	path := filepath.Join("testdata", "sound", name)
	img, sym := openTest(t, path, name), readTest(t, path+".sym")
	for full, plain := range map[string]string{
		"shop::Box::Box(int)": "Box", "shop::Box::get(int) const": "get", "int shop::half<int>(int)": "half<int>",
		"shop::Box::operator char const*() const": "operator const char *", "own(int)": "own",
	} {
		changed := bytes.Replace(sym, []byte(" 0 "+full+"\n"), []byte(" 0 "+plain+"\n"), 1)
		rep := mustCheck(t, img, changed, Options{})
		if bytes.Equal(changed, sym) || rep.Total() > 0 {
			t.Errorf("%s: %s", plain, text(t, rep))
		}
	}
}
