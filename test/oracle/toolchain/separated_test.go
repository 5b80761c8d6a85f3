//go:build oracle

package toolchain

import (
	"slices"
	"strings"
	"testing"

	"symkit/elfx/companion"
)

// TestOracleSeparated: the place and the compression of the debug information of a
// program change nothing.
func TestOracleSeparated(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, flags := range [][]string{{"-g", "-gdwarf-4", "-O2"}, {"-g", "-gdwarf-5", "-O2"}} {
			t.Run(cc+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				separatedForms(New(t, cc, flags...))
			})
		}
	}
}

// separatedForms compares the forms of one compiler.
func separatedForms(x *Toolchain) {
	want := x.plain()
	none := companion.Search{}
	for _, kind := range []string{"zlib", "zstd", "zlib-gnu"} {
		x.Run("objcopy", "--compress-debug-sections="+kind, "plain", kind)
		x.same(kind, kind, none, want)
		debug := kind + ".debug"
		x.Run("objcopy", "--only-keep-debug", "--compress-debug-sections="+kind, "plain", debug)
		x.Run("objcopy", "--strip-all", "--add-gnu-debuglink="+debug, "plain", kind+"-stripped")
		x.same(kind+" in a debug file", kind+"-stripped", none, want)
	}

	x.Run("eu-strip", "-f", "eu.debug", "-o", "eu", "plain")
	x.same("eu-strip", "eu", none, want)
	x.Run("eu-strip", "--reloc-debug-sections", "-f", "eu2.debug", "-o", "eu2", "plain")
	x.same("eu-strip --reloc-debug-sections", "eu2", none, want)

	x.miniDebug(want)
	if x.cc == "gcc" { // dwz refuses the .debug_addr of clang's DWARF 5
		x.dwz(want)
	}
}

// dwz compares a program, and its debug file, with what dwz makes of them, alone and
// together with another program.
func (x *Toolchain) dwz(want string) {
	x.t.Helper()
	none := companion.Search{}
	x.link("twin", "-DTWIN")
	for _, version := range []string{"", "-5"} {
		if version == "-5" && slices.Contains(x.Base, "-gdwarf-4") {
			continue // dwz makes DWARF 5's supplementary files of DWARF 5 alone
		}
		a, b, common := "a"+version, "b"+version, "common"+version+".debug"
		x.Run("cp", "plain", a)
		x.Run("cp", "twin", b)
		args := append([]string{"-q", "-m", common, "-M", common}, strings.Fields(version)...)
		x.Run("dwz", append(args, a, b)...)
		x.same("dwz "+version, a, none, want)
		x.Run("objcopy", "--only-keep-debug", "--compress-debug-sections", a, a+".debug")
		x.Run("strip", "-o", a+"-stripped", a)
		x.Run("objcopy", "--add-gnu-debuglink="+a+".debug", a+"-stripped")
		x.same("dwz "+version+" and a debug file", a+"-stripped", none, want)
	}

	x.Run("cp", "plain", "alone")
	x.Run("dwz", "-q", "alone")
	x.same("dwz of one file", "alone", none, want)
}

// miniDebug compares MiniDebugInfo with what a symbol table gives: the PUBLIC
// and STACK CFI records of a program without DWARF.
func (x *Toolchain) miniDebug(plain string) {
	x.t.Helper()
	x.Run("strip", "-g", "-o", "symbols", "plain")
	want := x.Dump("symbols", companion.Search{})
	if !strings.Contains(want, "\nPUBLIC ") || strings.Contains(want, "\nFUNC ") || want == plain {
		x.t.Fatal("strip -g left DWARF or no symbols")
	}
	x.Run("objcopy", "--only-keep-debug", "plain", "mini.debug")
	x.Run("objcopy", "--strip-debug", "mini.debug", "mini.symbols")
	x.Run("xz", "-f", "mini.symbols")
	x.Run("objcopy", "--strip-all", "--add-section=.gnu_debugdata=mini.symbols.xz", "plain", "mini")
	x.same("MiniDebugInfo, against the symbol table", "mini", companion.Search{}, want)
}
