//go:build unix

package main

import (
	"testing"

	"symkit/internal/testfile"
)

// TestSwitching runs the lines of docs/switching.md.
func TestSwitching(t *testing.T) {
	library, err := fixture("cxx-x86_64-gcc12-O2-dw5.so")
	if err != nil {
		t.Fatal(err)
	}
	stripped, err := fixture("cxx-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"libapp.so": library, "libapp.so.debug": library, "debug/other.debug": stripped}
	for _, recipe := range testfile.Recipes(t, "../../docs/switching.md", "dump_syms") {
		testfile.RunRecipe(t, recipe, files, nil)
	}
}
