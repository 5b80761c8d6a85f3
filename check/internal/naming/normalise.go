package naming

import (
	"encoding/hex"
	"strings"

	"symkit/emit"
)

// anonymousScope stands for the names that tools give to scopes without one.
const anonymousScope = "(anonymous)"

var anonymousScopes = strings.NewReplacer("(anonymousnamespace)", anonymousScope, "(anonymousclass)", anonymousScope,
	"{{anonymous}}", anonymousScope, "{anonymous}", anonymousScope)

// Normalise removes what tools write differently: spaces, and how they call
// scopes without a name; control characters become as they are in symbol files.
func Normalise(s string) string {
	s = Escaped(s)
	if strings.IndexByte(s, ' ') >= 0 {
		s = strings.ReplaceAll(s, " ", "")
	}
	if strings.Contains(s, "anonymous") {
		s = anonymousScopes.Replace(s)
	}
	return s
}

// OriginName is the name in an INLINE_ORIGIN record. The first byte of one that begins
// with a number is escaped there: see emit.OriginName.
func OriginName(text string) string {
	const escape = len(`\xNN`)
	if len(text) < escape || text[:2] != `\x` {
		return text
	}
	b, err := hex.DecodeString(text[2:escape])
	if err != nil {
		return text
	}
	if name := string(b) + text[escape:]; emit.OriginName(name) == text && emit.Name(name) != text {
		return name
	}
	return text
}

// Escaped is a name of the ELF file as symbol files have it: control characters and what
// is not UTF-8 as \xNN, cut at emit.MaxName. A name of a symbol file stays as it is.
func Escaped(name string) string {
	if name == "" {
		return ""
	}
	return emit.Name(name)
}
