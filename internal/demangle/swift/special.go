package swift

import (
	"slices"

	"symkit/internal/demangle/lex"
)

// specialization reads a specialization of a function. Its arguments are not shown.
func (r *Reader) specialization(c byte) ref {
	switch c {
	case 'g', 'G', 'B', 's', 'i':
		return r.genericSpecialization()
	case 't': // arguments that were dropped
		for more := true; more; more = r.take('t') {
			r.natural()
		}
		if r.oneOf("gGB") == 0 {
			return 0
		}
		return r.genericSpecialization()
	case 'p', 'P':
		if !r.specializationPass() || r.popKind(swType) == 0 {
			return 0
		}
		return r.node(swSpecialization, "", 0)
	case 'f':
		return r.functionSpecialization()
	}
	return 0
}

// specializationPass reads which pass made the specialization.
func (r *Reader) specializationPass() bool {
	r.take('q')
	r.take('a')
	return lex.IsDigit(r.next())
}

func (r *Reader) genericSpecialization() ref {
	if !r.specializationPass() || r.popTypeList() == 0 {
		return 0
	}
	return r.node(swSpecialization, "", 0)
}

// What a parameter of a specialized function has on the stack.
const (
	popsNothing = iota
	popsName
	popsTypes // and a name
)

// functionSpecialization reads a specialization for some arguments of a function.
func (r *Reader) functionSpecialization() ref {
	if !r.specializationPass() {
		return 0
	}
	var parameters []int
	for !r.take('_') {
		pops, ok := r.specializedParameter()
		if !ok {
			return 0
		}
		parameters = append(parameters, pops)
	}
	if !r.take('n') {
		if _, ok := r.specializedParameter(); !ok {
			return 0
		}
	}

	// The last parameter is the top of the stack.
	for _, pops := range slices.Backward(parameters) {
		if pops == popsNothing {
			continue
		}
		for r.popKind(swType) != 0 {
			if pops != popsTypes {
				return 0
			}
		}
		if r.popKind(swIdentifier) == 0 {
			return 0
		}
	}
	return r.node(swSpecialization, "", 0)
}

// specializedParameter reads what was done to a parameter.
func (r *Reader) specializedParameter() (pops int, ok bool) {
	options := ""
	switch r.next() {
	case 'n', 'i', 's', 'r', 'x':
	case 'c':
		return popsTypes, true
	case 'p':
		return r.constantParameter()
	case 'e':
		options = "DGOX"
	case 'd':
		options = "GOX"
	case 'g', 'o':
		options = "X"
	default:
		return 0, false
	}
	for i := range len(options) {
		r.take(options[i])
	}
	return popsNothing, true
}

// constantParameter reads a parameter that is constant.
func (r *Reader) constantParameter() (pops int, ok bool) {
	switch r.next() {
	case 'f', 'g':
		return popsName, true
	case 'i', 'd':
		from := r.pos
		for lex.IsDigit(r.peek()) {
			r.pos++
		}
		return popsNothing, r.pos > from
	case 's':
		return popsName, r.oneOf("bwc") != 0
	case 'k':
		return popsTypes, true
	}
	return 0, false
}
