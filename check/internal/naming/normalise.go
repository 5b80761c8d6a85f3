package naming

import (
	"encoding/hex"
	"strings"

	"symkit/emit"
)

// MaxNameLog is the exponent of demangle.MaxLength: 64 KiB, where names are cut.
const MaxNameLog = 16

// anonymousScope stands for the names that tools give to unnamed scopes.
const anonymousScope = "(anonymous)"

var anonymousScopes = strings.NewReplacer("(anonymousnamespace)", anonymousScope, "(anonymousclass)", anonymousScope,
	"{{anonymous}}", anonymousScope, "{anonymous}", anonymousScope)

// Normalise removes the differences between tools: spaces, the order of qualifiers, and the names of unnamed scopes. Control
// characters are escaped as in symbol files.
func Normalise(s string) string {
	s = Escaped(s)
	if n := strings.Count(s, " "); n > 0 {
		s = withoutSpaces(s, len(s)-n)
	}
	if strings.Contains(s, "volatileconst") {
		s = strings.ReplaceAll(s, "volatileconst", "constvolatile")
	}
	if strings.Contains(s, "ymous") { // of "anonymous": a search for y stops at fewer bytes than one for a
		s = anonymousScopes.Replace(s)
	}
	return s
}

// withoutSpaces removes all spaces from s, which has n other bytes. It looks at each byte: the words
// of names are too short for searches.
func withoutSpaces(s string, n int) string {
	var b strings.Builder
	b.Grow(n)
	for i := range len(s) {
		if s[i] != ' ' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// OriginName returns the name in an INLINE_ORIGIN record. The first byte of a name that begins with
// a number is escaped in the record: see emit.OriginName.
func OriginName(text string) string {
	const escape = len(`\xNN`)
	if len(text) < escape || text[:2] != `\x` {
		return text
	}

	// A name that needs no escape may begin with the same bytes.
	b, err := hex.DecodeString(text[2:escape])
	if err != nil {
		return text
	}
	if name := string(b) + text[escape:]; emit.OriginName(name) == text && emit.Name(name) != text {
		return name
	}
	return text
}

// Escaped returns a name of the ELF file as symbol files have it: control characters and bytes that
// are not UTF-8 as \xNN, cut at emit.MaxName. A name of a symbol file stays as it is.
func Escaped(name string) string {
	if name == "" {
		return ""
	}
	return emit.Name(name)
}
