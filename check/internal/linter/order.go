package linter

import (
	"fmt"

	"symkit/check/internal/checks"
	"symkit/check/report"
)

// Consumers accept records in any order, but dumpers write them in one order: a record that breaks
// the order was moved, or its address or number is wrong. A class of records counts as ordered if
// only a small share of its records breaks the order.
const (
	minOrdered   = 8  // a class with fewer records is not judged
	maxUnordered = 50 // one record in so many, and at least one, may break the order
)

// ordering collects the records of one class that break the order.
type ordering struct {
	records, broken uint64
	last            uint64
	kept            []report.Finding
}

// add checks the next record. first states that a new order begins: a line of another FUNC.
func (o *ordering) add(at uint32, value uint64, first bool, what string) {
	o.records++
	if !first && value < o.last {
		o.broken++
		if len(o.kept) < maxUnorderedKept {
			o.kept = append(o.kept, report.Finding{
				Check: checks.Order, Line: int(at),
				What: fmt.Sprintf("out of order: the %s before is higher, and %s records are in order otherwise", what, what),
			})
		}
	}
	o.last = value
}

// maxUnorderedKept bounds the findings kept of a class.
const maxUnorderedKept = 1 << 12

// order checks that FILE and INLINE_ORIGIN are in order of numbers, FUNC and PUBLIC in order of
// addresses, and the lines of each FUNC in order of addresses. In symkit's own files CheckCanonical
// checks the order.
func (l *linter) order() {
	c, s := l.c, l.s
	if l.own {
		return
	}
	c.Begin(checks.Order, "records")

	var files, origins, funcs, publics ordering
	for i := range s.Files.List {
		files.add(s.Files.List[i].At, uint64(s.Files.List[i].Num), i == 0, "FILE")
	}
	for i := range s.Origins.List {
		origins.add(s.Origins.List[i].At, uint64(s.Origins.List[i].Num), i == 0, "INLINE_ORIGIN")
	}
	for i := range s.Funcs {
		f := &s.Funcs[i]
		funcs.add(f.Line, f.Addr, i == 0, "FUNC")
	}
	for i := range s.Publics {
		publics.add(s.Publics[i].At, s.Publics[i].Addr, i == 0, "PUBLIC")
	}

	// Findings of a class count only if the class is in order otherwise.
	for _, o := range []*ordering{&files, &origins, &funcs, &l.lines, &publics} {
		c.Compared(checks.Order, o.records)
		if o.records < minOrdered || o.broken > max(1, o.records/maxUnordered) {
			continue
		}
		for _, f := range o.kept {
			c.Wrong(f, 1)
		}
	}
}
