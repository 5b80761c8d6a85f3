package swift

// conventions are the conventions of parameters in the compiler's intermediate language.
var conventions = [128]string{
	'i': "@in", 'c': "@in_constant", 'l': "@inout", 'b': "@inout_aliasable", 'n': "@in_guaranteed", 'X': "@in_cxx",
	'x': "@owned", 'g': "@guaranteed", 'e': "@deallocating", 'y': "@unowned", 'v': "@pack_owned", 'p': "@pack_guaranteed",
	'm': "@pack_inout",
}

// results are the conventions of results.
var results = [128]string{
	'r': "@out", 'o': "@owned", 'd': "@unowned", 'u': "@unowned_inner_pointer", 'a': "@autoreleased", 'k': "@pack_out",
}

// implFunction reads the type of a function of the intermediate language: attributes, parameters,
// results. Their types were pushed before it.
func (r *Reader) implFunction() ref {
	f := r.node(swImplFunction, "", 0)
	if r.take('s') {
		lists, ok := r.boundGenerics()
		signature := r.popKind(swSignature)
		if !ok || len(lists) != 1 {
			return 0
		}
		f = r.add(f, r.with(swImplSubstitutions, signature, lists[0]))
	}
	if r.take('I') {
		lists, ok := r.boundGenerics()
		if !ok || len(lists) != 1 {
			return 0
		}
		f = r.add(f, r.with(swImplInvocation, lists[0]))
	}

	signature := r.popKind(swSignature)
	if signature != 0 {
		r.take('P') // erased when the program runs
	}
	f = r.implAttributes(f)
	if r.take('T') {
		f = r.add(f, r.node(swImplSending, "", 0))
	}
	if signature != 0 {
		f = r.add(f, signature)
	}

	first := len(r.children(f))
	f = r.implValues(f)
	if f == 0 || !r.take('_') {
		return 0
	}
	for i := len(r.children(f)) - 1; i >= first; i-- {
		if r.add(r.child(f, i), r.popKind(swType)) == 0 {
			return 0
		}
	}
	return r.typ(f)
}

// implAttributes reads what is in front of the parameters.
func (r *Reader) implAttributes(f ref) ref {
	attribute := func(text string) { f = r.add(f, r.node(swText, text, 0)) }
	if r.take('e') {
		attribute("@escaping")
	}
	if r.take('A') {
		attribute("@isolated(any)")
	}
	if c := r.oneOf("dlfr"); c != 0 {
		attribute("@differentiable" + differentiability(c))
	}

	// The callee's convention.
	switch r.next() {
	case 'y':
		attribute("@callee_unowned")
	case 'g':
		attribute("@callee_guaranteed")
	case 'x':
		attribute("@callee_owned")
	case 't':
		attribute("@convention(thin)")
	default:
		return 0
	}
	text, ok := r.implConvention()
	if !ok {
		return 0
	}
	if text != "" {
		attribute("@convention(" + text + ")")
	}

	// Coroutines, and what the callee may do.
	switch r.oneOf("AIG") {
	case 'A':
		attribute("@yield_once")
	case 'I':
		attribute("@yield_once_2")
	case 'G':
		attribute("@yield_many")
	}
	if r.take('h') {
		attribute("@Sendable")
	}
	if r.take('H') {
		attribute("@async")
	}
	return f
}

// implConvention reads the calling convention, which may have C's type.
func (r *Reader) implConvention() (string, bool) {
	switch r.oneOf("BCMOKW") {
	case 'B':
		return "block", true
	case 'C':
		return "c", true
	case 'M':
		return "method", true
	case 'O':
		return "objc_method", true
	case 'K':
		return "closure", true
	case 'W':
		return "witness_method", true
	}

	text := ""
	switch {
	case r.takeAll("zB"):
		text = "block"
	case r.takeAll("zC"):
		text = "c"
	default:
		return "", true
	}
	c, ok := r.clangType()
	return text + ", mangledCType: \"" + c + "\"", ok
}

// implValues reads the conventions of parameters, results, yielded values and the error.
func (r *Reader) implValues(f ref) ref {
	for {
		text, ok := r.implValue(&conventions)
		if !ok {
			break
		}
		f = r.add(f, r.node(swImplParameter, r.implParameter(text), 0))
	}
	for {
		text, ok := r.implValue(&results)
		if !ok {
			break
		}
		if r.take('w') {
			text += " @noDerivative"
		}
		f = r.add(f, r.node(swImplResult, text+" ", 0))
	}
	for r.take('Y') {
		text, ok := r.implValue(&conventions)
		if !ok {
			return 0
		}
		f = r.add(f, r.node(swImplResult, "@yields "+text+" ", 0))
	}
	if r.take('z') {
		text, ok := r.implValue(&results)
		if !ok {
			return 0
		}
		f = r.add(f, r.node(swImplResult, "@error "+text+" ", 0))
	}
	return f
}

// implValue reads a convention.
func (r *Reader) implValue(table *[128]string) (string, bool) {
	c := r.peek()
	if c >= 128 || table[c] == "" {
		return "", false
	}
	r.pos++
	return table[c], true
}

// implParameter reads what can follow a parameter's convention. Swift's own program shows
// one attribute besides @noDerivative, and none of several.
func (r *Reader) implParameter(convention string) string {
	derivative, extra, extras := "", "", 0
	if r.take('w') {
		derivative = "@noDerivative "
	}
	for _, a := range [...]struct {
		code byte
		text string
	}{{'T', "sending "}, {'I', "isolated "}, {'L', "sil_implicit_leading_param "}} {
		if r.take(a.code) {
			extra = a.text
			extras++
		}
	}
	if extras > 1 {
		return convention + " "
	}
	return convention + " " + derivative + extra
}

// differentiability returns the text for a kind of differentiability.
func differentiability(c byte) string {
	switch c {
	case 'l':
		return "(_linear)"
	case 'f':
		return "(_forward)"
	case 'r':
		return "(reverse)"
	}
	return ""
}

// differentiable reads the annotation of a function type.
func (r *Reader) differentiable() ref {
	c := r.oneOf("frdl")
	if c == 0 {
		return 0
	}
	return r.node(swDifferentiable, "@differentiable"+differentiability(c)+" ", 0)
}
