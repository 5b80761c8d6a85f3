package cfi

import (
	"fmt"
	"testing"
)

// textOf turns a whole section into STACK CFI lines, addresses less load.
func textOf(t testing.TB, s *Section, arch *Arch, load uint64) (lines []string) {
	t.Helper()
	text := NewText(arch)
	text.BigEndian = s.BigEndian
	for f, err := range s.FDEs() {
		if err != nil {
			t.Error(err)
			continue
		}
		text.Reset()
		text.Begin(f.CIE.RA)
		for row, err := range f.Rows() {
			if err != nil {
				t.Error(err)
				break
			}
			text.Add(row)
		}
		lines = append(lines, linesOf(text, load)...)
	}
	return lines
}

func linesOf(text *Text, load uint64) (lines []string) {
	for i := range text.Len() {
		r := text.Record(i)
		if r.Init() {
			lines = append(lines, fmt.Sprintf("STACK CFI INIT %x %x %s", r.Addr-load, r.Size, r.Rules))
		} else {
			lines = append(lines, fmt.Sprintf("STACK CFI %x %s", r.Addr-load, r.Rules))
		}
	}
	return lines
}
