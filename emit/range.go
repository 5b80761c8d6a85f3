package emit

import (
	"iter"
	"math"
)

// maxSplit bounds the ranges that Split makes of one size, in case the size is damaged. 256
// ranges of 4 GiB are 1 TiB of code.
const maxSplit = 256

// Split cuts size bytes of code at the module-relative address addr into ranges whose
// sizes fit the records (below 2^32), in address order. All real code is one range.
// Split ends after 256 ranges, or at the last address. A function of several ranges is
// written as several FUNC records, each followed by its own lines and inlines.
func Split(addr, size uint64) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		size := min(size, ^addr)
		for range maxSplit {
			n := min(size, math.MaxUint32)
			if n == 0 || !yield(Range{addr, uint32(n)}) {
				return
			}
			addr += n
			size -= n
		}
	}
}
