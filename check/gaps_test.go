package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/mutant"
)

// TestGaps checks that large parts that are not verified or missing come first in a report, and
// count as findings unless they are allowed.
func TestGaps(t *testing.T) {
	const twin = "cxx-x86_64-gcc12-O2-dw5.elf"
	image := func(name string) *elfx.Image {
		return openTest(t, filepath.Join("..", "testdata", "elf", name), name)
	}
	sym := readTest(t, filepath.Join("testdata", "own", twin+".sym"))
	without := func(records string) []byte { return regexp.MustCompile(`(?m)^`+records+`.*\n`).ReplaceAll(sym, nil) }

	for _, test := range []struct {
		name      string
		img       *elfx.Image
		sym       []byte
		opt       Options
		want      []string // kind and check of each gap
		unallowed int
	}{
		{name: "all is verified", img: image(twin), sym: sym},
		{
			name: "no reader", img: image("cxx-x86_64-gcc12-O2-dw5-split.elf"), sym: sym, unallowed: 3,
			want: []string{"unverified functions", "unverified names", "unverified inlines"},
		},
		{
			name: "no reader, allowed", img: image("cxx-x86_64-gcc12-O2-dw5-split.elf"), sym: sym, opt: Options{Options: report.Options{Allow: []string{report.GapUnverified}}},
			want: []string{"unverified functions", "unverified names", "unverified inlines"},
		},
		{
			name: "a supplementary file that was not found", img: image("cxx-x86_64-gcc12-O2-dw5-dwz.elf"), sym: sym,
			want: []string{"incomplete names", "incomplete inlines"},
		},
		{name: "only the wanted checks", img: image("cxx-x86_64-gcc12-O2-dw5-dwz.elf"), sym: sym, opt: Options{Options: report.Options{Only: []string{checks.Names}}}, want: []string{"incomplete names"}},
		{name: "no lines", img: image(twin), sym: without(`[0-9a-f]+ [0-9a-f]+ [0-9]+ [0-9]+$`), want: []string{"loss lines"}, unallowed: 1},
		{name: "no lines, allowed", img: image(twin), sym: without(`[0-9a-f]+ [0-9a-f]+ [0-9]+ [0-9]+$`), opt: Options{Options: report.Options{Allow: report.Gaps()}}, want: []string{"loss lines"}},
		{name: "no inlined calls, as dump_syms writes without --inlines", img: image(twin), sym: without(`INLINE`)},
		{name: "every third rule is gone", img: image(twin), sym: without(`STACK CFI INIT [0-9a-f]+[048c] `), want: []string{"loss cfi"}, unallowed: 1},
		{name: "a limit", img: overlapping(t), sym: oneByteLines(), want: []string{"loss functions", "unverified lines"}, unallowed: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.opt.Names = []string{twin}
			rep := mustCheck(t, test.img, test.sym, test.opt)
			var got []string
			for _, g := range rep.Gaps {
				got = append(got, g.Kind+" "+g.Check)
			}
			if strings.Join(got, ", ") != strings.Join(test.want, ", ") || rep.Unallowed() != test.unallowed {
				t.Errorf("%q, %d of them findings; want %q, %d\n%s", got, rep.Unallowed(), test.want, test.unallowed, text(t, rep))
			}

			// The gaps come first, after the line that tells that the files are of two builds.
			first := ""
			if rep.OtherModule != "" {
				first = "file.sym: " + rep.OtherModule + "\n"
			}
			if len(got) > 0 && !strings.HasPrefix(text(t, rep), first+"file.sym: "+rep.Gaps[0].What) {
				t.Errorf("the gaps do not come first:\n%s", text(t, rep))
			}
		})
	}
}

// TestGapReasons: a gap has the reason of its kind, of which the page's headline makes use.
func TestGapReasons(t *testing.T) {
	sym := readTest(t, filepath.Join("testdata", "own", "cxx-x86_64-gcc12-O2-dw5.elf.sym"))
	for _, test := range []struct {
		file, check, why, headline string
	}{
		{"cxx-x86_64-gcc12-O2-dw5-split.elf", checks.Funcs, "units whose split DWARF file (.dwo, .dwp) was not found",
			`>16.7 % of the functions are not verified (units whose split DWARF file (.dwo, .dwp) was not found)</h1>`},
		{"cxx-x86_64-gcc12-O2-dw5-dwz.elf", checks.Names, dwzNotFound, ">What was verified of the symbol file is right</h1>"},
		{"", checks.Lines, "line programs that overlap with many others", ">The symbol file lacks "},
	} {
		img, text := overlapping(t), oneByteLines()
		if test.file != "" {
			img, text = openTest(t, filepath.Join("..", "testdata", "elf", test.file), test.file), sym
		}
		rep := mustCheck(t, img, text, Options{Options: report.Options{Only: []string{checks.Funcs, checks.Names, checks.Lines, checks.Inlines}}})
		why := ""
		for _, g := range rep.Gaps {
			if g.Check == test.check && g.Kind != report.GapLoss {
				why = g.Why
			}
		}
		if !strings.HasPrefix(why, test.why) {
			t.Errorf("%s: %q, want %q", test.file, why, test.why)
		}

		var page strings.Builder
		err := report.Write(&page, "html", "1", []report.Result{{File: "a.sym", Against: "a", Report: rep}})
		if err != nil || !strings.Contains(page.String(), test.headline) {
			t.Errorf("%s: the headline is %s: %v", test.file, regexp.MustCompile("<h1.*</h1>").FindString(page.String()), err)
		}
	}
}

// overlapping is a program whose line programs overlap so often that most are not read.
func overlapping(t *testing.T) *elfx.Image {
	return openData(t, mutant.Named("units whose line programs are the ends of one"), "bomb")
}

// oneByteLines has a function of a byte, with a line, at each byte of the bomb's code.
func oneByteLines() []byte {
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 0 bomb\nFILE 0 d/f\n")
	for i := range 64 {
		fmt.Fprintf(&b, "FUNC %x 1 0 f\n%[1]x 1 1 0\n", mutant.TextAddr+i)
	}
	return []byte(b.String())
}
