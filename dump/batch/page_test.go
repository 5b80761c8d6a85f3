package batch

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestPage: the page has every record, whatever their order.
func TestPage(t *testing.T) {
	records := []Record{
		{Status: Written, Input: "b/libb.so", Name: "libb.so", ID: "2", InputBytes: 2000, SymbolBytes: 100, Seconds: &Seconds{Dump: 1, Write: 0.5}, Counts: &Counts{Funcs: 1234}, Losses: 2, First: []string{"damage here"}},
		{Status: Written, Input: "a/app<script>", Name: "app", ID: "1", InputBytes: 1000, SymbolBytes: 50, Missing: 1, Warnings: []string{"no debug file"}},
		{Status: Existing, Input: "c", Name: "c"},
		{Status: Duplicate, Input: "d", Of: "c"},
		{Status: NoModule, Input: "e", Error: "a text"},
		{Status: Failed, Input: "f", Error: "f: truncated"},
		{Status: Before, Input: "g.deb"},
	}
	page := func(records []Record) string {
		var out strings.Builder
		if err := WritePage(&out, "dump_syms 1", "store", records); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := page(records)
	for _, want := range []string{"2 modules written, 1 failed", "<p>truncated</p>", "dumped before", "1,234", "1.5 s", "damage here", "no debug file", "like c", "a text", "a/app&lt;script&gt;", "was there", "3 kB", "150 bytes"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}

	for i, j := 0, len(records)-1; i < j; i, j = i+1, j-1 {
		records[i], records[j] = records[j], records[i]
	}
	if page(records) != text {
		t.Error("the page depends on the order of the records")
	}
}

// TestPageMany: of many modules the worst are on the page and come first, whatever their paths; the
// table is in sheets that plain links lead to, and the headline has the share without functions.
func TestPageMany(t *testing.T) {
	var records []Record
	for i := range 3017 {
		r := Record{Status: Written, Input: fmt.Sprintf("lib/%04d.so", i), Name: fmt.Sprintf("m%04d.so", i), ID: fmt.Sprint(i), Counts: &Counts{Funcs: 7}, SymbolBytes: 1}
		switch {
		case i >= 3000:
			r.Counts = &Counts{Publics: 3}
		case i == 2999:
			r.Findings = 1
		case i >= 2990:
			r.Losses = i
		case i == 2989:
			r.Missing = 1
		case i == 2988:
			r.SymbolBytes, r.Seconds = 5e12, &Seconds{Dump: 7300}
		}
		records = append(records, r)
	}
	for i := range 40 {
		records = append(records, Record{Status: Failed, Input: fmt.Sprintf("bad/%d", i), Error: "truncated"})
	}
	var out strings.Builder
	if err := WritePage(&out, "dump_syms 1", "store", records); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{`<h1 class="bad">0.6 % of 3,017 written modules without functions, 40 failed</h1>`, "17 modules have public symbols at most",
		"<dd>17</dd>", "517 modules are not on this page", "Modules 2,401 to 2,500 of 3,017", "30 more files that failed", "5 TB", "2 h 1 min",
		`<a href="#rows-25">25</a>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "rows-26") {
		t.Error("more sheets than rows")
	}

	// The order of the rows, in all sheets.
	var got []string
	for _, m := range regexp.MustCompile(`<tr data-row[^>]*><td>m(\d+)`).FindAllStringSubmatch(text, -1) {
		got = append(got, m[1])
	}
	if len(got) != maxRows || strings.Count(text, `class="sheet"`) != maxRows/sheetRows {
		t.Fatalf("%d rows", len(got))
	}
	for i, want := range map[int]string{0: "3000", 16: "3016", 17: "2999", 18: "2998", 26: "2990", 27: "2989", 28: "0000"} {
		if got[i] != want {
			t.Errorf("row %d is of %s, want %s", i, got[i], want)
		}
	}
}

// TestPageFull: a page of whole modules says that, and a short table has one sheet without links.
func TestPageFull(t *testing.T) {
	var out strings.Builder
	err := WritePage(&out, "dump_syms 1", "store", []Record{{Status: Written, Input: "a", Counts: &Counts{Funcs: 1}}, {Status: Existing, Input: "b"}})
	if text := out.String(); err != nil || !strings.Contains(text, `<h1 class="good">1 module written, all with functions</h1>`) || strings.Contains(text, "<nav") {
		t.Errorf("%v: %s", err, regexp.MustCompile("<h1.*</h1>").FindString(text))
	}
}
