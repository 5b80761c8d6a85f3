//go:build unix

package main

import (
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestSwitching runs the lines of docs/switching.md.
func TestSwitching(t *testing.T) {
	library := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.so")
	stripped := programtest.Fixture(t, "cxx-x86_64-gcc12-O2-dw5.elf")
	files := map[string][]byte{"libapp.so": library, "libapp.so.debug": library, "debug/other.debug": stripped}
	for _, recipe := range testfile.Recipes(t, "../../docs/switching.md", "dump_syms") {
		testfile.RunRecipe(t, recipe, files, nil)
	}
}
