package demangle

import "slices"

// specialization reads a specialization of a function. Its arguments are not shown.
func (r *swiftReader) specialization(c byte) swiftRef {
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
func (r *swiftReader) specializationPass() bool {
	r.take('q')
	r.take('a')
	return isDigit(r.next())
}

func (r *swiftReader) genericSpecialization() swiftRef {
	if !r.specializationPass() || r.popTypeList() == 0 {
		return 0
	}
	return r.node(swSpecialization, "", 0)
}

// What a parameter of a specialized function has on the stack.
const (
	swiftPopsNothing = iota
	swiftPopsName
	swiftPopsTypes // and a name
)

// functionSpecialization reads a specialization for some arguments of a function.
func (r *swiftReader) functionSpecialization() swiftRef {
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
		if pops == swiftPopsNothing {
			continue
		}
		for r.popKind(swType) != 0 {
			if pops != swiftPopsTypes {
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
func (r *swiftReader) specializedParameter() (pops int, ok bool) {
	options := ""
	switch r.next() {
	case 'n', 'i', 's', 'r', 'x':
	case 'c':
		return swiftPopsTypes, true
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
	return swiftPopsNothing, true
}

// constantParameter reads a parameter that is constant.
func (r *swiftReader) constantParameter() (pops int, ok bool) {
	switch r.next() {
	case 'f', 'g':
		return swiftPopsName, true
	case 'i', 'd':
		from := r.pos
		for isDigit(r.peek()) {
			r.pos++
		}
		return swiftPopsNothing, r.pos > from
	case 's':
		return swiftPopsName, r.oneOf("bwc") != 0
	case 'k':
		return swiftPopsTypes, true
	}
	return 0, false
}
