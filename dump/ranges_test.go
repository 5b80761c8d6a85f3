package dump

import (
	"slices"
	"testing"

	"symkit/dump/dwarfx"
)

// TestRangeList: what comes out is what went in, near and far apart.
func TestRangeList(t *testing.T) {
	const kernel = 0xffffffff81000000
	for _, ranges := range [][]dwarfx.Range{
		nil,
		{{Lo: kernel + 16, Hi: kernel + 20}, {Lo: kernel, Hi: kernel + 8}},
		{{Lo: 0, Hi: 1<<32 - 1}, {Lo: 5, Hi: 6}},
		{{Lo: 0, Hi: 1 << 32}, {Lo: 5, Hi: 6}},
		{{Lo: 16, Hi: 32}, {Lo: kernel, Hi: kernel + 1}, {Lo: 1, Hi: 2}},
	} {
		l := newRangeList(ranges)
		for from := range len(ranges) + 1 {
			for to := from; to <= len(ranges); to++ {
				if got := l.append(nil, dwarfx.Span{From: uint32(from), To: uint32(to)}); !slices.Equal(got, ranges[from:to]) {
					t.Errorf("%x, %d to %d: %x", ranges, from, to, got)
				}
			}
		}
	}
}
