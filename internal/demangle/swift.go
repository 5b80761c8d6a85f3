package demangle

// swift reads as much of a Swift 5 name (docs/ABI/Mangling.rst in Swift's repository)
// as a stack needs: module, types and function, joined by dots. The types of parameters
// and their labels are left out, so overloads have the same text. Names of less common
// forms stay mangled.
func swift(name []byte) (string, bool) {
	p := swiftParser{in: name}
	if !p.take("_$s") && !p.take("$s") && !p.take("_$S") && !p.take("$S") {
		return "", false
	}

	// A module, then types within each other, then the function.
	if !p.module() {
		return "", false
	}
	for p.nominal() {
	}
	if !p.entity() {
		return "", false
	}
	return string(p.out), true
}

type swiftParser struct {
	in    []byte
	pos   int
	out   []byte
	words [][]byte // words of the identifiers read so far, for substitutions
}

func (p *swiftParser) take(s string) bool {
	if len(p.in)-p.pos >= len(s) && string(p.in[p.pos:p.pos+len(s)]) == s {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *swiftParser) peek() byte {
	if p.pos < len(p.in) {
		return p.in[p.pos]
	}
	return 0
}

// swiftTypes maps the abbreviations of types of the standard library to the types.
var swiftTypes = codeTable{
	{"Sa", "Swift.Array"}, {"Sb", "Swift.Bool"}, {"SD", "Swift.Dictionary"}, {"Sd", "Swift.Double"}, {"Sf", "Swift.Float"},
	{"Sh", "Swift.Set"}, {"Si", "Swift.Int"}, {"SJ", "Swift.Character"}, {"Sq", "Swift.Optional"}, {"SS", "Swift.String"},
	{"Ss", "Swift.Substring"}, {"Su", "Swift.UInt"}, {"SV", "Swift.UnsafeRawPointer"},
}

// module reads the outermost context.
func (p *swiftParser) module() bool {
	switch {
	case p.take("So"):
		p.out = append(p.out, "__C"...)
		return true
	case p.take("s"):
		p.out = append(p.out, "Swift"...)
		return true
	case p.peek() == 'S' && p.pos+2 <= len(p.in):
		text, ok := swiftTypes.text(p.in[p.pos : p.pos+2])
		p.pos += 2
		p.out = append(p.out, text...)
		return ok
	}
	return p.identifier(&p.out)
}

// nominal reads a type: an identifier and a letter for the kind. It reads nothing if there is none.
func (p *swiftParser) nominal() bool {
	look := *p
	out := append(look.out[:len(look.out):len(look.out)], '.')
	if !look.identifier(&out) {
		return false
	}
	switch look.peek() {
	case 'C', 'V', 'O', 'P', 'a': // class, structure, enumeration, protocol, alias
		look.pos++
		look.out = out
		*p = look
		return true
	}
	return false
}

// swiftKinds maps the ends of names to the text that the kind of entity adds.
var swiftKinds = [...]struct{ end, text string }{
	{"fC", ".init"}, {"fc", ".init"}, {"fD", ".deinit"}, {"fd", ".deinit"},
	{"vgZ", ".getter"}, {"vsZ", ".setter"}, {"vMZ", ".modify"}, {"vrZ", ".read"}, {"vauZ", ".unsafeMutableAddressor"},
	{"vg", ".getter"}, {"vs", ".setter"}, {"vM", ".modify"}, {"vr", ".read"}, {"vau", ".unsafeMutableAddressor"},
	{"FZ", ""}, {"F", ""}, {"FTm", ""}, {"FTo", ""}, {"FTW", ""},
}

// entity reads the function: its name, and at the end of the whole its kind.
func (p *swiftParser) entity() bool {
	context := len(p.out)
	named := isDigit(p.peek())
	if named {
		p.out = append(p.out, '.')
		if !p.identifier(&p.out) {
			return false
		}
	}

	// Whatever is between the name and the end is the type, which is not read.
	rest := p.in[p.pos:]
	for _, k := range swiftKinds {
		n := len(rest) - len(k.end)
		if n < 0 || string(rest[n:]) != k.end || !isWord(rest) {
			continue
		}
		if k.text == ".init" {
			p.out = p.out[:context] // the identifier is the label of a parameter
		} else if named == (k.text == ".deinit") {
			return false
		}
		p.out = append(p.out, k.text...)
		return true
	}
	return false
}

// identifier reads a length and a name, or a 0 and an identifier that repeats words of
// identifiers before it: a letter for each word, lower case except for the last.
func (p *swiftParser) identifier(out *[]byte) bool {
	if !isDigit(p.peek()) {
		return false
	}
	if !p.take("0") {
		s, ok := p.literal()
		*out = append(*out, s...)
		return ok && len(s) > 0
	}

	// Words and literals alternate until an upper-case letter.
	for last := false; !last; {
		// The next word.
		c := p.peek()
		switch {
		case isLower(c) && int(c-'a') < len(p.words):
			*out = append(*out, p.words[c-'a']...)
		case isUpper(c) && int(c-'A') < len(p.words):
			*out = append(*out, p.words[c-'A']...)
			last = true
		default:
			return false
		}
		p.pos++
		if len(*out) > MaxLength {
			return false
		}

		// A literal between two words.
		if !last && isDigit(p.peek()) && p.peek() != '0' {
			s, ok := p.literal()
			if !ok {
				return false
			}
			*out = append(*out, s...)
			last = !isLower(p.peek()) && !isUpper(p.peek())
		}
	}

	// A literal may follow the last word; a 0 is one without a name.
	if isDigit(p.peek()) {
		if p.take("0") {
			return true
		}
		s, ok := p.literal()
		*out = append(*out, s...)
		return ok
	}
	return true
}

// literal reads a length and that many bytes, and adds the words in them.
func (p *swiftParser) literal() ([]byte, bool) {
	n := 0
	for isDigit(p.peek()) {
		n = n*10 + int(p.peek()-'0')
		if n > len(p.in) {
			return nil, false
		}
		p.pos++
	}
	if n > len(p.in)-p.pos {
		return nil, false
	}

	s := p.in[p.pos : p.pos+n]
	p.pos += n
	if !isWord(s) {
		return nil, false // Punycode and other encodings are not supported
	}
	p.addWords(s)
	return s, true
}

// addWords splits an identifier into words: at underscores, and before an upper-case
// letter that follows another character. Words have at least two letters.
func (p *swiftParser) addWords(s []byte) {
	start := -1
	for i := 0; i <= len(s); i++ {
		// A word ends here, and another may begin here.
		boundary := i == len(s) || s[i] == '_' || i > 0 && isUpper(s[i]) && !isUpper(s[i-1])
		if start >= 0 && boundary {
			if i-start >= 2 && len(p.words) < 26 {
				p.words = append(p.words, s[start:i])
			}
			start = -1
		}
		if start < 0 && i < len(s) && s[i] != '_' && !isDigit(s[i]) {
			start = i
		}
	}
}
