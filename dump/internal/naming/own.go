package naming

import (
	"strings"

	"symkit/internal/demangle"
)

// IsSymbolOf reports whether symbol is the mangled name of a function that has k's plain name: it is the
// last name in the readable form. Code that functions share has symbols of other names too.
func (x *Namer) IsSymbolOf(k *Key, symbol []byte) bool {
	symbol = demangle.Base(symbol)
	x.compared += uint64(len(symbol) + len(k.Plain))
	if !demangle.IsMangled(symbol) || x.compared/readPerText > x.table.most {
		return false
	}
	text, ok := x.demangler.ForLanguage(uint16(k.Language), symbol)
	x.compared += uint64(len(text))
	if !ok {
		return false
	}

	// Rust's old mangling has no numbers of closures.
	own := ownName(string(k.Plain))
	if len(own) > maxOwn {
		return false
	}
	return endsWith(text, own) || strings.HasPrefix(own, "{closure#") && endsWith(text, "{{closure}}")
}

// maxOwn bounds own names in bytes: endsWith may compare one with each part of a text.
const maxOwn = 256

// ownName returns a plain name without arguments, as demangled names have it.
func ownName(plain string) string {
	plain = withoutArguments(plain)
	rest, isOperator := strings.CutPrefix(plain, conversion)
	if isOperator && !strings.HasPrefix(rest, "new") && !strings.HasPrefix(rest, "delete") && rest != "co_await" {
		return conversion
	}
	rest, isLiteral := strings.CutPrefix(plain, `operator""`)
	if isLiteral {
		return `operator"" ` + strings.TrimPrefix(rest, " ")
	}
	return plain
}

// conversion begins the own names of all operators that convert, since types have several spellings.
const conversion = "operator "

// withoutArguments returns a plain name without the arguments of a template at its end.
func withoutArguments(plain string) string {
	depth := 0
	for i := len(plain) - 1; i > 0; i-- {
		switch {
		case plain[i] == '>' && plain[i-1] != '-':
			depth++
		case plain[i] == '<':
			depth--
			if depth == 0 {
				return strings.TrimSuffix(plain[:i], " ") // operator< <int>
			}
		}
		if depth <= 0 {
			break
		}
	}
	return plain
}

// endsWith reports whether own is the last name in text that is in no brackets.
func endsWith(text, own string) (last bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		inScope := i > 0 && (text[i-1] == ':' || text[i-1] == '.')
		begins := i == 0 || inScope || text[i-1] == ' ' // after the type that a template's function returns

		// The arguments in Rust's names, f::<i32>, follow colons too.
		if depth == 0 && begins && text[i] != ':' && text[i] != '<' {
			last = last && !inScope
			rest, ok := strings.CutPrefix(text[i:], own)
			switch {
			case own == conversion && ok:
				return true
			case ok && endsName(rest):
				last = true
				i += len(own) - 1 // an operator may have brackets
				continue
			}
		}
		switch text[i] {
		case '(', '<', '[', '{':
			depth++
		case ')', '>', ']', '}':
			depth--
		}
	}
	return last
}

// endsName reports whether a name ends where rest, the rest of a text, begins.
func endsName(rest string) bool {
	return rest == "" || rest[0] == '(' || rest[0] == '<' || strings.HasPrefix(rest, " <") ||
		strings.HasPrefix(rest, "[abi:") || strings.HasPrefix(rest, "::<")
}
