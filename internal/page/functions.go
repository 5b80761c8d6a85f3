package page

import (
	"fmt"
	"html/template"
	"strconv"
)

// functions are the functions that templates can call, by their names in templates.
var functions = template.FuncMap{
	"text":   Text,
	"number": func(n any) string { return group(fmt.Sprint(n)) },
	"bytes":  Bytes,
	"count":  Count,
	"share":  Share,
}

// Number returns n with a comma between groups of three digits.
func Number[N int | int64 | uint64](n N) string { return group(fmt.Sprint(n)) }

// group puts a comma between groups of three digits.
func group(digits string) string {
	var out []byte
	for i, c := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			out = append(out, ',')
		}
		out = append(out, c)
	}
	return string(out)
}

// Bytes returns a size in the unit that suits it: kB, MB and GB are powers of 1000.
func Bytes(n any) string {
	v, err := strconv.ParseFloat(fmt.Sprint(n), 64)
	if err != nil {
		return fmt.Sprint(n)
	}

	for _, unit := range []string{"bytes", "kB", "MB", "GB"} {
		if v < 999.5 || unit == "GB" {
			if unit == "bytes" {
				return fmt.Sprintf("%.0f %s", v, unit)
			}
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v /= 1000
	}
	return ""
}

// Count returns a number and its noun: "1 frame", "2,000 frames".
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return group(strconv.Itoa(n)) + " " + plural
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
