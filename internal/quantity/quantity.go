// Package quantity writes numbers for people: counts, sizes, shares and durations. All pages and
// messages use it. Exact numbers without commas remain in formats of other programs, in what a
// program reads (JSON, addresses, offsets), and in the errors of decoders, which are compared with
// hex dumps.
package quantity

import (
	"fmt"
	"strconv"
)

// integer is the types that sizes and counts have.
type integer interface {
	~int | ~int64 | ~uint32 | ~uint64
}

// Number returns n with a comma between groups of three digits.
func Number[N integer](n N) string { return Group(fmt.Sprint(n)) }

// Group puts a comma between groups of three digits.
func Group(digits string) string {
	var out []byte
	for i, c := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			out = append(out, ',')
		}
		out = append(out, c)
	}
	return string(out)
}

// Count returns a number and its noun: "1 frame", "2,000 frames".
func Count[N integer](n N, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return Number(n) + " " + plural
}

// units are powers of 1000.
var units = []string{"kB", "MB", "GB", "TB", "PB", "EB"}

// Bytes returns a size with three digits, in the unit that suits it.
func Bytes[N integer](n N) string {
	const most = 999.5 // what is more is written with four digits
	v, unit := float64(n)/1000, 0
	if v < 1 {
		return Count(n, "byte", "bytes")
	}
	for v >= most {
		v /= 1000
		unit++
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + units[unit]
}

// Share returns how much part is of all in percent. A part that is almost, but not quite, all
// or nothing does not become "100 %" or "0 %".
func Share(part, all uint64) string {
	switch {
	case all == 0:
		return "–"
	case part == all:
		return "100 %"
	case part == 0:
		return "0 %"
	}

	percent := 100 * float64(part) / float64(all)
	return fmt.Sprintf("%.1f %%", min(max(percent, 0.1), 99.9))
}

// Seconds returns a duration in the unit that suits it: "12 ms", "1.3 s", "2 min 3 s", "3 h 26 min".
func Seconds(s float64) string {
	const minute, hour, day = 60, 3600, 86400
	switch whole := uint64(s + 0.5); {
	case s < 0.9995:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 99.95:
		return fmt.Sprintf("%.1f s", s)
	case whole < 2*minute:
		return fmt.Sprintf("%d s", whole)
	case whole < hour:
		return fmt.Sprintf("%d min %d s", whole/minute, whole%minute)
	case whole < day:
		return fmt.Sprintf("%d h %d min", whole/hour, whole%hour/minute)
	default:
		return fmt.Sprintf("%s d %d h", Number(whole/day), whole%day/hour)
	}
}
