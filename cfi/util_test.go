package cfi

import "fmt"

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
