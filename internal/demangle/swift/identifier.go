package swift

import (
	"unicode/utf8"

	"symkit/internal/demangle/lex"
)

// identifier reads an identifier: a length and that many characters; after a 0 also letters,
// each a word of an identifier before it, the last one an upper-case letter; after 00 the
// text is in Punycode.
func (r *Reader) identifier() ref {
	if !lex.IsDigit(r.peek()) {
		return 0
	}
	encoded := r.takeAll("00")
	repeats := !encoded && r.take('0')

	text := r.scratch[:0]
	for more := true; more; more = repeats {
		for repeats && (lex.IsLower(r.peek()) || lex.IsUpper(r.peek())) {
			c := r.next()
			i := int(c|0x20) - 'a'
			repeats = lex.IsLower(c)
			if i >= len(r.words) || len(text)+len(r.words[i]) > lex.MaxLength {
				return 0
			}
			text = append(text, r.words[i]...)
		}
		if r.take('0') {
			break
		}
		s, ok := r.literal(encoded)
		if !ok {
			return 0
		}
		if !repeats && len(text) == 0 {
			return r.substitutable(r.node(swIdentifier, s, 0))
		}
		text = append(text, s...)
	}
	r.scratch = text
	if len(text) == 0 {
		return 0
	}
	return r.substitutable(r.node(swIdentifier, string(text), 0))
}

// literal reads a length and that many characters.
func (r *Reader) literal(encoded bool) (string, bool) {
	n := r.natural()
	if n <= 0 {
		return "", false
	}
	if encoded {
		r.take('_')
	}
	if n > len(r.in)-r.pos {
		return "", false
	}
	s := r.in[r.pos : r.pos+n]
	r.pos += n
	if encoded {
		return punycode(s)
	}
	r.addWords(s)
	return s, true
}

// punycode decodes an identifier. ASCII characters that symbols cannot have are moved to where
// UTF-16 has its surrogates.
func punycode(s string) (string, bool) {
	runes, ok := lex.PunycodeRunes([]byte(s), func(c byte) int64 {
		switch {
		case lex.IsLower(c):
			return int64(c - 'a')
		case 'A' <= c && c <= 'J':
			return int64(c-'A') + 26
		}
		return -1
	})
	for i, c := range runes {
		if 0xd800 <= c && c < 0xd880 {
			runes[i] = c - 0xd800
		}
		if !utf8.ValidRune(runes[i]) || runes[i] < 0x20 || runes[i] == 0x7f {
			return "", false
		}
	}
	return string(runes), ok
}

// addWords splits an identifier into words: at underscores, and before an upper-case letter
// that follows another character. Words have at least two characters.
func (r *Reader) addWords(s string) {
	const most = 26
	start := -1
	for i := 0; i <= len(s) && len(r.words) < most; i++ {
		// A word ends here, and another may begin here.
		if start >= 0 && (i == len(s) || s[i] == '_' || lex.IsUpper(s[i]) && !lex.IsUpper(s[i-1])) {
			if i-start >= 2 {
				r.words = append(r.words, s[start:i])
			}
			start = -1
		}
		if start < 0 && i < len(s) && s[i] != '_' && !lex.IsDigit(s[i]) {
			start = i
		}
	}
}

// isSwiftText reports whether an identifier may be written. One that is itself a mangled name, as
// that of a macro's expansion, would look like a name that was not demangled.
func isSwiftText(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return false
		}
		if s[i] == '$' && i+2 < len(s) && (s[i+1] == 's' || s[i+1] == 'S' || s[i+1] == 'e') &&
			(lex.IsDigit(s[i+2]) || s[i+2] == 'S') {
			return false
		}
	}
	return true
}

// multiple reads substitutions: letters, lower case for all but the last, each with
// a count in front of it; or a number from 27 on.
func (r *Reader) multiple() ref {
	for count := 0; ; {
		c := r.next()
		switch {
		case lex.IsLower(c):
			n := r.repeated(r.substitution(int(c-'a')), count)
			if n == 0 || !r.push(n) {
				return 0
			}
			count = 0
		case lex.IsUpper(c):
			return r.repeated(r.substitution(int(c-'A')), count)
		case c == '_':
			return r.substitution(count + 26)
		case lex.IsDigit(c):
			r.pos--
			count = r.natural()
			if count < 0 {
				return 0
			}
			if r.peek() == '_' {
				count++
			}
		default:
			return 0
		}
	}
}

func (r *Reader) substitution(i int) ref {
	if i >= len(r.substitutions) {
		return 0
	}
	return r.substitutions[i]
}

// repeated pushes a node all but once, and returns it.
func (r *Reader) repeated(n ref, count int) ref {
	const most = 2048
	if count > most {
		return 0
	}
	for ; count > 1; count-- {
		if n == 0 || !r.push(n) {
			return 0
		}
	}
	return n
}
