package logs

import (
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tombstone reads what Android's unwinder writes after a module: "(offset 0x1000)" of a library in an APK, the function
// and its distance, whose name may have parentheses of its own, "(BuildId: 1234)".
func tombstone(r *Reference, line string) {
	const offset, build = "(offset 0x", "(BuildId: "
	for strings.HasPrefix(line[r.To:], " (") {
		part := line[r.To+1:]
		end := closing(part)
		if end < 0 {
			return
		}
		part = part[:end+1]
		inside := part[:end]
		switch {
		case strings.HasPrefix(part, offset):
			if !IsPlain(r.Module) {
				r.Offset, _ = strconv.ParseUint(inside[len(offset):], 16, 64) // 0 for what is no number
			}
		case strings.HasPrefix(part, build):
			id, err := hex.DecodeString(inside[len(build):])
			if err == nil && len(id) > 0 && len(id) <= maxID {
				r.BuildID = id
			}
			r.To += 1 + len(part)
			return
		}
		r.To += 1 + len(part)
	}
}

// IsPlain reports whether the path of a module in a tombstone is that of a file of its own. Then "(offset 0x1000)" is that
// of a mapping, as Android 9 writes, not where the file begins in an APK.
func IsPlain(module string) bool {
	return !strings.Contains(module, "!") && slices.Contains([]string{".so", ".odex", ".oat", ".art"}, path.Ext(module))
}

// maxID bounds a build id, in bytes.
const maxID = 64

// closing returns the index of the parenthesis that closes the first one of text, or -1.
func closing(text string) int {
	depth := 0
	for i, c := range []byte(text) {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
