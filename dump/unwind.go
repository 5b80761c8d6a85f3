package dump

import (
	"fmt"
	"iter"

	"symkit/emit"
	"symkit/internal/mem"
)

// UnwindRow is the rules for finding the caller of a frame whose PC is in a range of
// code.
type UnwindRow struct {
	Addr, Size uint64 // module-relative, in bytes
	// Rules are all rules in force, `.cfa` and `.ra` among them, as in STACK CFI records
	// (docs/format.md). They are valid until the next row.
	Rules []emit.Rule
}

// unwindHead is the head that the strict reader requires before unwind rules.
const unwindHead = "MODULE Linux x86_64 0 0\n"

// UnwindRows yields the rows by the entries of the unwind tables: the rows of one entry
// ascend. Code without rules, or with rules that STACK CFI cannot express, has no row.
// Like Write, it needs the files that m was made of; that they were truncated meanwhile
// is an error, the last value. It must not be called at the same time as Write.
func (m *Module) UnwindRows() iter.Seq2[UnwindRow, error] {
	return func(yield func(UnwindRow, error) bool) {
		if m.records.Unwind == nil {
			return
		}
		var text []byte
		var rules []emit.Rule
		for run := range m.records.Unwind.Runs() {
			err := mem.Guard(func() error {
				text = m.records.Unwind.Append(append(text[:0], unwindHead...), run)
				return nil
			})
			if err != nil {
				yield(UnwindRow{}, fmt.Errorf("%s: %w", m.img.Main.Path(), err))
				return
			}
			var more bool
			rules, more = yieldRows(text, rules, yield)
			if !more {
				return
			}
		}
	}
}

// yieldRows yields the rows of the STACK CFI records in text, and reports whether yield
// always returned true. rules is a buffer, which yieldRows returns for the next call.
func yieldRows(text []byte, rules []emit.Rule, yield func(UnwindRow, error) bool) ([]emit.Rule, bool) {
	// A row ends where the next record begins, so a record is yielded one record later.
	var row UnwindRow
	end, pending := uint64(0), false
	flush := func(to uint64) bool {
		row.Size, row.Rules = to-row.Addr, rules
		return !pending || row.Size == 0 || yield(row, nil)
	}
	for rec := range emit.NewReader(text).Records() {
		switch rec := rec.(type) {
		case *emit.StackCFIInit:
			if !flush(end) {
				return rules, false
			}
			row.Addr, end, pending = rec.Addr, rec.Addr+uint64(rec.Size), true
			rules, _ = emit.MergeRules(rules[:0], rec.Rules)
		case *emit.StackCFI:
			if !flush(rec.Addr) {
				return rules, false
			}
			row.Addr = rec.Addr
			rules, _ = emit.MergeRules(rules, rec.Rules)
		}
	}
	return rules, flush(end)
}
