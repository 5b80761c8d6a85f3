package linter

import (
	"symkit/cfi"
	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/pcs"
	"symkit/check/internal/symfile"
)

// linter is one run of Run.
type linter struct {
	c    *collect.Outcome
	s    *symfile.File
	arch *cfi.Arch // nil if unknown
	own  bool      // symkit wrote the file

	lines ordering // of the lines of each FUNC

	// Memory for inlines.
	unsorted, levels []levelRange
	keys             pcs.Levels
}

// wrong adds a finding about a line of the file.
func (l *linter) wrong(check string, line uint32, addr uint64, format string, args ...any) {
	l.c.Wrong(collect.At(check, line, addr, format, args...), 1)
}

// empty reports a record without a size, which Breakpad and rust-minidump drop.
func (l *linter) empty(at uint32, addr, size uint64) {
	if size == 0 {
		l.wrong(checks.Consumers, at, addr, "a size of 0: consumers drop it")
	}
}

// overlaps calls f for every record that begins below the end of an earlier record. open is the
// earlier record with the highest end. The records are in order of address.
func overlaps[T any, P pcs.Ranged[T]](list []T, f func(open, record P)) {
	var open P
	for i := range list {
		record := P(&list[i])
		if open != nil && record.PCs().Lo < open.PCs().Hi {
			f(open, record)
		}

		if open == nil || record.PCs().Hi > open.PCs().Hi {
			open = record
		}
	}
}
