package sframe

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"symkit/cfi"
	"symkit/internal/limitof"
	"symkit/limits"
	"symkit/located"
)

// FuzzSection: whatever the bytes, errors lie inside the section, rows are in
// order inside their FDE and agree with Find, the text can be made, and work is
// bounded by what the FDEs stand for.
func FuzzSection(f *testing.F) {
	for _, fixture := range fixtures(f) {
		f.Add(fixture.data, fixture.opts.Addr, fixture.opts.Relocatable)
	}
	for _, text := range handMade {
		f.Add(assemble(f, text), uint64(0x4000), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, addr uint64, rel bool) {
		s, err := Parse(data, Options{Addr: addr, Relocatable: rel})
		checkPlace(t, err, len(data))
		if len(s.Damage) > len(s.Chunks)+1 {
			t.Fatalf("%d damaged headers, %d chunks", len(s.Damage), len(s.Chunks))
		}
		end := 0
		for i := range s.Chunks {
			c := &s.Chunks[i]
			if c.Offset < end || c.end > len(data) || len(c.aux()) != int(c.AuxLen) {
				t.Fatalf("chunk at %#x, before it %#x", c.Offset, end)
			}
			end = c.end
			if len(data) < 1<<12 {
				c.appendText(nil, ".sframe")
			}
		}
		rows := 0
		for fde, err := range s.FDEs() {
			checkPlace(t, err, len(data))
			if err == nil {
				rows += fuzzRows(t, fde, len(data))
			}
		}
		if limit := (limits.Limits{}).Int(limitof.MaskRows) + (limits.Limits{}).Int(limitof.SFrameSharing)*len(data); rows > limit {
			t.Fatalf("%d rows, limit %d", rows, limit)
		}
		x, errs := NewIndex(s)
		for _, err := range errs {
			checkPlace(t, err, len(data))
		}
		for _, e := range x.entries {
			if f, ok := x.Find(e.start); e.start != e.end && (!ok || f.Start != e.start) {
				t.Fatalf("Find(%#x) = %#x, %v", e.start, f.Start, ok)
			}
		}
	})
}

func checkPlace(t *testing.T, err error, size int) {
	t.Helper()
	var e *located.Error
	if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > size) {
		t.Fatalf("error without a place: %v", err)
	}
}

// rowStrings renders up to limit rows, and the error.
func rowStrings(f *FDE, limit int) (out []string) {
	for row, err := range f.Rows() {
		if err != nil {
			return append(out, err.Error())
		}
		if out = append(out, fmt.Sprint(*row)); len(out) == limit {
			break
		}
	}
	return out
}

func fuzzRows(t *testing.T, f *FDE, size int) (n int) {
	slow := *f
	slow.canFast = false
	if a, b := rowStrings(f, 64), rowStrings(&slow, 64); !slices.Equal(a, b) {
		t.Fatalf("fast and slow path differ:\n%s\n%s", a, b)
	}
	last := f.Start
	for row, err := range f.Rows() {
		if err != nil {
			checkPlace(t, err, size)
			return n
		}
		if row.Begin < last || row.End <= row.Begin || row.End > f.End() {
			t.Fatalf("row [%#x, %#x) outside the FDE or out of order", row.Begin, row.End)
		}
		last = row.End
		for i := range row.Regs {
			if row.Regs[i].Kind == cfi.KindNone || i > 0 && row.Regs[i-1].Reg >= row.Regs[i].Reg {
				t.Fatalf("registers %v", row.Regs)
			}
		}
		if n++; n <= 64 { // Find is linear
			if e, ok, err := f.Find(row.Begin); err == nil && (!ok || e != f.Current()) {
				t.Fatalf("Find(%#x) = %+v, row has %+v", row.Begin, e, f.Current())
			}
		}
	}
	return n
}
