package cxx

// The name of a conversion operator, cv <type>, may have template parameters. They mean the
// arguments that follow the name, if the operator is a template, else those of the class
// around it. The type is read at once, as its parts are candidates for substitution, and again
// when the arguments are known.

// lateCast is a conversion operator whose type has template parameters.
type lateCast struct {
	cast       ref // its node, or 0
	start, end int // where its type begins and ends
	outer      ref // the innermost template in front
}

// castName reads the <type> of a conversion operator.
func (x *tree) castName() ref {
	old, start, template := x.inCast, x.pos, x.template
	x.inCast, x.template = true, hiddenTemplate
	to := x.typ()
	x.inCast, x.template, x.rendered = old, template, false
	cast := x.one(kindCast, to)
	if x.nodes[cast].flags&flagParam != 0 && x.hidden == 0 && !x.inCast {
		x.late = lateCast{cast: cast, start: start, end: x.pos}
		x.nodes[cast].flags &^= flagParam
	}
	return cast
}

// resolve reads the type of a conversion operator again, with the arguments of a template.
func (x *tree) resolve(late *lateCast, template ref) {
	if late.cast == 0 || x.failed {
		return
	}
	for template != 0 && x.nodes[template].kind != kindTemplate {
		template = x.nodes[template].b // behind the scope
	}
	if template == 0 {
		x.fail()
		return
	}

	// The type ends where it ended before.
	cast, old := late.cast, x.castEnd
	late.cast, x.castEnd = 0, late.end
	to := x.readAgain(sub{start: uint32(late.start), end: uint32(late.end)}, template)
	x.castEnd = old
	x.nodes[cast].a, x.rendered = x.use(to), false
}

// castParam is paramType in the type of a conversion operator: arguments that follow belong to the
// operator, unless others follow them.
func (x *tree) castParam() ref {
	a := x.hiddenParam()
	if x.peek() != 'I' {
		return a
	}

	// Read the arguments to see what follows them.
	pos, subs, open := x.pos, len(x.subs), len(x.open)
	x.candidate(a, 0)
	args := x.templateArgs(a, len(x.out))
	if !x.failed && x.peek() == 'I' {
		return args
	}
	x.failed, x.pos, x.subs, x.open = false, pos, x.subs[:subs], x.open[:open]
	x.retract(len(x.out))
	return a
}
