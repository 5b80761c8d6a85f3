package cxx

import "symkit/internal/demangle/lex"

// GCC and Clang mangle a dependent name with a scope, such as has<T>::value, differently.
//
// Clang follows the ABI's <unresolved-name> (Itanium C++ ABI §5.1.6.1): the scope is a list of plain
// names up to an E, sr3hasIT_EE5value, or a type with such names, srNT_4typeE5value. None of the names
// is a candidate for substitution; the type in front of them is one.
//
// GCC writes the scope as the type that it is: sr3hasIT_E5value, srSt8is_voidIT_E5value,
// srN2ns3hasIT_EE5value, srNT_4typeE5value. As in every <type>, each template and each prefix is a
// candidate.
//
// So the numbers of all later substitutions depend on the compiler, and srNT_4typeE5value can be from
// either. A name is read by Clang's rule until a scope shows that GCC wrote the name. If the whole name
// is invalid by Clang's rule, for example because a substituted candidate does not exist, the name is
// read again by GCC's rule (see Reader.encoding). Clang's rule comes first because GCC's makes more
// candidates: by GCC's rule, all numbers in a name of Clang's exist.

// setScopeRule sets the rule that a scope shows, and fails if another scope of the name
// has shown the other one.
func (x *tree) setScopeRule(rule scopeRule) {
	switch x.scopes {
	case scopeUnknown:
		x.scopes = rule
	case rule:
	default:
		x.fail()
	}
}

// unresolvedName reads the part after sr of <unresolved-name>.
func (x *tree) unresolvedName() (scope ref) {
	if x.scopeAt == 0 || x.pos < x.scopeAt {
		x.scopeAt = x.pos
	}

	// What begins like a scope of GCC's settles the rule.
	if !x.forced && x.isScopeOfGCC() {
		x.setScopeRule(scopeGCC)
	}
	c := x.peek()
	listed := c == 'N' || lex.IsDigit(c)
	switch {
	case !listed && c != 'T' && c != 'D' && c != 'S':
		return x.fail()
	case !listed, x.scopes == scopeGCC:
		scope = x.typ()
		return x.two(kindQualified, scope, x.baseName())
	}

	// Clang's scope: an optional type, then names up to an E.
	x.setScopeRule(scopeClang)
	if x.accept('N') {
		if c := x.peek(); c != 'T' && c != 'D' && c != 'S' {
			return x.fail()
		}
		scope = x.typ()
	}
	for !x.failed && !x.accept('E') {
		name := x.maybeTemplate(x.tags(x.sourceName(), len(x.out)))
		if scope == 0 {
			scope = name
		} else {
			scope = x.two(kindQualified, scope, name)
		}
	}
	return x.two(kindQualified, scope, x.baseName())
}

// isScopeOfGCC reports whether the scope that comes next begins as only GCC begins one: with std,
// with N and a name, or with a substitution of either that is no <unresolved-type>.
func (x *tree) isScopeOfGCC() bool {
	rest := x.in[x.pos:]
	switch {
	case len(rest) < 2:
		return false
	case rest[0] == 'S':
		return !x.isDependent(x.pos)
	case rest[0] == 'N' && rest[1] == 'S':
		return !x.isDependent(x.pos + 1)
	case rest[0] != 'N':
		return false
	}
	return lex.IsDigit(rest[1])
}

// isDependent reports whether the substitution at a position is a template parameter, something
// made of one, or a decltype.
func (x *tree) isDependent(at int) bool {
	pos := x.pos
	x.pos = at + 1
	c := x.peek()
	if c != '_' && !lex.IsDigit(c) && !lex.IsUpper(c) {
		x.pos = pos
		return false
	}

	// A numbered substitution: look at its candidate, without reading it.
	id := x.seqID()
	if x.failed || id >= len(x.subs) {
		x.fail()
		return false
	}
	x.pos = pos
	n := &x.nodes[x.subs[id].node]
	return n.flags&(flagParam|flagAuto) != 0 || n.kind == kindDecltype
}

// baseName reads <base-unresolved-name> except destructors.
func (x *tree) baseName() ref {
	if x.peek() != 'o' || x.peek2() != 'n' {
		return x.simpleID()
	}

	x.pos += 2
	name := x.operatorName()
	if x.isCast(name) {
		return x.fail()
	}
	return x.maybeTemplate(name)
}
