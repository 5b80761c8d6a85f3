package cxx

// writeType writes a node around which a declaration may be written.
func (x *tree) writeType(a ref, n *node) {
	switch n.kind {
	case kindTyped:
		base, depth := x.base, len(x.inner)
		x.base = depth
		if x.wrap(a, n.b) {
			x.putc(' ')
			x.write(n.a)
		}
		x.base, x.inner = base, x.inner[:depth]
	case kindFunc, kindLocalFunc:
		if n.a != 0 && n.kind == kindFunc {
			if !x.wrap(a, n.a) {
				return
			}
			x.pop()
			x.putc(' ')
		}
		x.writeParameters(n)
	case kindMember, kindVector, kindVendor, kindImaginary:
		made := n.a
		if n.kind == kindMember {
			made = n.b
		}
		if x.wrap(a, made) {
			x.writeInner(x.pop())
		}
	case kindArray:
		if x.wrap(a, n.a) {
			x.pop()
			x.writeDimension(n)
		}
	case kindMethod, kindSpec, kindQuals, kindPointer, kindLRef, kindRRef, kindComplex:
		if x.wrap(a, n.a) {
			x.writeInner(a)
			x.pop()
		}
	case kindSpecial:
		x.puts(words[n.text[0]])
		x.write(n.a)
	case kindTwo:
		x.puts("construction vtable for ")
		x.write(n.a)
		x.puts("-in-")
		x.write(n.b)
	default:
		x.fail()
	}
}

// writeInner writes the text that a adds to the type that it is made of.
func (x *tree) writeInner(a ref) {
	n := &x.nodes[a]
	switch n.kind {
	case kindTyped:
		x.write(n.a)
	case kindFunc, kindLocalFunc:
		x.writeParameters(n)
	case kindMember:
		if x.last != '(' {
			x.putc(' ')
		}
		x.write(n.a)
		x.puts("::*")
	case kindVector:
		x.puts(" __vector(")
		x.writeNumber(n)
		x.putc(')')
	case kindVendor:
		x.putc(' ')
		x.alone(n.b)
	case kindImaginary:
		x.puts(" _Imaginary")
	case kindSpec:
		x.writeSpec(n)
	case kindArray:
		x.writeDimension(n)
	case kindMethod, kindQuals:
		x.writeQualifiers(n)
	case kindPointer:
		x.putc('*')
	case kindLRef:
		x.putc('&')
	case kindRRef:
		x.puts("&&")
	case kindComplex:
		x.puts(" _Complex")
	default:
		x.fail()
	}
}

// writeQualifiers writes the qualifiers of a kindQuals or kindMethod.
func (x *tree) writeQualifiers(n *node) {
	for q := n.quals; q != 0; q >>= 4 {
		x.putc(' ')
		x.puts(qualifierWords[q&15])
	}
	if n.kind == kindMethod && n.b != refThis {
		x.puts([...]string{"", " &", " &&"}[n.b])
	}
}

// writeDimension writes an array's dimension after the types on the stack, which get
// parentheses unless they are arrays, too.
func (x *tree) writeDimension(n *node) {
	space := " "
	for x.declares() && !x.failed {
		top := x.inner[len(x.inner)-1]

		// Qualifiers of an array are those of its elements.
		of := top
		if x.nodes[top].kind == kindQuals {
			of = x.nodes[top].a
		}
		if x.nodes[of].kind != kindArray {
			x.puts(" (")
			x.writeAllInner()
			x.putc(')')
			continue
		}

		if of == top {
			space = ""
		}
		x.writeInner(x.pop())
	}

	x.puts(space)
	x.putc('[')
	x.writeNumber(n)
	x.putc(']')
}

// writeAllInner writes the types on the stack, the innermost first.
func (x *tree) writeAllInner() {
	for x.declares() && !x.failed {
		x.writeInner(x.pop())
	}
}

// writeParameters writes the types on the stack, in parentheses if they need them, and
// the parameters. Qualifiers of the function itself follow the parameters.
func (x *tree) writeParameters(n *node) {
	paren, space := x.needsParen()
	if paren {
		if !space && x.last != '(' && x.last != '*' {
			space = true
		}
		if space && x.last != ' ' {
			x.putc(' ')
		}
		x.putc('(')
	}

	// Methods are held back, without allocation, until the parameters are written.
	var held [4]ref
	methods := held[:0]
	for x.declares() && !x.failed {
		a := x.pop()
		if k := x.nodes[a].kind; k != kindMethod && k != kindSpec {
			x.writeInner(a)
			continue
		}
		methods = append(methods, a)
		if len(methods) == cap(held) {
			x.fail()
		}
	}
	if paren {
		x.putc(')')
	}

	// The parameters, then the methods that were held back.
	x.putc('(')
	if n.b != 0 {
		x.puts("this ")
	}
	x.writeList(x.list(n))
	x.putc(')')
	x.inner = append(x.inner, methods...)
	x.writeAllInner()
}

// needsParen reports whether the types on the stack need parentheses before the
// parameters of a function, and a space before the parentheses.
func (x *tree) needsParen() (paren, space bool) {
	for i := len(x.inner) - 1; i >= x.base; i-- {
		switch x.nodes[x.inner[i]].kind {
		case kindPointer, kindLRef, kindRRef:
			return true, false
		case kindQuals, kindComplex, kindMember, kindVendor, kindImaginary:
			return true, true
		}
	}
	return false, false
}
