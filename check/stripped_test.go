package check

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
)

// TestNoDebugInfo: the first line for a stripped file says that it has nothing to compare
// functions with. A file with debug information has no such line.
func TestNoDebugInfo(t *testing.T) {
	img, sym := openTest(t, "../testdata/mips16/stripped.so.xz", "stripped.so"), readTest(t, "../testdata/mips16/stripped.so.sym")
	rep := mustCheck(t, img, sym, Options{})
	first, _, _ := strings.Cut(text(t, rep), "\n")
	if !strings.HasPrefix(first, "file.sym: ") || !strings.Contains(first, "stripped.so has no debug information: functions, lines") {
		t.Errorf("first line %q", first)
	}

	img, sym = openTest(t, "../testdata/mips16/micromips.so.xz", "micromips.so"), readTest(t, "../testdata/mips16/micromips.so.sym")
	rep = mustCheck(t, img, sym, Options{})
	if rep.NoDebugInfo != "" {
		t.Errorf("with debug information: %q", rep.NoDebugInfo)
	}
}

// TestStrippedPublics: a file without .symtab has nothing to compare the PUBLIC records of functions with
// that are not exported. Exported names, and those of stubs, are compared.
func TestStrippedPublics(t *testing.T) {
	whole := readTest(t, "../testdata/elf/cxx-x86_64-gcc12-O2-dw5.so")
	f, err := elfx.NewFile("whole.so", whole)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for f.Sections[at].Type != elf.SHT_SYMTAB {
		at++
	}
	stripped := bytes.Clone(whole)
	headers := binary.LittleEndian.Uint64(whole[0x28:])
	binary.LittleEndian.PutUint32(stripped[headers+uint64(at)*64+4:], uint32(elf.SHT_PROGBITS))
	stripped = bytes.Replace(stripped, []byte("\x00.symtab\x00"), []byte("\x00.xymtab\x00"), 1)

	// _ZN4shop3payEii is exported, its cold part is not. The PLT's slot at 0x1020 is that of shop::report.
	for _, c := range []struct {
		public          string
		wrong, unlisted uint64 // unlisted are not verified without .symtab
	}{
		{"1200 0 shop::pay(int, int)", 0, 0},
		{"1200 0 shop::play(int, int)", 1, 0},
		{"1108 0 shop::pay(int, int) [clone .cold]", 0, 1},
		{"1020 0 shop::report(int)@plt", 0, 0},
		{"1024 0 shop::report(int)@plt", 1, 0},
		{"4 0 header", 1, 0},
	} {
		sym := []byte("MODULE Linux x86_64 0 whole.so\nPUBLIC " + c.public + "\n")
		for _, data := range [][]byte{whole, stripped} {
			rep := mustCheck(t, openData(t, data, "whole.so"), sym, Options{Options: report.Options{Only: []string{checks.Publics}}})
			unlisted := c.unlisted
			if &data[0] == &whole[0] {
				unlisted = 0
			}
			got := rep.Checks[0]
			if got.Wrong != c.wrong || got.Unverified != unlisted {
				t.Errorf("%s: %+v, want %d wrong and %d not verified\n%s", c.public, got, c.wrong, unlisted, text(t, rep))
			}
		}
	}
}

// TestCopyOfDotted: the PUBLIC of a copy has the name without the suffix, where the name itself has a dot, too.
func TestCopyOfDotted(t *testing.T) {
	whole := readTest(t, "../testdata/elf/cxx-x86_64-gcc12-O2-dw5.so")
	data := bytes.ReplaceAll(whole, []byte("\x00_ZN4shop3payEii\x00"), []byte("\x00a.cc.lto_priv.0\x00"))
	for name, wrong := range map[string]uint64{"a.cc": 0, "a.cc.lto_priv.0": 0, "b.cc": 1, "cc": 1} {
		sym := []byte("MODULE Linux x86_64 0 whole.so\nPUBLIC 1200 0 " + name + "\n")
		rep := mustCheck(t, openData(t, data, "whole.so"), sym, Options{Options: report.Options{Only: []string{checks.Publics}}})
		if rep.Checks[0].Wrong != wrong {
			t.Errorf("%s: %s", name, text(t, rep))
		}
	}
}
