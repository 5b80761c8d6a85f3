package naming

import (
	"context"
	"slices"
	"strings"

	"symkit/emit"
	"symkit/internal/par"
)

// Origins are the names of INLINE_ORIGIN records.
type Origins struct {
	Texts []string // in order, each once
	Place []uint32 // by number in the Table: index of Texts
}

// numbered is a text and a number that has it.
type numbered struct {
	text   string
	number uint32
}

// Order sorts the texts of the numbers for which used is set. Names with equal texts
// share a place.
func Order(ctx context.Context, jobs int, t *Table, used []bool) (Origins, error) {
	var list []numbered
	for number, is := range used {
		if is {
			list = append(list, numbered{number: uint32(number)})
		}
	}

	chunks := slices.Collect(slices.Chunk(list, len(list)/max(jobs, 1)+1))
	err := par.For(ctx, jobs, len(chunks), func(i int) error {
		for k := range chunks[i] {
			n := &chunks[i][k]
			e := t.at(n.number)
			n.text = e.text
			if !e.sound {
				n.text = emit.OriginName(e.text)
			}
		}
		return nil
	})
	if err == nil {
		list, err = par.Sort(ctx, jobs, list, func(a, b numbered) int { return strings.Compare(a.text, b.text) })
	}
	if err != nil {
		return Origins{}, err
	}

	o := Origins{Texts: make([]string, 0, len(list)), Place: make([]uint32, t.Limit())}
	for _, n := range list {
		last := len(o.Texts) - 1
		if last < 0 || o.Texts[last] != n.text {
			o.Texts = append(o.Texts, n.text)
		}
		o.Place[n.number] = uint32(len(o.Texts) - 1)
	}
	return o, nil
}
