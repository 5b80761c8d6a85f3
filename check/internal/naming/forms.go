package naming

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// simpleForm reads the linkage names that are only lists of identifiers: those of Rust's old mangling,
// of OCaml, and of Fortran's modules, and those of functions that run constructors.
func simpleForm(linkage string) (text string, ok bool) {
	switch {
	case strings.HasPrefix(linkage, "_ZN"):
		return rustName(linkage[len("_ZN"):])
	case strings.HasPrefix(linkage, "caml"):
		return ocamlName(linkage[len("caml"):])
	case linkage == "_Dmain": // of D's runtime, for main
		return "D main", true
	case strings.HasPrefix(linkage, "_Q"):
		return flangName(linkage[len("_Q"):])
	case strings.HasPrefix(linkage, "_GLOBAL_"):
		return constructors(linkage[len("_GLOBAL_"):])
	case strings.HasPrefix(linkage, "__"):
		module, name, ok := strings.Cut(linkage[len("__"):], "_MOD_")
		return module + "::" + name, ok && module != "" && name != ""
	}
	return "", false
}

// constructors reads what follows _GLOBAL_ in the name of a function that runs the constructors or destructors of a unit,
// which is called after a plain name in the unit. The library keeps the letter in front of a plain name.
func constructors(s string) (text string, ok bool) {
	if len(s) < len("_I_x") || !strings.Contains("._$", s[:1]) || s[2] != '_' || strings.HasPrefix(s[3:], "_Z") {
		return "", false
	}
	switch s[1] {
	case 'I':
		return "global constructors keyed to " + s[3:], true
	case 'D':
		return "global destructors keyed to " + s[3:], true
	}
	return "", false
}

// cutName cuts a length and as many bytes.
func cutName(s string) (name, rest string, ok bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n > len(s)-digits {
		return "", "", false
	}
	return s[digits:][:n], s[digits+n:], true
}

// rustEscapes are the characters that $XX$ stands for in identifiers of Rust's old mangling.
var rustEscapes = map[string]string{"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}

// rustName reads what follows _ZN in a name whose last identifier is a hash. The library loses the
// underscore in front of an identifier (__rust_begin_short_backtrace).
func rustName(s string) (text string, ok bool) {
	var parts []string
	for s != "" && s[0] != 'E' {
		var name string
		name, s, ok = cutName(s)
		if !ok {
			return "", false
		}
		parts = append(parts, name)
	}
	if len(parts) < 2 || s == "" || len(s) > 1 && s[1] != '.' {
		return "", false
	}

	// The hash is h and 64 bits, of which some differ.
	hash := parts[len(parts)-1]
	if len(hash) != 17 || hash[0] != 'h' || strings.Trim(hash[1:], "0123456789abcdef") != "" || variety(hash[1:]) < 5 {
		return "", false
	}
	parts = parts[:len(parts)-1]
	for i := range parts {
		parts[i], ok = rustIdentifier(parts[i])
		if !ok {
			return "", false
		}
	}
	return strings.Join(parts, "::"), true
}

// variety counts the different bytes of s.
func variety(s string) int {
	seen := map[byte]bool{}
	for i := range len(s) {
		seen[s[i]] = true
	}
	return len(seen)
}

// rustIdentifier replaces the escapes of an identifier.
func rustIdentifier(s string) (text string, ok bool) {
	if strings.HasPrefix(s, "_$") {
		s = s[1:]
	}
	segments := strings.Split(strings.ReplaceAll(s, "..", "::"), "$")
	if len(segments)%2 == 0 {
		return "", false
	}

	// Every second segment is an escape.
	for i := 1; i < len(segments); i += 2 {
		escaped, known := rustEscapes[segments[i]]
		if !known && strings.HasPrefix(segments[i], "u") {
			n, err := strconv.ParseUint(segments[i][1:], 16, 21)
			known = err == nil && n >= 0x20 && utf8.ValidRune(rune(n))
			escaped = string(rune(n))
		}
		if !known {
			return "", false
		}
		segments[i] = escaped
	}
	return strings.Join(segments, ""), true
}

// ocamlSeparator matches what divides modules. Further underscores belong to the name after it, such as
// __ocaml_lex_token_rec.
var ocamlSeparator = lazy(`__(_*.)`)

// ocamlName reads what follows caml: modules, divided by __ or, since OCaml 5.1, by dots, with
// other characters as $XX.
func ocamlName(s string) (text string, ok bool) {
	dotted := ocamlSeparator().ReplaceAllString(s, ".$1")
	if s == "" || s[0] < 'A' || s[0] > 'Z' || !strings.Contains(dotted, ".") {
		return "", false
	}
	segments := strings.Split(dotted, "$")
	for i := 1; i < len(segments); i++ {
		if len(segments[i]) < 2 {
			return "", false
		}
		c, err := hex.DecodeString(segments[i][:2])
		if err != nil {
			return "", false
		}
		segments[i] = string(c) + segments[i][2:]
	}
	return strings.Join(segments, ""), true
}

// flangName reads what follows _Q in the names of LLVM's Fortran compiler: a letter for the kind of
// each scope, M, S, F or P, and the scope's name in lower case.
func flangName(s string) (text string, ok bool) {
	var parts []string
	for s != "" {
		end := 1 + len(s[1:]) - len(strings.TrimLeft(s[1:], "abcdefghijklmnopqrstuvwxyz0123456789_"))
		if end == 1 || !strings.Contains("MSFP", s[:1]) {
			return "", false
		}
		parts, s, ok = append(parts, s[1:end]), s[end:], s[0] == 'F' || s[0] == 'P'
	}
	return strings.Join(parts, "::"), ok
}

// isDigit reports whether c is a decimal digit.
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lazy compiles an expression when it is first used: most programs that have this package in them
// use none.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// abiTag matches what demanglers write for [[gnu::abi_tag("cxx11")]].
var abiTag = lazy(`\[abi:[^\]]*\]`)
