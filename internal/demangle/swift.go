package demangle

// swift reads as much of a Swift 5 name (docs/ABI/Mangling.rst in Swift's
// repository) as a stack needs: module, types and function, joined by dots. It
// leaves types and labels out, so overloads look the same. A name that goes
// another way than the common one stays as it is.
func swift(name []byte) (string, bool) {
	p := swiftParser{in: name}
	if !p.take("_$s") && !p.take("$s") && !p.take("_$S") && !p.take("$S") {
		return "", false
	}
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
	words [][]byte // of identifiers so far, for substitutions
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

// swiftTypes is the standard library's types with a name of one letter.
var swiftTypes = map[string]string{
	"Sa": "Swift.Array", "Sb": "Swift.Bool", "SD": "Swift.Dictionary", "Sd": "Swift.Double", "Sf": "Swift.Float",
	"Sh": "Swift.Set", "Si": "Swift.Int", "SJ": "Swift.Character", "Sq": "Swift.Optional", "SS": "Swift.String",
	"Ss": "Swift.Substring", "Su": "Swift.UInt", "SV": "Swift.UnsafeRawPointer",
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
		text, ok := swiftTypes[string(p.in[p.pos:p.pos+2])]
		p.pos += 2
		p.out = append(p.out, text...)
		return ok
	}
	return p.identifier(&p.out)
}

// nominal reads an identifier and the letter that makes it a type, or nothing.
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

// swiftKinds is the ends of names, and what they make of the entity.
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
	rest := p.in[p.pos:]
	for _, k := range swiftKinds {
		n := len(rest) - len(k.end)
		if n < 0 || string(rest[n:]) != k.end || !isWord(rest) {
			continue
		}
		if k.text == ".init" {
			p.out = p.out[:context] // what was read is the label of a parameter
		} else if named == (k.text == ".deinit") {
			return false
		}
		p.out = append(p.out, k.text...)
		return true
	}
	return false
}

// identifier reads a length and a name, or one with a 0 in front that repeats
// words of earlier ones: lower-case letters, the last upper case.
func (p *swiftParser) identifier(out *[]byte) bool {
	if !isDigit(p.peek()) {
		return false
	}
	if !p.take("0") {
		s, ok := p.literal()
		*out = append(*out, s...)
		return ok && len(s) > 0
	}
	for last := false; !last; {
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
		if !last && isDigit(p.peek()) && p.peek() != '0' {
			s, ok := p.literal()
			if !ok {
				return false
			}
			*out = append(*out, s...)
			last = !isLower(p.peek()) && !isUpper(p.peek())
		}
	}
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

// literal reads a length and that many bytes, and remembers the words.
func (p *swiftParser) literal() ([]byte, bool) {
	n := 0
	for isDigit(p.peek()) {
		if n = n*10 + int(p.peek()-'0'); n > len(p.in) {
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
		return nil, false // Punycode and what else is not read here
	}
	p.addWords(s)
	return s, true
}

// addWords splits an identifier where a lower-case letter or an underscore ends
// and an upper-case letter begins; words have two letters at least.
func (p *swiftParser) addWords(s []byte) {
	start := -1
	for i := 0; i <= len(s); i++ {
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
