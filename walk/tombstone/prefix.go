package tombstone

import (
	"bytes"
	"strings"
)

// A log has a prefix before each line of a tombstone: the date, the process, the level, the tag, in the order of the
// program that wrote or saved the log. The line "pid: 1, tid: 2" shows which prefix it is, so none of the formats is
// known here but "long", whose prefix is a line of its own.

// prefix is the text before the lines of one tombstone in a log. Digits stand for digits, spaces for any number of
// spaces; so a time and a number of a process are right for all lines.
type prefix string

// maxPrefix is the length of the prefixes that are understood, in bytes.
const maxPrefix = 1 << 8

// prefixOf returns the prefix of the tombstone that begins text: what is before "pid: " in the first such line, in front
// of other asterisks.
func prefixOf(text []byte) prefix {
	first := true
	for raw := range bytes.Lines(text) {
		line := string(bytes.TrimRight(raw, " \r\n"))
		if !first && strings.Contains(line, stars) {
			break
		}
		first = false
		at := strings.Index(line, "pid: ")
		if at >= 0 && at <= maxPrefix && lines().thread.MatchString(line[at:]) {
			return prefix(line[:at])
		}
	}
	return ""
}

// cut returns what follows the prefix in a line; false if the line does not have the prefix.
func (p prefix) cut(line string) (rest string, ok bool) {
	body := strings.TrimRight(string(p), " ")
	rest = line
	for len(body) > 0 {
		c := body[0]
		switch {
		case c == ' ':
			body, rest = strings.TrimLeft(body, " "), strings.TrimLeft(rest, " ")
			continue
		case isDigit(rune(c)):
			digits := strings.TrimLeft(rest, " ") // a shorter number may be padded
			body, rest = strings.TrimLeftFunc(body, isDigit), strings.TrimLeftFunc(digits, isDigit)
			if rest == digits {
				return "", false
			}
			continue
		case rest == "" || rest[0] != c:
			return "", false
		}
		body, rest = body[1:], rest[1:]
	}
	// The spaces that end the prefix: more of them belong to the line.
	for range len(p) - len(strings.TrimRight(string(p), " ")) {
		rest = strings.TrimPrefix(rest, " ")
	}
	return rest, true
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }
