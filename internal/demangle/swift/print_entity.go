package swift

import (
	"strconv"
	"strings"
)

// entity is how a declaration is written.
type entity struct {
	hasName  bool   // the second child is its name
	name     string // instead of a name
	extra    string // after a name, or "extra of name" if extra has blanks
	number   int    // after extra, if it is not negative
	function bool   // its type follows
	of       bool   // "of" instead of "in" in front of the context that follows
}

// declaration writes a declaration. It returns false for nodes of other kinds.
func (p *printer) declaration(n ref, depth int, prefix bool) (after ref, ok bool) {
	e := entity{number: -1}
	node := p.nodes[n]
	class := p.kind(p.child(n, 0)) == swClass
	switch node.kind {
	case swClass, swStruct, swEnum, swProtocol, swAlias, swOtherNominal, swGenericParameterDecl, swVariable:
		e.hasName = true
	case swFunction, swBoundFunction:
		e.hasName, e.function = true, true
	case swMacro:
		e.hasName, e.function = true, node.n != 3
	case swSubscript:
		e.name, e.function = "subscript", true
	case swAllocator:
		e.function, e.extra = true, "init"
		if class {
			e.extra = "__allocating_init"
		}
	case swConstructor:
		e.hasName, e.function, e.extra = node.n > 2, true, "init"
	case swDeinit:
		e.extra = "deinit"
		if class && node.text != "" {
			e.extra = node.text
		}
	case swInitial:
		e.extra, e.of = node.text, !strings.HasPrefix(node.text, "__")
	case swDefaultArgument:
		e.extra, e.of = "default argument ", true
		e.number = p.nodes[p.child(n, 1)].index
	case swClosure:
		e.extra, e.number = node.text, p.nodes[p.child(n, 1)].index+1
	case swExpansion:
		e.hasName, e.extra, e.number = true, node.text, p.nodes[p.child(n, 2)].index+1
	default:
		return 0, false
	}
	return p.entity(n, depth, prefix, e, node.kind == swVariable || node.kind == swMacro), true
}

// accessor writes the accessor of a variable or of a subscript.
func (p *printer) accessor(n ref, depth int, prefix bool) ref {
	storage := p.child(n, 0)
	e := entity{extra: p.nodes[n].text, number: -1}
	if p.kind(storage) == swVariable {
		e.hasName = true
	} else {
		e.name = "subscript"
	}
	return p.entity(storage, depth, prefix, e, true)
}

// entity writes a declaration with its context, either in front of the name, "Context.name", or after
// it, "name in context": texts of several words, local names, and contexts that have a type themselves
// come first. A declaration that has a type, even one that is not shown, is never written in front of
// another one; it is returned, as is a context that should follow.
func (p *printer) entity(n ref, depth int, prefix bool, e entity, typed bool) ref {
	var arguments ref
	if p.kind(n) == swBoundFunction {
		arguments = p.child(n, 1)
		n = p.child(n, 0)
	}
	words := strings.Contains(e.extra, " ") || e.hasName && p.kind(p.child(n, 1)) == swLocalName
	if prefix && (e.function || typed || words) {
		return n
	}

	// The context.
	context := p.child(n, 0)
	var after ref
	if words {
		after = context
	} else {
		from := len(p.out)
		after = p.context(context, depth, true)
		if len(p.out) > from {
			p.write(".")
		}
	}
	p.entityName(n, depth, e, words)

	if e.function {
		p.entityType(n, arguments, depth, words)
	}
	if prefix || after == 0 {
		return after
	}

	// The context that is left. Modules are not shown, but this "in" is.
	if e.of {
		p.write(" of ")
	} else {
		p.write(" in ")
	}
	p.print(after, depth)
	return 0
}

// entityName writes a declaration's name.
func (p *printer) entityName(n ref, depth int, e entity, words bool) {
	extra := e.extra
	if e.number >= 0 {
		extra += strconv.Itoa(e.number)
	}
	if e.hasName || e.name != "" {
		if extra != "" && words {
			p.write(extra)
			p.write(" of ")
			extra = ""
		}
		from := len(p.out)
		p.write(e.name)
		if e.name == "" {
			if name := p.child(n, 1); p.kind(name) != swPrivateName {
				p.print(name, depth)
			}
			if private := p.childOf(n, swPrivateName); private != 0 {
				p.print(private, depth)
			}
		}
		if len(p.out) > from && extra != "" {
			p.write(".")
		}
	}
	p.write(extra)
}

// entityType writes the generic parameters of a function and the labels of its parameters.
func (p *printer) entityType(n, arguments ref, depth int, words bool) {
	t := p.inType(p.childOf(n, swType))
	f := t
	for p.kind(f) == swGenericType {
		f = p.inType(p.child(f, 1))
	}
	convention := strings.TrimSpace(p.nodes[f].text)
	if p.kind(f) != swFunctionType || convention != "" && !strings.HasPrefix(convention, "@convention(c") &&
		!strings.HasPrefix(convention, "@convention(thin") {
		return // of other types nothing is shown
	}

	if words || p.needsBlank(t) {
		p.write(" ")
	}
	labels := p.childOf(n, swLabels)
	if labels == 0 && arguments == 0 {
		p.print(t, depth)
		return
	}
	if arguments != 0 {
		p.write("<")
		p.list(arguments, depth, ", ")
		p.write(">")
	}
	if p.kind(t) == swGenericType {
		if arguments == 0 {
			p.print(p.child(t, 0), depth)
		}
		t = p.child(t, 1)
		if p.needsBlank(t) {
			p.write(" ")
		}
		t = p.inType(t)
	}
	p.function(t, labels, depth)
}

// needsBlank reports whether a type stands after a blank: those that begin with parentheses or
// generic parameters do not.
func (p *printer) needsBlank(t ref) bool {
	t = p.inType(t)
	switch p.kind(t) {
	case swGenericType:
		return false
	case swFunctionType:
		convention := p.nodes[t].text
		return convention != "" && convention != functionTypes['E']
	}
	return true
}
