package emit

import (
	"iter"
	"math"
)

// maxPieces bounds what one damaged size can make of a range: 1 TiB of code.
const maxPieces = 256

// Pieces cuts size bytes of code at addr into ranges whose sizes fit the
// records (below 2^32), in address order: one range for all but the absurd.
// It ends after 256 ranges, or at the last address. A function of
// several pieces is written as several FUNC records, each followed by its own
// part of the lines and inlines.
func Pieces(addr, size uint64) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		size := min(size, ^addr)
		for range maxPieces {
			n := min(size, math.MaxUint32)
			if n == 0 || !yield(Range{addr, uint32(n)}) {
				return
			}
			addr += n
			size -= n
		}
	}
}
