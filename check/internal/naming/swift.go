package naming

import (
	"strconv"
	"strings"
)

// swiftText reads a name of Swift by code of its own, since the dumper uses internal/demangle: its stack has
// texts, where that one has nodes. It returns false for names that it cannot read; their texts are not
// verified.
func swiftText(linkage string) (string, bool) {
	const most = 1 << 14 // bytes, of which the largest real names have a tenth
	name := strings.TrimPrefix(linkage, "_")
	if len(name) < 4 || len(name) > most || name[0] != '$' || !strings.ContainsRune("sSe", rune(name[1])) {
		return "", false
	}
	s := swiftStack{in: name[2:]}
	for len(s.in) > 0 && !s.bad {
		if rest, ok := strings.CutPrefix(s.in, "."); ok && rest != "" {
			break // a copy's suffix
		}
		e := s.operator()
		if e == nil || len(s.all) > 1<<10 || s.size > 1<<12+64*len(name) {
			return "", false
		}
		s.push(e)
	}
	return s.symbol()
}

// isSwiftName reports whether a linkage name has the form of Swift's.
func isSwiftName(linkage string) bool {
	name := strings.TrimPrefix(linkage, "_")
	if len(name) < 4 || name[0] != '$' || !strings.ContainsRune("sSe", rune(name[1])) {
		return false
	}
	c := name[2] | 0x20
	return '0' <= name[2] && name[2] <= '9' || 'a' <= c && c <= 'z'
}

// swiftEntry is what one operator made.
type swiftEntry struct {
	kind byte   // see below
	text string // how it is written
	// In front of a member's name, and after it.
	prefix, after string
	hasAfter      bool

	// Of a type.
	declared   byte        // the operator that declared it
	name       string      // that it is declared with
	parent     *swiftEntry // in which it is declared
	extends    bool        // parent is an extension of prefix
	suffixed   bool        // it may be followed by ? without parentheses
	protocols  bool        // it is one of protocols, with ".Protocol" as its metatype
	parameters int         // of a function, -1 for other types
	labels     []string    // of a tuple's elements
	tuple      bool
	generic    string // of a function, in front of its parameters
	convention string // of a function
}

// Kinds of entries.
const (
	swiftModule      = 'm'
	swiftIdentifier  = 'i'
	swiftOtherName   = 'n'
	swiftPrivate     = 'p'
	swiftType        = 't'
	swiftContext     = 'c'
	swiftEmpty       = 'y'
	swiftFirst       = '_'
	swiftVariadic    = 'd'
	swiftSignature   = 's'
	swiftNeed        = 'r' // a requirement
	swiftNote        = 'a' // at a function's type
	swiftHidden      = 'h' // such a note that is not written
	swiftMark        = 'A' // of the whole symbol
	swiftForwarder   = 'P'
	swiftConforms    = 'C'
	swiftRetroactive = 'g'
	swiftExpansion   = 'x'
	swiftOther       = 'o'
)

// swiftStack is the state of a reader.
type swiftStack struct {
	in    string
	all   []*swiftEntry
	subs  []*swiftEntry
	words []string
	size  int
	bad   bool
}

func (s *swiftStack) fail() *swiftEntry {
	s.bad = true
	return nil
}

// next takes the next character, 0 at the end.
func (s *swiftStack) next() byte {
	if s.in == "" {
		return 0
	}
	c := s.in[0]
	s.in = s.in[1:]
	return c
}

func (s *swiftStack) take(text string) bool {
	rest, ok := strings.CutPrefix(s.in, text)
	s.in = rest
	return ok
}

func (s *swiftStack) push(e *swiftEntry) {
	s.size += len(e.text)
	s.all = append(s.all, e)
}

// pop takes the top if it is of one of some kinds, "" for any.
func (s *swiftStack) pop(kinds string) *swiftEntry {
	n := len(s.all)
	if n == 0 || kinds != "" && strings.IndexByte(kinds, s.all[n-1].kind) < 0 {
		return nil
	}
	e := s.all[n-1]
	s.all = s.all[:n-1]
	return e
}

// need is pop for what must be there.
func (s *swiftStack) need(kinds string) *swiftEntry {
	e := s.pop(kinds)
	if e == nil {
		s.bad = true
		return &swiftEntry{parameters: -1}
	}
	return e
}

// digits takes a number.
func (s *swiftStack) digits() int {
	n := 0
	for n < len(s.in) && '0' <= s.in[n] && s.in[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(s.in[:n])
	if err != nil || v > 1<<24 {
		s.bad = true
	}
	s.in = s.in[n:]
	return v
}

// index takes an INDEX of the mangling.
func (s *swiftStack) index() int {
	if s.take("_") {
		return 0
	}
	n := s.digits()
	if !s.take("_") {
		s.bad = true
	}
	return n + 1
}

func (s *swiftStack) sub(e *swiftEntry) *swiftEntry {
	s.subs = append(s.subs, e)
	return e
}

// typed returns a type.
func swiftTyped(text string, suffixed bool) *swiftEntry {
	return &swiftEntry{kind: swiftType, text: text, suffixed: suffixed, parameters: -1}
}

// isDigit and isLetter are for ASCII.
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
