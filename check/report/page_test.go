package report

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"symkit/check/internal/checks"
)

// TestRuns: runs are distances and lengths from a base; what is below the base is left out.
func TestRuns(t *testing.T) {
	ranges := []Range{{5, 8}, {10, 20}, {25, 30}}
	if got, want := encodeRuns(ranges, 12), []uint64{0, 8, 5, 5}; !reflect.DeepEqual(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	if got, want := encodeRuns(ranges, 0), []uint64{5, 3, 2, 10, 5, 5}; !reflect.DeepEqual(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

// TestCoarse: too many ranges are joined across the smallest gaps.
func TestCoarse(t *testing.T) {
	var many []Range
	for i := range uint64(2 * maxRuns) {
		lo := 10*i + i%2*4 // gaps of 6 and 2 bytes after ranges of 4
		many = append(many, Range{lo, lo + 4})
	}
	if got, grain := coarse(many[:maxRuns]); len(got) != maxRuns || grain != 0 {
		t.Errorf("%d ranges, grain %d", len(got), grain)
	}
	got, grain := coarse(many)
	if len(got) > maxRuns || grain == 0 || got[0].Lo != many[0].Lo || got[len(got)-1].Hi != many[len(many)-1].Hi {
		t.Errorf("%d ranges, grain %d", len(got), grain)
	}
}

// TestShades: a strip of code of which the first half and the last quarter are covered.
func TestShades(t *testing.T) {
	code := []Range{{0x1000, 0x1400}, {0x9000, 0x9400}}
	got := shades(code, []Range{{0x1000, 0x1400}, {0x9200, 0x9400}}, 7)
	want := []shadeView{{0, "M500 7h250v20h-250z"}, {4, "M0 7h500v20h-500zM750 7h250v20h-250z"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := shades(nil, nil, 0); got != nil {
		t.Errorf("no code: %v", got)
	}
}

// TestBar: small parts are visible, and the parts do not overlap.
func TestBar(t *testing.T) {
	v := bar(&Check{Compared: 1_000_000, Wrong: 1, Missing: 500_000}, 0)
	if v.WrongBar != 4 || v.LostBar != 500 || v.OpenBar != 0 || v.RightBar != 496 || v.WrongAt != 496 || v.LostAt != 500 {
		t.Errorf("%+v", v)
	}
}

// TestParts: holes are counted for the file and unit of a function.
func TestParts(t *testing.T) {
	m := &Map{Code: []Range{{0, 100}}, Files: []string{"a.c", "b.c"}, Units: []string{"u"},
		Functions: []Function{{Range: Range{0, 10}, Name: "f", File: 0, Unit: 0}, {Range: Range{20, 40}, Name: "g", File: 1, Unit: 0}, {Range: Range{50, 60}, Name: "lost", Missing: true, File: -1, Unit: 0}},
		Covered:   []Covered{{"functions", []Range{{0, 10}, {20, 40}}}, {"lines", []Range{{0, 10}, {20, 25}}}, {"inlines", nil}, {"cfi", []Range{{0, 40}}}}}
	v, data := newMap(m, nil)
	if want := []partView{{"b.c", 1, 20, 15, 0, 0}}; !reflect.DeepEqual(v.Tables[0].Parts, want) {
		t.Errorf("files %v, want %v", v.Tables[0].Parts, want)
	}
	if want := []partView{{"u", 3, 40, 25, 10, 10}}; !reflect.DeepEqual(v.Tables[1].Parts, want) {
		t.Errorf("units %v, want %v", v.Tables[1].Parts, want)
	}
	if want := []holeView{{Range{40, 100}, 60, "g"}, {Range{10, 20}, 10, "f"}}; !reflect.DeepEqual(v.Holes, want) {
		t.Errorf("holes %v, want %v", v.Holes, want)
	}
	if want := (dataFuncs{Addr: []int64{0, 20, 30}, Size: []uint64{10, 20, 10}, Name: []string{"f", "g", "lost"}, File: []int{0, 1, -1}, Unit: []int{0, 0, 0},
		Wrong: []uint64{0, 0, 0}, Lost: []uint64{0, 0, 0}, None: []int{2}}); !reflect.DeepEqual(data.Funcs, want) {
		t.Errorf("%v, want %v", data.Funcs, want)
	}
}

// TestPageResults: several results are one page, each with a headline.
func TestPageResults(t *testing.T) {
	var out strings.Builder
	bad := &Report{Checks: []Check{{Name: checks.Grammar, State: Checked, Findings: 3}}, Findings: []Finding{{Check: checks.Grammar, Line: 3, Record: "<b>", What: "wrong"}}}
	err := Write(&out, "html", "1", []Result{{File: "a.sym", Report: &Report{}}, {File: "b.sym", Report: bad}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The symbol file is well formed", "3 findings", "&lt;b&gt;", `id="f1-grammar"`, "2 more findings", "2 symbol files"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestPageCause: the page leads with what the findings follow from, whatever kinds of gaps there are.
func TestPageCause(t *testing.T) {
	lines := func(n uint64) []Check { return []Check{{Name: checks.Lines, State: Checked, Findings: n}} }
	loss := Gap{Kind: GapLoss, Check: checks.Funcs, Units: 2, All: 5, What: "the loss"}
	split := Gap{Kind: GapUnverified, Check: checks.Funcs, Units: 1, All: 3, What: "the split unit", Why: "a.dwo was not found"}
	limit := Gap{Kind: GapUnverified, Check: checks.Lines, Units: 1, All: 2, What: "the limit"}
	names := Gap{Kind: GapIncomplete, Check: checks.Names, Units: 1, All: 9, Allowed: true, What: "the names", Why: "no second reader"}
	allowed := func(g Gap) Gap { g.Allowed = true; return g }
	for _, c := range []struct {
		report Report
		want   string
		class  string
		order  []string // of the gaps
	}{
		{Report{OtherModule: "of another build", Checks: lines(3000), Gaps: []Gap{loss}}, "The files are not of the same module: 3,000 findings", "bad", nil},
		{Report{NoDebugInfo: "a has none", Checks: []Check{{Name: checks.Funcs, State: NotInELF}}}, "The ELF file has no debug information: no findings in the rest", "warn", nil},
		{Report{NoDebugInfo: "a has none", Checks: []Check{{Name: checks.CFI, Findings: 1}}}, "The ELF file has no debug information: 1 finding in the rest", "bad", nil},
		{Report{Checks: lines(2)}, "2 findings", "bad", nil},
		{Report{Checks: lines(2), Gaps: []Gap{names}}, "2 findings", "bad", nil},
		{Report{Checks: lines(3000), Gaps: []Gap{names, limit, loss}}, "The symbol file lacks 40.0 % of the functions: 3,000 findings", "bad", []string{"the loss", "the limit", "the names"}},
		{Report{Gaps: []Gap{{Kind: GapLoss, Check: checks.Lines, Units: 7, All: 7}}}, "The symbol file has no lines", "bad", nil},
		{Report{Gaps: []Gap{names, split, limit}}, "33.3 % of the functions are not verified (a.dwo was not found)", "bad", []string{"the split unit", "the limit", "the names"}},
		{Report{Gaps: []Gap{limit}, Checks: lines(1)}, "1 finding; 50.0 % of the lines are not verified", "bad", nil},
		{Report{Gaps: []Gap{names}}, "What was verified of the symbol file is right", "warn", nil},
		{Report{Gaps: []Gap{allowed(loss), allowed(split)}}, "What was verified of the symbol file is right", "warn", nil},
		{Report{Checks: []Check{{Name: checks.Lines, State: NotInELF}}}, "The symbol file is right", "good", nil},
	} {
		var out strings.Builder
		if err := Write(&out, "html", "1", []Result{{File: "a.sym", Against: "a", Report: &c.report}}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if !strings.Contains(text, `<h1 class="`+c.class+`">`+c.want+"</h1>") {
			t.Errorf("the page lacks the headline %q:\n%s", c.want, regexp.MustCompile("<h1.*</h1>").FindString(text))
		}
		_, rest, _ := strings.Cut(text, "</h1>")
		for _, gap := range c.order {
			found := false
			_, rest, found = strings.Cut(rest, gap)
			if !found {
				t.Errorf("%s: %q is not at its place", c.want, gap)
			}
		}
	}
}
