package demangle

import "strconv"

// Declarations are written inside out: a pointer, reference, array or function
// puts itself on a stack, has the type it is made of written, and is itself
// written where that type says, or behind it if it does not.

func (x *cxxTree) puts(s string) {
	if len(s) > 0 {
		x.last = s[len(s)-1]
		x.out = append(x.out, s...)
	}
}

func (x *cxxTree) putText(text [2]uint32) {
	if s := x.in[text[0]:text[1]]; len(s) > 0 {
		x.last = s[len(s)-1]
		x.out = append(x.out, s...)
	}
}

func (x *cxxTree) putc(c byte) {
	x.last = c
	x.out = append(x.out, c)
}

// putn writes a number that does not count as the last byte written.
func (x *cxxTree) putn(before string, n int, after string) {
	x.out = append(x.out, before...)
	x.out = strconv.AppendInt(x.out, int64(n), 10)
	x.out = append(x.out, after...)
}

// declares tells whether types wait to be written around the one at hand.
func (x *cxxTree) declares() bool { return len(x.inner) > x.base }

// around puts a on the stack and writes what it is made of. It reports whether a
// is still there to be written.
func (x *cxxTree) around(a, made ref) bool {
	x.inner = append(x.inner, a)
	x.write(made)
	return x.declares()
}

// pop takes the innermost type from the stack.
func (x *cxxTree) pop() ref {
	a := x.inner[len(x.inner)-1]
	x.inner = x.inner[:len(x.inner)-1]
	return a
}

// text returns the text of a, good until the next name.
func (x *cxxTree) text(a ref) []byte {
	if done := x.nodes[a].done; done[1] > done[0] {
		return x.out[done[0]:done[1]]
	}
	x.depth, x.start, x.last = 0, len(x.out), 0
	if !x.failed {
		x.write(a)
	}
	return x.out[x.start:]
}

// write writes node a. One that contains itself, or text out of all proportion,
// is left to the library.
func (x *cxxTree) write(a ref) {
	n := &x.nodes[a]
	if from, to := n.done[0], n.done[1]; to > from {
		if len(x.out)-x.start > MaxLength {
			x.fail()
			return
		}
		x.out = append(x.out, x.out[from:to]...)
		x.last = x.out[len(x.out)-1]
		return
	}
	if n.kind <= kindOperator { // nothing is below it
		x.writeWord(n)
		return
	}
	if x.steps++; n.busy || len(x.out)-x.start > MaxLength || x.steps > cxxMaxSteps || !x.enter() {
		x.fail()
		return
	}
	n.busy = true
	if n.kind < kindTyped {
		x.writeName(a, n)
	} else {
		x.writeType(a, n)
	}
	n.busy = false
	x.leave()
}

// writeWord writes what is text by itself.
func (x *cxxTree) writeWord(n *cxxNode) {
	switch n.kind {
	case kindName:
		x.putText(n.text)
	case kindWord:
		x.puts(cxxWords[n.text[0]])
	case kindBuiltin:
		x.puts(cxxBuiltins[n.text[0]])
	case kindOperator:
		x.puts(cxxOperators[n.text[0]])
	default:
		x.fail()
	}
}

// writeName writes what has no type around it.
func (x *cxxTree) writeName(a ref, n *cxxNode) {
	switch n.kind {
	case kindLiteralOp:
		x.puts(`operator"" `)
		x.writeBraced(n.a)
	case kindCast:
		x.puts("operator ")
		x.write(n.a)
	case kindQualified, kindLocal:
		x.write(n.a)
		x.puts("::")
		x.write(n.b)
	case kindDefaultArg:
		x.putn("{default arg#", int(n.text[0])+1, "}::")
		x.write(n.a)
	case kindTemplate:
		x.writeTemplate(a, n)
	case kindTagged:
		x.write(n.a)
		x.puts("[abi:")
		x.write(n.b)
		x.putc(']')
	case kindDtor:
		x.putc('~')
		x.write(n.a)
	case kindCtor, kindParam:
		x.write(n.a)
	case kindClosure:
		x.puts("{lambda(")
		x.writeList(x.list(n), false)
		x.puts(")#")
		x.putn("", int(n.b)+1, "")
		x.putc('}')
	case kindUnnamed:
		x.puts("{unnamed type#")
		x.putn("", int(n.b)+1, "")
		x.putc('}')
	case kindAuto:
		x.putn("auto:", int(n.b)+1, "")
	case kindPack, kindList:
		x.writeList(x.list(n), false)
	case kindExpansion:
		x.writeBraced(n.a)
		x.puts("...")
	case kindLiteral:
		x.writeLiteral(n)
	default:
		x.writeExpression(n)
	}
}

// writeExpression writes what stands in a decltype or a template's arguments.
func (x *cxxTree) writeExpression(n *cxxNode) {
	switch n.kind {
	case kindAddress:
		x.writeAddress(n.a)
	case kindUnary, kindBinary:
		x.writeOperation(n)
	case kindCall:
		x.writeBraced(n.a)
		x.putc('(')
		x.writeList(x.list(n), false)
		x.putc(')')
	case kindArgument:
		if n.b == 0 {
			x.puts("this")
		} else {
			x.putn("{parm#", int(n.b), "")
			x.putc('}')
		}
	case kindSizeof:
		x.puts("sizeof (")
		x.write(n.a)
		x.putc(')')
	case kindDecltype:
		x.puts("decltype (")
		x.write(n.a)
		x.putc(')')
	default:
		x.fail()
	}
}

// writeBraced writes a, in parentheses unless it is a name.
func (x *cxxTree) writeBraced(a ref) {
	switch x.nodes[a].kind {
	case kindName, kindWord, kindQualified, kindArgument:
		x.write(a)
	default:
		x.putc('(')
		x.write(a)
		x.putc(')')
	}
}

// writeAddress writes the address of a; that of a function without its type.
func (x *cxxTree) writeAddress(a ref) {
	x.putc('&')
	if n := &x.nodes[a]; n.kind == kindTyped {
		if t := x.nodes[n.b].kind; t == kindFunc || t == kindLocalFunc {
			a = n.a
		}
	}
	x.writeBraced(a)
}

// writeTemplate writes a template. The types around it do not reach into it, so
// another time it will be the text of this one.
func (x *cxxTree) writeTemplate(a ref, n *cxxNode) {
	start, base, depth := len(x.out), x.base, len(x.inner)
	x.base = depth
	x.write(n.a)
	if x.last == '<' { // operator<
		x.putc(' ')
	}
	x.putc('<')
	x.writeList(x.list(n), true)
	if x.last == '>' {
		x.putc(' ')
	}
	x.putc('>')
	x.base, x.inner = base, x.inner[:depth]
	n.done = [2]uint32{uint32(start), uint32(len(x.out))}
	x.written = append(x.written, a)
}

// writeList writes a list; with sparing, without empty packs.
func (x *cxxTree) writeList(list []ref, sparing bool) {
	first := true
	for _, a := range list {
		if sparing && x.isEmpty(a) {
			continue
		}
		if !first {
			x.puts(", ")
		}
		first = false
		x.write(a)
	}
}

// isEmpty tells a pack in which nothing is.
func (x *cxxTree) isEmpty(a ref) bool {
	n := &x.nodes[a]
	switch n.kind {
	case kindList:
		return n.text[0] == n.text[1]
	case kindPack:
		for _, a := range x.list(n) {
			if x.steps++; x.steps > cxxMaxSteps || !x.isEmpty(a) {
				return false
			}
		}
		return true
	}
	return false
}

// writeLiteral writes the value of a template's argument.
func (x *cxxTree) writeLiteral(n *cxxNode) {
	float := false
	if t := &x.nodes[n.a]; t.kind == kindBuiltin {
		builtin, value := t.text[0], x.in[n.text[0]:n.text[1]]
		suffix, isNumber := literalSuffix(builtin)
		switch {
		case isNumber:
			x.writeValue(n)
			x.puts(suffix)
			return
		case builtin == builtinBool && n.b == 0 && string(value) == "0":
			x.puts("false")
			return
		case builtin == builtinBool && n.b == 0 && string(value) == "1":
			x.puts("true")
			return
		case builtin == builtinNullptr && (len(value) == 0 || string(value) == "0"):
			x.write(n.a)
			return
		}
		float = isFloat(builtin)
	}
	x.putc('(')
	x.write(n.a)
	x.putc(')')
	if float {
		x.putc('[')
	}
	x.writeValue(n)
	if float {
		x.putc(']')
	}
}

func (x *cxxTree) writeValue(n *cxxNode) {
	if n.b != 0 {
		x.putc('-')
	}
	x.putText(n.text)
}
