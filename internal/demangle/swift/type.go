package swift

// nominal reads a type that is declared.
func (r *Reader) nominal(k kind) ref {
	name := r.popIn(swIsName)
	return r.substitutable(r.typ(r.with(k, r.popContext(), name)))
}

// boundGenerics pops the arguments of a generic type, one list for each of the types that it is
// in, the innermost first.
func (r *Reader) boundGenerics() ([]ref, bool) {
	for r.popKind(swRetroactive) != 0 {
	}
	var lists []ref
	for {
		list := r.node(swTypeList, "", 0)
		for r.top() == swType {
			list = r.add(list, r.pop())
		}
		if list == 0 {
			return nil, false
		}
		lists = append(lists, r.reverse(list, 0))

		if r.popKind(swEmptyList) != 0 {
			return lists, true
		}
		if r.popKind(swFirst) == 0 {
			return nil, false
		}
	}
}

func (r *Reader) boundGeneric() ref {
	lists, ok := r.boundGenerics()
	nominal := r.popInType()
	if !ok || !r.kind(nominal).in(swIsNominal) {
		return 0
	}
	return r.substitutable(r.typ(r.bind(nominal, lists)))
}

// bind returns an entity with arguments for itself and for the types that it is in.
func (r *Reader) bind(entity ref, lists []ref) ref {
	kind, context := r.kind(entity), r.child(entity, 0)
	if len(lists) == 0 || context == 0 {
		return 0
	}
	args := lists[0]
	consumes := kind != swVariable && kind != swSubscript && kind != swClosure && kind != swDefaultArgument &&
		kind != swInitial && kind != swStatic
	if consumes {
		lists = lists[1:]
	}

	// The context has the other arguments.
	if len(lists) > 0 {
		var outer ref
		if r.kind(context) == swExtension {
			outer = r.with(swExtension, r.child(context, 0), r.bind(r.child(context, 1), lists))
			if s := r.child(context, 2); s != 0 {
				outer = r.add(outer, s)
			}
		} else {
			outer = r.bind(context, lists)
		}
		entity = r.inContext(entity, outer)
	}
	if !consumes || len(r.children(args)) == 0 {
		return entity
	}

	switch kind {
	case swFunction, swConstructor:
		return r.with(swBoundFunction, entity, args)
	}
	if bound := bound(kind); bound != swNone {
		return r.with(bound, r.typ(entity), args)
	}
	return 0
}

// bound returns the kind of a type with arguments.
func bound(k kind) kind {
	switch k {
	case swClass:
		return swBoundClass
	case swStruct:
		return swBoundStruct
	case swEnum:
		return swBoundEnum
	case swProtocol:
		return swBoundProtocol
	case swOtherNominal:
		return swBoundNominal
	case swAlias:
		return swBoundAlias
	}
	return swNone
}

// inContext returns a copy of an entity that has another context.
func (r *Reader) inContext(entity, context ref) ref {
	old := r.nodes[entity]
	n := r.add(r.node(old.kind, old.text, old.index), context)
	for i := 1; i < int(old.n); i++ {
		n = r.add(n, r.child(entity, i))
	}
	return n
}

// functionType reads a function's type: its annotations, parameters and result.
func (r *Reader) functionType(convention string) ref {
	f := r.node(swFunctionType, convention, 0)
	r.popKind(swSendingResult)
	if n := r.popKind(swIsolation); n != 0 {
		f = r.add(f, n)
	}
	if n := r.popKind(swDifferentiable); n != 0 {
		f = r.add(f, n)
	}
	r.popKind(swThrows)
	if n := r.popKind(swSendable); n != 0 {
		f = r.add(f, n)
	}
	r.popKind(swAsync)

	f = r.add(f, r.popParameters(swArguments))
	return r.typ(r.add(f, r.popParameters(swResult)))
}

// popParameters pops the parameters or the result of a function.
func (r *Reader) popParameters(k kind) ref {
	if r.popKind(swEmptyList) != 0 {
		return r.with(k, r.typ(r.node(swTuple, "", 0)))
	}
	return r.with(k, r.popKind(swType))
}

// popTupleElement pops an element of a tuple: its type, its label, and the mark of a
// parameter with any number of arguments.
func (r *Reader) popTupleElement() ref {
	e := r.node(swTupleElement, "", 0)
	variadic := r.popKind(swVariadic)
	var label ref
	if r.top() == swIdentifier {
		label = r.node(swTupleLabel, r.nodes[r.pop()].text, 0)
	}
	e = r.add(e, r.popKind(swType))
	if label != 0 {
		e = r.add(e, label)
	}
	if variadic != 0 {
		e = r.add(e, variadic)
	}
	return e
}
