package batch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReport: a report of many records holds no more than the page has, and the page is that of all records, in
// whatever order they come.
func TestReport(t *testing.T) {
	const n = 12 * maxRows
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []Status{Written, Existing, Failed, Duplicate}
	record := func(i int) Record {
		r := Record{Status: statuses[i%4], Input: fmt.Sprintf("lib/%06d.so", i), Counts: &Counts{Funcs: i % 7}, SymbolBytes: int64(i)}
		if i%8 == 0 {
			r.Losses, r.Missing = i%5, i%3
			r.Seconds = &Seconds{Dump: float64(i % 1000)}
		}
		return r
	}
	var pages []string
	for range 2 {
		var p Report
		for _, i := range random.Perm(n) {
			p.Add(record(i))
		}
		for name, list := range map[string]first{"failed": p.failed, "lossy": p.lossy, "warned": p.warned, "skipped": p.skipped, "modules": p.modules} {
			if len(list.records) > 2*maxRows || cap(list.records) > 4*maxRows {
				t.Errorf("%s: %d records, of %d", name, len(list.records), list.all)
			}
		}
		var out strings.Builder
		if err := p.WritePage(&out, "dump_syms 1", "store"); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, out.String())
	}
	if pages[0] != pages[1] {
		t.Error("the page depends on the order of the records")
	}
	for _, want := range []string{"7,500 failed", "<dd>7,500</dd>", "lib/000224.so", "lib/029997.so"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
