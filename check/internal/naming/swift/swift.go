// Package swift reads the linkage names of Swift, independently of internal/demangle, which the dumper
// uses: its stack has texts, where that one has nodes.
package swift

import (
	"strconv"
	"strings"
)

// entry is what one operator made.
type entry struct {
	kind byte   // see below
	text string // how it is written
	// In front of a member's name, and after it.
	prefix, after string
	hasAfter      bool

	// Of a type.
	declared   byte     // the operator that declared it
	name       string   // that it is declared with
	parent     *entry   // in which it is declared
	extends    bool     // parent is an extension of prefix
	suffixed   bool     // it may be followed by ? without parentheses
	protocols  bool     // it is one of protocols, with ".Protocol" as its metatype
	parameters int      // of a function, -1 for other types
	labels     []string // of a tuple's elements
	tuple      bool
	generic    string // of a function, in front of its parameters
	convention string // of a function
}

// Kinds of entries.
const (
	kindModule      = 'm'
	kindIdentifier  = 'i'
	kindOtherName   = 'n'
	kindPrivate     = 'p'
	kindType        = 't'
	kindContext     = 'c'
	kindEmpty       = 'y'
	kindFirst       = '_'
	kindVariadic    = 'd'
	kindSignature   = 's'
	kindNeed        = 'r' // a requirement
	kindNote        = 'a' // at a function's type
	kindHidden      = 'h' // such a note that is not written
	kindMark        = 'A' // of the whole symbol
	kindForwarder   = 'P'
	kindConforms    = 'C'
	kindRetroactive = 'g'
	kindExpansion   = 'x'
	kindOther       = 'o'
)

// stack is the state of a reader.
type stack struct {
	in    string
	all   []*entry
	subs  []*entry
	words []string
	size  int
	bad   bool
}

func (s *stack) fail() *entry {
	s.bad = true
	return nil
}

// next takes the next character, 0 at the end.
func (s *stack) next() byte {
	if s.in == "" {
		return 0
	}
	c := s.in[0]
	s.in = s.in[1:]
	return c
}

func (s *stack) take(text string) bool {
	rest, ok := strings.CutPrefix(s.in, text)
	s.in = rest
	return ok
}

func (s *stack) push(e *entry) {
	s.size += len(e.text)
	s.all = append(s.all, e)
}

// pop takes the top if it is of one of some kinds, "" for any.
func (s *stack) pop(kinds string) *entry {
	n := len(s.all)
	if n == 0 || kinds != "" && strings.IndexByte(kinds, s.all[n-1].kind) < 0 {
		return nil
	}
	e := s.all[n-1]
	s.all = s.all[:n-1]
	return e
}

// need is pop for what must be there.
func (s *stack) need(kinds string) *entry {
	e := s.pop(kinds)
	if e == nil {
		s.bad = true
		return &entry{parameters: -1}
	}
	return e
}

// digits takes a number.
func (s *stack) digits() int {
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
func (s *stack) index() int {
	if s.take("_") {
		return 0
	}
	n := s.digits()
	if !s.take("_") {
		s.bad = true
	}
	return n + 1
}

func (s *stack) sub(e *entry) *entry {
	s.subs = append(s.subs, e)
	return e
}

// typed returns a type.
func typed(text string, suffixed bool) *entry {
	return &entry{kind: kindType, text: text, suffixed: suffixed, parameters: -1}
}

// isDigit and isLetter are for ASCII.
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// nominal returns a type that is declared in a context.
func nominal(kind byte, context *entry, name string, local bool) *entry {
	e := typed("", true)
	e.declared, e.parent, e.name = kind, context, name
	e.place(name, "", local, false)
	return e
}

// inParens returns a type in front of a suffix.
func inParens(t *entry) string {
	if t.suffixed {
		return t.text
	}
	return "(" + t.text + ")"
}

// other returns an entry that nothing is made of.
func (s *stack) other(parts ...string) *entry {
	return &entry{kind: kindOther, text: strings.Join(parts, "")}
}

func itoa(n int) string { return strconv.Itoa(n) }

func joined(list []*entry, between string) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(e.text)
	}
	return b.String()
}

// spaced returns the blank in front of a type that does not begin with parentheses or brackets.
func spaced(t *entry) string {
	if t.parameters >= 0 || strings.HasPrefix(t.text, "<") {
		return ""
	}
	return " "
}
