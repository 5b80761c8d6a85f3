package cxx

// writeOperation writes an operator with its operands: see exprOp.
func (x *tree) writeOperation(n *node) {
	operands := x.list(n)
	pattern := exprs().ops[n.b].pattern
	for i := 0; i < len(pattern) && !x.failed; i++ {
		c := pattern[i]
		switch {
		case c == '*':
			x.writeList(operands)
		case c == '$': // of a fold: the operator that is between # and #
			inner := exprs().ops[n.a].pattern
			for ; len(inner) > 0 && (inner[0] == '#' || inner[0] == '('); inner = inner[1:] {
			}
			for ; len(inner) > 0 && inner[0] != '#'; inner = inner[1:] {
				if inner[0] != '\\' {
					x.putc(inner[0])
				}
			}
		case c == '\\':
			i++
			x.putc(pattern[i])
		case c != '#' && c != '@':
			x.putc(c)
		case len(operands) == 0:
			x.fail()
		case c == '#':
			x.writeCallee(operands[0], n)
			operands = operands[1:]
		default:
			x.write(operands[0])
			operands = operands[1:]
		}
	}
}

// writeCallee writes an operand in parentheses. A function that is called is written without
// its type.
func (x *tree) writeCallee(a ref, n *node) {
	if f := &x.nodes[a]; f.kind == kindTyped && exprs().ops[n.b].forms == "e*" {
		a = f.a
	}
	x.writeBraced(a)
}

// writeRare writes the kinds of nodes that are rare.
func (x *tree) writeRare(n *node) {
	switch n.kind {
	case kindPart:
		x.writeBraced(n.a)
		x.puts(".<")
		x.write(n.b)
		x.puts(" at offset ")
		x.puts([]string{"0", ""}[min(n.text[1]-n.text[0], 1)])
		x.putText(n.text)
		x.putc('>')
	case kindQuoted:
		x.puts(`"<`)
		x.alone(n.a)
		x.puts(`>"`)
	case kindLambda:
		x.puts("[](")
		x.writeList(x.list(&x.nodes[n.a]))
		x.puts("){...}")
	case kindIndexed:
		x.putc('(')
		x.write(n.a)
		x.puts(")[")
		x.write(n.b)
		x.putc(']')
	case kindBitInt:
		if n.quals != 0 {
			x.puts("unsigned ")
		}
		x.puts("_BitInt(")
		x.writeNumber(n)
		x.putc(')')
	case kindEnum:
		x.puts("{enum:")
		x.write(n.a)
		x.putc('{')
		x.write(n.b)
		x.puts("}}")
	case kindFloat:
		name, end := "_Float", ""
		if n.b == 'b' {
			name, end = "std::bfloat", "_t"
		} else if n.b != 0 {
			end = "x"
		}
		x.puts(name)
		x.putText(n.text)
		x.puts(end)
	case kindConstrained, kindElaborated:
		if n.kind == kindElaborated {
			x.puts(words[n.text[0]])
			x.write(n.a)
			return
		}
		x.write(n.a)
		x.putc(' ')
		x.write(n.b)
	case kindModule:
		if n.a != 0 {
			x.write(n.a)
		}
		if n.text[0] != 0 || n.a != 0 {
			x.putc(".:"[n.text[0]])
		}
		x.write(n.b)
	case kindInModule:
		x.write(n.a)
		x.putc('@')
		x.write(n.b)
	case kindFriend:
		x.write(n.a)
		x.puts("[friend]")
	case kindBinding:
		x.putc('[')
		x.writeList(x.list(n))
		x.putc(']')
	case kindEnableIf:
		x.write(n.a)
		x.puts(" [enable_if:")
		x.write(n.b)
		x.putc(']')
	default:
		x.fail()
	}
}

// writeSpec writes an exception specification, or transaction_safe.
func (x *tree) writeSpec(n *node) {
	x.puts(words[n.text[0]])
	if n.b != 0 {
		x.alone(n.b)
		x.putc(')')
	}
}
