package demangle

import (
	"bytes"

	"symkit/internal/demangle/lex"
)

// ocaml reads "camlModule__function_123", with "__" between modules too, and
// since OCaml 5.1 "camlModule.function_123". The number, which distinguishes functions
// of one name, is kept. Further underscores after "__" belong to the name that follows, such as
// __ocaml_lex_token_rec_123. Other characters are "$" and two hexadecimal digits
// ("$5bfile.ml:1$5d").
func ocaml(name []byte) (string, bool) {
	s := name[len("caml"):]
	if len(s) == 0 || !lex.IsUpper(s[0]) || bytes.Index(s, []byte("__")) <= 0 && bytes.IndexByte(s, '.') <= 0 {
		return "", false
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		// An escaped character, a separator of modules, or a plain character.
		switch {
		case s[i] == '$':
			if i+2 >= len(s) || !lex.IsHex(s[i+1]) || !lex.IsHex(s[i+2]) {
				return "", false
			}
			c := lex.Unhex(s[i+1])<<4 | lex.Unhex(s[i+2])
			if c < 0x20 || c >= 0x7f {
				return "", false
			}
			out = append(out, c)
			i += 2
		case s[i] == '_' && i+2 < len(s) && s[i+1] == '_':
			out = append(out, '.')
			for i++; i+1 < len(s) && s[i+1] == '_'; i++ {
				out = append(out, '_')
			}
		default:
			out = append(out, s[i])
		}
	}
	return string(out), true
}
