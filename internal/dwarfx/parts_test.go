package dwarfx

import (
	"fmt"
	"strings"
	"testing"
)

// checkParts checks that the parts of u are all of u, and that scans of them give what a scan of u gives. A unit
// whose siblings are wrong has less in parts, and an error.
func checkParts(d *Data, u *Unit, size uint64, most int) (parts int, err error) {
	list := u.Parts(size, most)
	if list == nil {
		return 1, nil
	}
	if len(list) > most || list[0].From != u.Off || list[len(list)-1].To != u.End {
		return 0, fmt.Errorf("parts %#x of %#x-%#x", list, u.Off, u.End)
	}
	var whole Scan
	wantErr := d.ScanUnit(u, true, &whole)
	want := renderScan(&whole)
	var got strings.Builder
	for i, part := range list {
		if part.From >= part.To && i < len(list)-1 || i > 0 && part.From != list[i-1].To {
			return 0, fmt.Errorf("parts %#x", list)
		}
		s := Scan{Part: part}
		err := d.ScanUnit(u, true, &s)
		if err != nil {
			return len(list), nil // a limit, or a sibling that lies elsewhere
		}
		got.WriteString(renderScan(&s))
	}
	if wantErr == nil && got.String() != want && siblingsHold(d, u) {
		return 0, fmt.Errorf("parts %#x have\n%s, the whole\n%s", list, got.String(), want)
	}
	return len(list), nil
}

// siblingsHold reports whether each DIE ends where its sibling begins (DWARF 5 §2.3). In a damaged unit, Parts and a scan
// of the whole skip different DIEs.
func siblingsHold(d *Data, u *Unit) bool {
	table, _ := d.abbrevs(u)
	x := scanner{d: d, u: u, t: table, h: new(skipTable), c: d.unitCursor(u, u.first)}
	var open []int // siblings of the DIEs around the current one, 0 where there is none
	for x.c.Err() == nil {
		at := x.c.Pos()
		code := x.c.ULEB()
		sibling, ends := 0, true
		if code == 0 {
			sibling, open = open[len(open)-1], open[:len(open)-1]
		} else {
			a := x.lookup(code, at)
			if a == nil {
				return false
			}
			x.attrs(a, false)
			sibling, ends = int(x.sibling), !a.children
		}
		switch {
		case !ends:
			open = append(open, sibling)
		case sibling != 0 && sibling != x.c.Pos():
			return false
		case len(open) == 0:
			return true
		}
	}
	return false
}

// renderScan returns what a scan has found, without its own indices.
func renderScan(s *Scan) (text string) {
	for _, f := range s.Funcs {
		text += fmt.Sprintf("%#x %#x %#x %#x %v %#x\n", f.DIE, f.Origin, f.Name, f.Linkage, f.Top, s.Ranges[f.Ranges.From:f.Ranges.To])
		for _, c := range s.Inlines[f.Inlines.From:f.Inlines.To] {
			text += fmt.Sprintf(" %#x %d %d:%d %#x\n", s.Origins[c.Origin], c.Depth, c.CallFile, c.CallLine, s.Ranges[c.Ranges.From:c.Ranges.To])
		}
	}
	return text
}

// TestParts: on every fixture.
func TestParts(t *testing.T) {
	divided := 0
	for path, d := range eachFixture(t) {
		for i := range min(len(d.Units), 50) {
			for _, size := range []uint64{64, 1000} {
				parts, err := checkParts(d, d.Units[i], size, 16)
				if err != nil {
					t.Errorf("%s, unit at %#x: %v", path, d.Units[i].Off, err)
				}
				if parts > 1 {
					divided++
				}
			}
		}
	}
	if divided < 100 {
		t.Errorf("%d units were divided", divided)
	}
}
