package dump

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTypeUnits: hundreds of type units name the line program of their unit, and a function
// that no DIE describes needs the rows of all programs. The symbol file is the same as without
// type units.
func TestTypeUnits(t *testing.T) {
	symbols := func(fixtureName string) (*Module, string) {
		m, text := dumpText(t, fixture(t, fixtureName), Options{Inlines: true, ID: "0", Name: "types"})
		_, records, _ := bytes.Cut(text, []byte("\nFILE ")) // what is before has the build id
		return m, string(records)
	}
	plain, want := symbols("types-x86_64-gcc12-O2-dw5.elf.xz")
	typed, got := symbols("types-x86_64-gcc12-O2-dw5-types.elf.xz")

	if typed.Stats.Units < 250 || typed.Stats.LossCount > 0 {
		t.Errorf("%d units, losses: %v", typed.Stats.Units, typed.Stats.Losses)
	}
	if plain.Stats.Lines < 2500 || plain.Stats.Inlines < 250 {
		t.Errorf("without type units: %d lines, %d inlined calls", plain.Stats.Lines, plain.Stats.Inlines)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other records with type units:\n%.2000s", diff)
	}
}
