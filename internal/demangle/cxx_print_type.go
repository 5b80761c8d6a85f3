package demangle

// writeType writes what may have types around it.
func (x *cxxTree) writeType(a ref, n *cxxNode) {
	switch n.kind {
	case kindTyped:
		base, depth := x.base, len(x.inner)
		x.base = depth
		if x.around(a, n.b) {
			x.putc(' ')
			x.write(n.a)
		}
		x.base, x.inner = base, x.inner[:depth]
	case kindFunc, kindLocalFunc:
		if n.a != 0 && n.kind == kindFunc {
			if !x.around(a, n.a) {
				return
			}
			x.pop()
			x.putc(' ')
		}
		x.writeParameters(n)
	case kindMember, kindVector:
		made := n.a
		if n.kind == kindMember {
			made = n.b
		}
		if x.around(a, made) {
			x.writeInner(x.pop())
		}
	case kindArray:
		if x.around(a, n.a) {
			x.pop()
			x.writeDimension(n)
		}
	case kindMethod, kindQuals, kindPointer, kindLRef, kindRRef, kindComplex:
		if x.around(a, n.a) {
			x.writeInner(a)
			x.pop()
		}
	case kindSpecial:
		x.puts(cxxWords[n.text[0]])
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

// writeInner writes what type a adds around the one it is made of.
func (x *cxxTree) writeInner(a ref) {
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
		x.putText(n.text)
		x.putc(')')
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

// writeQualifiers writes those of a kindQuals or kindMethod.
func (x *cxxTree) writeQualifiers(n *cxxNode) {
	for q := n.quals; q != 0; q >>= 4 {
		x.putc(' ')
		x.puts(qualifierWords[q&15])
	}
	if n.kind == kindMethod && n.b != 0 {
		x.puts(" &&"[:n.b+1])
	}
}

// writeDimension writes an array's dimension behind the types around it, which
// have parentheses unless they are arrays too.
func (x *cxxTree) writeDimension(n *cxxNode) {
	space := " "
	for x.declares() && !x.failed {
		top := x.inner[len(x.inner)-1]
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
	x.putText(n.text)
	x.putc(']')
}

// writeAllInner writes the types that wait, the innermost first.
func (x *cxxTree) writeAllInner() {
	for x.declares() && !x.failed {
		x.writeInner(x.pop())
	}
}

// writeParameters writes the types that wait in parentheses if they have to be,
// and the parameters. Qualifiers of the function itself stand behind those.
func (x *cxxTree) writeParameters(n *cxxNode) {
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
	var held [4]ref
	methods := held[:0]
	for x.declares() && !x.failed {
		if a := x.pop(); x.nodes[a].kind != kindMethod {
			x.writeInner(a)
		} else if methods = append(methods, a); len(methods) == cap(held) {
			x.fail()
		}
	}
	if paren {
		x.putc(')')
	}
	x.putc('(')
	x.writeList(x.list(n), true)
	x.putc(')')
	x.inner = append(x.inner, methods...)
	x.writeAllInner()
}

// needsParen tells whether the innermost types that wait need parentheses in
// front of a function's parameters, and a space there.
func (x *cxxTree) needsParen() (paren, space bool) {
	for i := len(x.inner) - 1; i >= x.base; i-- {
		switch x.nodes[x.inner[i]].kind {
		case kindPointer, kindLRef, kindRRef:
			return true, false
		case kindQuals, kindComplex, kindMember:
			return true, true
		}
	}
	return false, false
}
