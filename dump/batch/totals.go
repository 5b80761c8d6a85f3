package batch

// row is a module in the table.
type row struct{ *Record }

// Time returns the seconds of all stages.
func (r row) Time() float64 {
	if r.Seconds == nil {
		return 0
	}
	return r.Seconds.Dump + r.Seconds.Write + r.Seconds.Check
}

// Count returns the numbers of records.
func (r row) Count() Counts {
	if r.Counts == nil {
		return Counts{}
	}
	return *r.Counts
}

// Empty reports whether the module was dumped and has no function.
func (r row) Empty() bool { return r.Status == Written && r.Counts != nil && r.Counts.Funcs == 0 }

// totals are the sums of all records.
type totals struct {
	of                     map[Status]int
	input, symbols, stored int64
	time                   float64
	losses, missing        int
	findings               uint64
	counted, empty         int // written modules whose records were counted, and those without functions
}

// add adds a record.
func (t *totals) add(r *Record) {
	if t.of == nil {
		t.of = map[Status]int{}
	}
	t.of[r.Status]++
	t.losses, t.missing, t.findings = t.losses+r.Losses, t.missing+r.Missing, t.findings+r.Findings
	if r.Status == Written {
		t.input, t.symbols, t.stored = t.input+r.InputBytes, t.symbols+r.SymbolBytes, t.stored+r.StoredBytes
	}
	if r.Status == Written && r.Counts != nil {
		t.counted++
	}
	if (row{r}).Empty() {
		t.empty++
	}
	t.time += row{r}.Time()
}

// Limits of a page.
const (
	maxRows   = 2500 // of the table, and of each list
	maxHead   = 10   // of each list
	maxBars   = 10
	sheetRows = 100
)
