package gosym

import "testing"

// readAll is what a dumper does with a table.
func readAll(tab *Table, in *Inlines) (rows int) {
	for f, err := range tab.Funcs() {
		if err != nil {
			continue
		}
		for _, err := range tab.Lines(f) {
			if err == nil {
				rows++
			}
		}
		if tab.Inlines(f, in) == nil {
			rows += len(in.Ranges)
		}
	}
	return rows
}

// TestAllocs: reading functions, rows and calls allocates nothing, once the
// buffer for calls has its size.
func TestAllocs(t *testing.T) {
	a := sample(Go120, false, 8, 1)
	data, im := a.build()
	tab, err := Open(".gopclntab", data, a.addr, im)
	if err != nil {
		t.Fatal(err)
	}
	var in Inlines
	if n := testing.AllocsPerRun(100, func() { readAll(tab, &in) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTable(b *testing.B) {
	f := openFile(b, build(b, "go", nil))
	var in Inlines
	rows := 0
	b.SetBytes(int64(len(f.pclntab)))
	for b.Loop() {
		rows = readAll(f.table(b), &in)
	}
	b.ReportMetric(float64(rows), "rows")
}
