package cxx

import (
	"strconv"

	"symkit/internal/demangle/lex"
)

// This file and print_type.go write the tree as text. C++ declarations are written
// inside out: the text of a pointer to a function surrounds the text of the pointer.
// Therefore a pointer, reference, array or function is pushed on a stack (x.inner), and
// the type that it points to or returns is written next. That type writes the stack's
// types in their place, a function for example between its return type and its
// parameters. The types that are still on the stack are written at the end.

func (x *tree) puts(s string) {
	if len(s) > 0 {
		x.last = s[len(s)-1]
		x.out = append(x.out, s...)
	}
}

func (x *tree) putText(text [2]uint32) {
	if s := x.in[text[0]:text[1]]; len(s) > 0 {
		x.last = s[len(s)-1]
		x.out = append(x.out, s...)
	}
}

func (x *tree) putc(c byte) {
	x.last = c
	x.out = append(x.out, c)
}

// putn writes a number between two texts, without changing x.last.
func (x *tree) putn(before string, n int, after string) {
	x.out = append(x.out, before...)
	x.out = strconv.AppendInt(x.out, int64(n), 10)
	x.out = append(x.out, after...)
}

// declares reports whether types of the current declaration are on the stack.
func (x *tree) declares() bool { return len(x.inner) > x.base }

// wrap pushes a on the stack and writes made, the type that a is made of. It reports
// whether a is still on the stack, to be written by the caller.
func (x *tree) wrap(a, made ref) bool {
	x.inner = append(x.inner, a)
	x.write(made)
	return x.declares()
}

// pop takes the innermost type from the stack.
func (x *tree) pop() ref {
	a := x.inner[len(x.inner)-1]
	x.inner = x.inner[:len(x.inner)-1]
	return a
}

// text returns the text of a, which is valid until the next name is read.
func (x *tree) text(a ref) []byte {
	if done := x.nodes[a].done; done[1] > done[0] {
		return x.out[done[0]:done[1]]
	}

	x.depth, x.start, x.last = 0, len(x.out), 0
	if !x.failed {
		x.write(a)
	}
	return x.out[x.start:]
}

// write writes node a. It fails if the text becomes too long.
func (x *tree) write(a ref) {
	n := &x.nodes[a]

	// The text is there already: copy it.
	if from, to := n.done[0], n.done[1]; to > from {
		if len(x.out)-x.start > lex.MaxLength {
			x.fail()
			return
		}
		x.out = append(x.out, x.out[from:to]...)
		x.last = x.out[len(x.out)-1]
		return
	}

	if n.kind <= kindOperator { // a leaf
		x.writeWord(n)
		return
	}

	x.steps++
	if len(x.out)-x.start > lex.MaxLength || x.steps > maxSteps || !x.enter() {
		x.fail()
		return
	}

	if n.kind < kindTyped {
		x.writeName(a, n)
	} else {
		x.writeType(a, n)
	}
	x.leave()
}

// writeWord writes a leaf of the tree.
func (x *tree) writeWord(n *node) {
	switch n.kind {
	case kindName:
		x.putText(n.text)
	case kindWord:
		x.puts(words[n.text[0]])
	case kindBuiltin:
		x.puts(builtins[n.text[0]])
	case kindOperator:
		x.puts(operators().texts[n.text[0]])
	default:
		x.fail()
	}
}

// writeName writes a node around which no declaration is written.
func (x *tree) writeName(a ref, n *node) {
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
		x.puts("{lambda")
		if n.a != 0 {
			x.putc('<')
			x.write(n.a)
			x.putc('>')
		}
		x.putc('(')
		x.writeList(x.list(n))
		x.puts(")#")
		x.putn("", int(n.b)+1, "")
		x.putc('}')
	case kindUnnamed:
		x.puts("{unnamed type#")
		x.putn("", int(n.b)+1, "")
		x.putc('}')
	case kindHead:
		x.writeHead(n)
	case kindAuto:
		if n.text[0] != 0 {
			x.putn(headNames[n.text[0]], int(n.b), "")
			x.last = '0'
			return
		}
		x.putn("auto:", int(n.b)+1, "")
	case kindPack, kindList:
		x.writeList(x.list(n))
	case kindExpansion:
		x.writeBraced(n.a)
		x.puts("...")
	case kindLiteral:
		x.writeLiteral(n)
	default:
		x.writeExpression(n)
	}
}

// writeExpression writes an expression of a decltype or a template argument.
func (x *tree) writeExpression(n *node) {
	switch n.kind {
	case kindAddress:
		x.writeAddress(n.a)
	case kindOperation:
		x.writeOperation(n)
	case kindCall:
		x.writeBraced(n.a)
		x.putc('(')
		x.writeList(x.list(n))
		x.putc(')')
	case kindArgument:
		if n.b == 0 {
			x.puts("this")
		} else {
			x.putn("{parm#", int(n.b), "")
			x.putc('}')
		}
	case kindCount:
		x.putn("", int(n.b), "")
		x.last = '0'
	case kindDecltype:
		x.puts("decltype (")
		x.write(n.a)
		x.putc(')')
	default:
		x.writeRare(n)
	}
}

// alone writes a without regard to the declaration around it.
func (x *tree) alone(a ref) {
	base, depth := x.base, len(x.inner)
	x.base = depth
	x.write(a)
	x.base, x.inner = base, x.inner[:depth]
}

// writeBraced writes a, in parentheses unless it is a name.
func (x *tree) writeBraced(a ref) {
	switch x.nodes[a].kind {
	case kindName, kindWord, kindQualified, kindArgument:
		x.write(a)
	default:
		x.putc('(')
		x.write(a)
		x.putc(')')
	}
}

// writeAddress writes the address of a.
func (x *tree) writeAddress(a ref) {
	x.putc('&')
	x.writeBraced(a)
}

// writeTemplate writes a template. The declaration around it has no influence on the
// text, so the text is reused if the template is written again.
func (x *tree) writeTemplate(a ref, n *node) {
	start, base, depth := len(x.out), x.base, len(x.inner)
	x.base = depth

	// The declaration around the template is not written within it.
	x.write(n.a)
	if x.last == '<' { // operator<
		x.putc(' ')
	}
	x.putc('<')
	x.writeList(x.list(n))
	if x.last == '>' {
		x.putc(' ')
	}
	x.putc('>')

	x.base, x.inner = base, x.inner[:depth]
	n.done = [2]uint32{uint32(start), uint32(len(x.out))}
	x.written = append(x.written, a)
}

// writeList writes a list. Empty packs are left out.
func (x *tree) writeList(list []ref) {
	first := true
	for _, a := range list {
		if x.isEmpty(a) {
			continue
		}
		if !first {
			x.puts(", ")
		}

		// Commas only between elements that are written.
		first = false
		x.write(a)
	}
}

// isEmpty reports whether a is a pack without elements.
func (x *tree) isEmpty(a ref) bool {
	n := &x.nodes[x.argumentOf(a)]
	switch n.kind {
	case kindPack, kindList:
		for _, a := range x.list(n) {
			x.steps++
			if x.steps > maxSteps || !x.isEmpty(a) {
				return false
			}
		}
		return true
	}
	return false
}

// writeLiteral writes a template argument that is a value: as C++ does for bool, nullptr and
// most integers, else as a cast.
func (x *tree) writeLiteral(n *node) {
	float := false

	// Values of some builtin types have a notation without the type.
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

	// A floating-point value is the hexadecimal digits of its representation.
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

func (x *tree) writeValue(n *node) {
	if n.b != 0 {
		x.putc('-')
	}
	x.putText(n.text)
}

// writeNumber writes the dimension of an array, or the size of a vector or an integer.
func (x *tree) writeNumber(n *node) {
	if n.b != 0 {
		x.alone(n.b)
		return
	}
	x.putText(n.text)
}
