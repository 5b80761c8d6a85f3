package check

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// TestDefects checks that each class of defect in symbol files of other tools is found under its
// own check, and that nothing else is found.
func TestDefects(t *testing.T) {
	for _, test := range []struct {
		elf, sym string
		findings map[string]uint64
		wants    []string // in the text of the findings
	}{
		{
			// DWARF 4: right, but for the PLT and the end of the stack.
			"g4", "g4.breakpad.sym",
			map[string]uint64{checks.CFI: 2},
			[]string{
				"[0x1270, 0x1292): the table says that the return address is undefined",
				"[0x1030, 0x10c0): the table says CFA = a DWARF expression",
			},
		},
		{
			// DWARF 5: functions with range lists are missing.
			"g5", "g5.breakpad.sym",
			map[string]uint64{checks.Funcs: 4, checks.CFI: 2},
			[]string{"no FUNC at 0x1400: cold(int)", "2 functions of 10 have no FUNC: 206 bytes, 33.0 %"},
		},
		{
			// A realigned stack: expressions are left out, old rules stay.
			"drap", "drap.breakpad.sym",
			map[string]uint64{checks.CFI: 7},
			[]string{
				"[0x11a1, 0x11a5): the table says $rbp = the word at a DWARF expression",
				"[0x11a5, 0x11ad): the table says CFA = a DWARF expression",
			},
		},
		{
			"nest", "nest.breakpad.sym",
			map[string]uint64{checks.Funcs: 2, checks.CFI: 2},
			[]string{"no FUNC at 0x1150: outer::inner2, 44 bytes", "no FUNC at 0x1180: outer::inner, 43 bytes"},
		},
		{
			// An uninitialised offset in every INIT, a return address in terms of
			// itself, and the name of the 32-bit machine.
			"rv64", "rv64.breakpad.sym",
			map[string]uint64{checks.Module: 1, checks.Rules: 3, checks.CFI: 25},
			[]string{"the architecture is riscv64", `rule ".ra": unknown register or token`, "the table says CFA = sp+0"},
		},
		{
			// Lines of main lost after a discarded sequence.
			"tomb", "tomb.mozilla-inlines.sym",
			map[string]uint64{checks.Rules: 1, checks.Lines: 19},
			[]string{"no line record for [0x1040, 0x1041): the line table says /src/tomb/b.cc:16"},
		},
		{
			"tomb", "tomb.breakpad.sym",
			map[string]uint64{checks.CFI: 1},
			[]string{"[0x10a0, 0x10c2): the table says that the return address is undefined"},
		},
	} {
		t.Run(test.sym, func(t *testing.T) {
			img := openTest(t, filepath.Join("testdata", "defects", test.elf+".elf"), test.elf)
			rep := mustCheck(t, img, readTest(t, filepath.Join("testdata", "defects", test.sym)), Options{Options: report.Options{Limit: 100}})
			out := text(t, rep)
			if diff := cmp.Diff(test.findings, counts(rep)); diff != "" {
				t.Errorf("findings (-want +got):\n%s%s", diff, out)
			}
			for _, want := range test.wants {
				if !strings.Contains(out, want) {
					t.Errorf("not reported: %s\n%s", want, out)
				}
			}
		})
	}
}

// TestOwn checks that symkit's own output is right, and that everything in it was compared.
func TestOwn(t *testing.T) {
	for _, name := range []string{
		"lang-x86_64-gcc12-O2-dw5.elf", "cxx-x86_64-gcc12-O2-dw5.elf", "lang-s390x-gcc12-O2-dw5.elf",
	} {
		t.Run(name, func(t *testing.T) {
			img, sym := own(t, name)
			rep := mustCheck(t, img, sym, Options{})
			if rep.Total() > 0 {
				t.Error(text(t, rep))
			}
			for _, check := range []string{checks.Module, checks.Funcs, checks.Names, checks.Code, checks.Lines, checks.Inlines, checks.Publics, checks.CFI} {
				if k := rep.Check(check); k == nil || k.State != report.Checked || k.Compared == 0 || k.Unverified > 0 {
					t.Errorf("%s: %+v", check, k)
				}
			}
			for _, c := range rep.Coverage {
				if c.Covered == 0 || c.Covered > c.Code {
					t.Errorf("coverage: %+v", c)
				}
			}
		})
	}
}

// TestJobs checks that the report does not depend on the number of goroutines.
func TestJobs(t *testing.T) {
	img := openTest(t, filepath.Join("testdata", "defects", "g5.elf"), "g5")
	sym := readTest(t, filepath.Join("testdata", "defects", "g5.breakpad.sym"))
	one := text(t, mustCheck(t, img, sym, Options{Options: report.Options{Limit: 2}, Jobs: 1}))
	for range 5 {
		if many := text(t, mustCheck(t, img, sym, Options{Options: report.Options{Limit: 2}, Jobs: 7})); many != one {
			t.Fatalf("with 7 goroutines:\n%s\nwith one:\n%s", many, one)
		}
	}
}

// TestOtherProgram checks a symbol file of another program.
func TestOtherProgram(t *testing.T) {
	img := openTest(t, filepath.Join("testdata", "defects", "nest.elf"), "nest")
	rep := mustCheck(t, img, readTest(t, filepath.Join("testdata", "defects", "drap.breakpad.sym")), Options{})
	for _, check := range []string{checks.Module, checks.Funcs, checks.Publics, checks.CFI} {
		if rep.Check(check).Findings == 0 {
			t.Errorf("nothing wrong with %s:\n%s", check, text(t, rep))
		}
	}

	// The first line says why. The same name is another build.
	id := strings.Fields(string(readTest(t, filepath.Join("testdata", "defects", "nest.breakpad.sym"))))[3]
	first, _, _ := strings.Cut(text(t, rep), "\n")
	for _, want := range []string{"the symbol file is of another module", "it is of drap ", "the ELF file is nest " + id} {
		if !strings.Contains(first, want) {
			t.Errorf("first line %q, want %q", first, want)
		}
	}
	rep = mustCheck(t, img, bytes.Replace(readTest(t, filepath.Join("testdata", "defects", "nest.breakpad.sym")), []byte(id), []byte(strings.Repeat("0", len(id))), 1), Options{})
	if !strings.Contains(rep.OtherModule, "of another build") {
		t.Errorf("another id: %q", rep.OtherModule)
	}
	rep = mustCheck(t, img, readTest(t, filepath.Join("testdata", "defects", "nest.breakpad.sym")), Options{})
	if rep.OtherModule != "" {
		t.Errorf("the same module: %q", rep.OtherModule)
	}
}
