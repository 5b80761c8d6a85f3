package swift

import "symkit/internal/demangle/lex"

// specialType reads a type after X.
func (r *Reader) specialType() ref {
	c := r.next()
	if c < 128 && functionTypes[c] != "" {
		return r.functionType(functionTypes[c])
	}
	switch c {
	case 'z':
		return r.clangFunctionType()
	case 'o':
		return r.typ(r.texted(swTemplate, "unowned %0", r.popKind(swType)))
	case 'u':
		return r.typ(r.texted(swTemplate, "unowned(unsafe) %0", r.popKind(swType)))
	case 'w':
		return r.typ(r.texted(swTemplate, "weak %0", r.popKind(swType)))
	case 'b':
		return r.typ(r.texted(swSugar, "@box %0", r.popKind(swType)))
	case 'D':
		if r.popKind(swType) == 0 {
			return 0
		}
		return r.typ(r.node(swSimple, "Self", 0))
	case 'M', 'm':
		return r.metatype(c)
	case 'p':
		return r.typ(r.with(swExistentialMetatype, r.popKind(swType)))
	case 'P':
		requirements := r.fullList(swRequirements, (*Reader).popRequirement)
		return r.typ(r.with(swConstrained, r.popKind(swType), requirements))
	case 'c':
		super := r.popKind(swType)
		return r.typ(r.with(swProtocolsClass, r.protocolList(), super))
	case 'l':
		return r.typ(r.with(swProtocolsObject, r.protocolList()))
	case 'X', 'x':
		return r.box(c == 'X')
	case 'Y':
		return r.nominal(swOtherNominal)
	case 'Z':
		types, name := r.popTypeList(), r.popKind(swIdentifier)
		return r.with(swAnonymous, r.popContext(), name, types)
	case 'e':
		return r.typ(r.node(swSimple, "<ERROR TYPE>", 0))
	case 'S':
		return r.sugar()
	}
	return 0
}

// clangFunctionType reads a function type that has C's type as well.
func (r *Reader) clangFunctionType() ref {
	convention := "c"
	if r.take('B') {
		convention = "block"
	} else if !r.take('C') {
		return 0
	}
	c, ok := r.clangType()
	if !ok {
		return 0
	}
	return r.functionType("@convention(" + convention + ", mangledCType: \"" + c + "\") ")
}

// clangType reads a type in the mangling of C++.
func (r *Reader) clangType() (string, bool) {
	n := r.natural()
	if n <= 0 || n > len(r.in)-r.pos || !isSwiftText(r.in[r.pos:r.pos+n]) {
		return "", false
	}
	r.pos += n
	return r.in[r.pos-n : r.pos], true
}

// metatype reads a metatype with its representation.
func (r *Reader) metatype(c byte) ref {
	text, ok := lex.CodeTable{{"t", "@thin "}, {"T", "@thick "}, {"o", "@objc_metatype "}}.Text([]byte{r.next()})
	if !ok {
		return 0
	}
	k := swMetatype
	if c == 'm' {
		k = swExistentialMetatype
	}
	return r.typ(r.texted(k, text, r.popKind(swType)))
}

// box reads the box of captured variables; inout marks those that can change.
func (r *Reader) box(generic bool) ref {
	var signature, args ref
	if generic {
		signature, args = r.popKind(swSignature), r.popTypeList()
		if signature == 0 || args == 0 {
			return 0
		}
	}
	fields := r.popTypeList()
	if fields == 0 {
		return 0
	}
	box := r.with(swBoxLayout, fields)
	if generic {
		box = r.add(r.add(box, signature), args)
	}
	return r.typ(box)
}

// sugar reads a type as it was written.
func (r *Reader) sugar() ref {
	c, last := r.next(), r.popKind(swType)
	switch c {
	case 'q':
		return r.typ(r.texted(swSugar, "^0?", last))
	case 'a':
		return r.typ(r.texted(swSugar, "[%0]", last))
	case 'p':
		return r.typ(r.texted(swSugar, "(%0)", last))
	case 'A':
		return r.typ(r.texted(swSugar, "[%0 of %1]", r.popKind(swType), last))
	case 'D':
		return r.typ(r.texted(swSugar, "[%0 : %1]", r.popKind(swType), last))
	}
	return 0
}

// integer reads an integer that is an argument of a generic type.
func (r *Reader) integer() ref {
	negative := r.take('n')
	n := r.number()
	if n < 0 {
		return 0
	}
	if negative {
		n = -n
	}
	return r.typ(r.node(swInteger, "", n))
}
