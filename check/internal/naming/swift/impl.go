package swift

import "strings"

// impl reads a function's type in the compiler's intermediate language.
func (s *stack) impl() *entry {
	substituted, invoked, front := "", "", ""
	if s.take("s") {
		lists := s.lists()
		substituted = " for <" + joined(lists[0], "") + ">"
		front = "@substituted " + s.need("s").text + " "
	}
	if s.take("I") {
		invoked = " for <" + joined(s.lists()[0], "") + ">"
	}
	sig := s.pop("s")
	if sig != nil {
		s.take("P")
	}

	var text strings.Builder
	for _, o := range [...]struct{ code, text string }{
		{"e", "@escaping "}, {"A", "@isolated(any) "}, {"y", "@callee_unowned "}, {"g", "@callee_guaranteed "},
		{"x", "@callee_owned "}, {"t", "@convention(thin) "}, {"B", "@convention(block) "}, {"C", "@convention(c) "},
		{"M", "@convention(method) "}, {"O", "@convention(objc_method) "}, {"K", "@convention(closure) "},
		{"W", "@convention(witness_method) "}, {"A", "@yield_once "}, {"I", "@yield_once_2 "}, {"G", "@yield_many "},
		{"h", "@Sendable "}, {"H", "@async "},
	} {
		if s.take(o.code) {
			text.WriteString(o.text)
		}
	}
	sending := ""
	if s.take("T") {
		sending = "sending "
	}
	if sig != nil {
		text.WriteString(sig.text + " ")
	}
	in, out := s.values()
	if !s.take("_") {
		return s.fail()
	}

	// The last of the types is on top.
	for i := len(out) - 1; i >= 0; i-- {
		out[i] += s.need("t").text
	}
	for i := len(in) - 1; i >= 0; i-- {
		in[i] += s.need("t").text
	}
	text.WriteString(front + "(" + strings.Join(in, ", ") + ") -> " + sending + "(" + strings.Join(out, ", ") + ")")
	return typed(text.String()+substituted+invoked, false)
}

// values reads the conventions of parameters and of results.
func (s *stack) values() (in, out []string) {
	parameters := map[byte]string{
		'i': "@in ", 'c': "@in_constant ", 'l': "@inout ", 'b': "@inout_aliasable ", 'n': "@in_guaranteed ", 'X': "@in_cxx ",
		'x': "@owned ", 'g': "@guaranteed ", 'e': "@deallocating ", 'y': "@unowned ", 'v': "@pack_owned ", 'p': "@pack_guaranteed ",
		'm': "@pack_inout ",
	}
	results := map[byte]string{
		'r': "@out ", 'o': "@owned ", 'd': "@unowned ", 'u': "@unowned_inner_pointer ", 'a': "@autoreleased ", 'k': "@pack_out ",
	}
	read := func(table map[byte]string) string {
		if s.in == "" || table[s.in[0]] == "" {
			return ""
		}
		return table[s.next()]
	}

	for text := read(parameters); text != ""; text = read(parameters) {
		extra := ""
		if s.take("w") {
			text += "@noDerivative "
		}
		for _, o := range [...]struct{ code, text string }{
			{"T", "sending "}, {"I", "isolated "}, {"L", "sil_implicit_leading_param "},
		} {
			if s.take(o.code) {
				if extra != "" {
					s.bad = true // Swift's own program writes neither
				}
				extra = o.text
			}
		}
		in = append(in, text+extra)
	}
	for text := read(results); text != ""; text = read(results) {
		if s.take("w") {
			text += "@noDerivative "
		}
		out = append(out, text)
	}
	for s.take("Y") {
		out = append(out, "@yields "+read(parameters))
	}
	if s.take("z") {
		out = append(out, "@error "+read(results))
	}
	return in, out
}

// derivative reads what automatic differentiation made of all that is on the stack.
func (s *stack) derivative() *entry {
	form := byte(0)
	if s.in != "" && strings.IndexByte("SOV", s.in[0]) >= 0 {
		form = s.next()
	}
	if form == 'O' {
		s.pop("s")
		s.need("t")
		from := s.need("t").text
		if strings.IndexByte("frdp", s.next()) < 0 {
			return nil
		}
		return s.other("autodiff self-reordering reabstraction thunk for ", from)
	}
	text, ok := map[byte]string{
		'f': "forward-mode derivative", 'r': "reverse-mode derivative", 'd': "differential", 'p': "pullback",
	}[s.next()]
	sets := 2
	switch form {
	case 'S':
		text, sets = "autodiff subset parameters thunk for "+text+" from ", 3
		if len(s.all) > 1 {
			s.pop("")
		}
	case 'V':
		text = "vtable thunk for " + text + " of "
		s.pop("s")
	default:
		text += " of "
		s.pop("s")
	}
	for i := range sets {
		s.in = strings.TrimLeft(s.in, "SU")
		ok = ok && s.take("prP"[i:i+1])
	}
	if !ok || len(s.all) == 0 {
		return nil
	}
	e := s.other(text + joined(s.all, ""))
	e.kind = kindContext
	s.all = nil
	return e
}
