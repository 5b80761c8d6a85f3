//go:build oracle

package peers

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"symkit/test/oracle"
	"symkit/test/oracle/symfile"
)

// place is code with one line, or one rule.
type place struct {
	oracle.Span
	what string
}

// places returns the lines of s by address, with adjacent equal ones merged.
func places(s *symfile.File) (out []place) {
	for i := range s.Funcs {
		for _, l := range s.Funcs[i].Lines {
			p := place{oracle.Span{Lo: l.Addr, Hi: l.Addr + uint64(l.Size)}, fmt.Sprintf("%s:%d", path.Clean(s.Files[l.File]), l.Line)}
			if n := len(out) - 1; n >= 0 && out[n].Hi == p.Lo && out[n].what == p.what {
				out[n].Hi = p.Hi
			} else {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Compare(a.Lo, b.Lo) })
	return out
}

// differing returns the code where a and b, each sorted and without overlaps, are not
// the same.
func differing(a, b []place) (out []place) {
	for pos := uint64(0); len(a) > 0 || len(b) > 0; {
		inA, untilA := placeAt(&a, pos)
		inB, untilB := placeAt(&b, pos)
		end := min(untilA, untilB)
		if inA != inB {
			what := fmt.Sprintf("%s, not %s", cmp.Or(inA, "nothing"), cmp.Or(inB, "nothing"))
			if n := len(out) - 1; n >= 0 && out[n].Hi == pos && out[n].what == what {
				out[n].Hi = end
			} else {
				out = append(out, place{oracle.Span{Lo: pos, Hi: end}, what})
			}
		}
		pos = end
	}
	return out
}

// placeAt returns the text of list at pos, and where it ends. It drops places that
// end before pos.
func placeAt(list *[]place, pos uint64) (what string, until uint64) {
	for len(*list) > 0 && (*list)[0].Hi <= pos {
		*list = (*list)[1:]
	}
	switch {
	case len(*list) == 0:
		return "", ^uint64(0)
	case (*list)[0].Lo > pos:
		return "", (*list)[0].Lo
	}
	return (*list)[0].what, (*list)[0].Hi
}

// rulePlaces returns, for each register, which rule is in force where.
func rulePlaces(s *symfile.File) map[string][]place {
	out := map[string][]place{}
	rules := symfile.Rules{}
	records := slices.Clone(s.CFI)
	slices.SortStableFunc(records, func(a, b symfile.CFI) int { return cmp.Compare(a.Lo, b.Lo) })
	for i := range records {
		r := &records[i]
		rules.Apply(r)
		for reg, rule := range rules {
			list := out[reg]
			if n := len(list) - 1; n >= 0 && list[n].Hi == r.Lo && list[n].what == rule {
				list[n].Hi = r.Hi
			} else {
				out[reg] = append(list, place{r.Span, rule})
			}
		}
	}
	return out
}
