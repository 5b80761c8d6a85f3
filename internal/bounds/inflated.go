// Package bounds has bounds that several packages compute from the limits of a call.
package bounds

import (
	"math"

	"symkit/internal/limitof"
	"symkit/limits"
)

// Bounds on the size that compressed bytes may claim to inflate to. Deflate reaches at
// most 1032:1 (a match of 258 bytes in two bits). Zstd has no such bound, and a hostile
// file can have as many streams as sections. Therefore a stream of more than FreeSize
// bytes must stay within the limit inflate-ratio: real debug data is below 30:1, symbol tables
// below 10:1. The sections of a file share one FreeSize (elfx counts the bytes that they
// take of it).
const (
	FreeSize   = 16 << 20
	MaxDeflate = 1032
)

// Inflated returns the number of bytes that n compressed bytes may inflate to.
func Inflated(l limits.Limits, n uint64) uint64 {
	return max(FreeSize, InflatedUsually(l, n))
}

// InflatedUsually returns the number of bytes that n compressed bytes may inflate to without
// a share of FreeSize.
func InflatedUsually(l limits.Limits, n uint64) uint64 {
	return n * min(l.Max(limitof.InflateRatio, 0), math.MaxUint32)
}
