package printable

import "unicode/utf8"

// Elide returns s if it has at most n bytes, else the start and the end of s with three
// dots between them, n bytes in all.
func Elide(s string, n int) string {
	if len(s) <= n {
		return s
	}

	// The cuts must not be inside of a character.
	head, tail := (n-3)/2, len(s)-(n-3)/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "..." + s[tail:]
}
