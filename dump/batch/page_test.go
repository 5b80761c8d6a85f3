package batch

import (
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

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0: "0 ms", 0.0123: "12 ms", 1.26: "1.3 s", 123.4: "123 s"} {
		if got := seconds(s); got != want {
			t.Errorf("%g: %s, want %s", s, got, want)
		}
	}
}
