package cxx

// This file reads names with a module, friends' names, and structured bindings.

// module reads <module-name>, which W begins; outer is the module in front, or 0. Each part is a
// candidate for substitution.
func (x *tree) module(outer ref) ref {
	for x.accept('W') {
		partition := uint32(0)
		if x.accept('P') {
			partition = 1
		}
		name := x.sourceName()
		outer = x.node(kindModule, 0, outer, name, partition, 0)
		x.candidate(outer, 0)
	}
	return outer
}

// inModule reads the name in a module, and more parts of the module's name in front.
func (x *tree) inModule(module ref) ref {
	module = x.module(module)
	name := x.two(kindInModule, x.unqualifiedName(), module)
	x.rendered = false
	return name
}

// binding reads DC <source-name>+ E, the names of a structured binding.
func (x *tree) binding() ref {
	x.pos += 2
	mark := len(x.open)
	for !x.failed && !x.accept('E') {
		name := x.sourceName()
		x.open = append(x.open, name)
	}
	x.rendered = false
	return x.many(kindBinding, 0, mark)
}
