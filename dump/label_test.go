package dump

import (
	"slices"
	"strings"
	"testing"
)

// TestLabels: functions with assembler labels have their own names, inlined ones that share a
// label too; a plain name that is mangled, as Nim's are, is demangled.
func TestLabels(t *testing.T) {
	for _, name := range []string{"label-x86_64-gcc12-O2-dw5.elf", "label-x86_64-clang14-O2-dw5.elf"} {
		_, text := dumpText(t, fixture(t, name), Options{Inlines: true})
		var got []string
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			switch f[0] {
			case "INLINE_ORIGIN":
				got = append(got, f[0]+" "+f[2])
			case "FUNC":
				got = append(got, f[0]+" "+f[4])
			}
		}
		slices.Sort(got)
		want := []string{
			"FUNC other", "FUNC run", "FUNC shop::double(int)", "FUNC three",
			"INLINE_ORIGIN one", "INLINE_ORIGIN three", "INLINE_ORIGIN two",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
