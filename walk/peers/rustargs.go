package peers

import (
	"strings"

	"symkit/walk"
)

// With --recover-function-args, rust-minidump guesses the arguments of functions on 32-bit
// x86: their types are in the names of C++ functions, and their values on the stack, above
// the return address.

// arguments prints the arguments of frame i of a stack, if its name has their types.
func (w *rustWriter) arguments(s *walk.Stack, i int) {
	p, t := w.r.Process, s.Thread
	f := &s.Frames[i]
	if p.CPU != "x86" || t.StackSize == 0 || f.Place.Func == "" {
		return
	}
	scope, types, ok := argumentTypes(f.Place.Func)
	if !ok {
		return
	}

	// The arguments are between the stack pointers of the caller and its caller.
	end := t.StackBase + t.StackSize
	at, limit := end, end
	if i+1 < len(s.Frames) {
		at = s.Frames[i+1].SP
	}
	if i+2 < len(s.Frames) {
		limit = s.Frames[i+2].SP
	}

	convention, n := "cdecl [static function]", 0
	if strings.Contains(scope, "::") {
		convention = "windows thiscall [C++ member function]"
	}
	w.printf("    Arguments (assuming %s)\n", convention)
	if strings.Contains(scope, "::") {
		value, known := w.accumulator(f)
		w.argument(n, "this", value, known)
		n++
	}
	for _, name := range types {
		var value uint64
		known := at < limit
		if known {
			value, known = w.stackWord(t, at)
			at += 4
		}
		w.argument(n, name, value, known)
		n++
	}
	w.printf("\n")
}

// argument prints one argument.
func (w *rustWriter) argument(n int, name string, value uint64, known bool) {
	if !known {
		w.printf("        arg %d (%s) = <unknown>\n", n, name)
		return
	}
	w.printf("        arg %d (%s) = 0x%08x\n", n, name, value)
}

// accumulator returns eax of a frame.
func (w *rustWriter) accumulator(f *walk.Frame) (value uint64, known bool) {
	for _, reg := range f.Registers {
		if reg.Name == "eax" {
			return reg.Value, true
		}
	}
	return 0, false
}

// stackWord reads four bytes of a thread's stack.
func (w *rustWriter) stackWord(t *walk.Thread, at uint64) (value uint64, known bool) {
	if at < t.StackBase || at-t.StackBase+4 > t.StackSize {
		return 0, false
	}
	b := w.r.Process.Memory.Bytes(at, 4)
	if b == nil {
		return 0, false
	}
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24, true
}

// argumentTypes returns the types in the parentheses of a function's name, and the text
// before the parentheses. It returns false for a name without them or with unequal
// brackets.
func argumentTypes(name string) (scope string, types []string, ok bool) {
	scope, list, ok := strings.Cut(name, "(")
	end := strings.LastIndexByte(list, ')')
	if !ok || end < 0 {
		return "", nil, false
	}
	list = list[:end]

	// A comma inside of brackets separates no arguments.
	start, angles, parens := 0, 0, 0
	for i := range len(list) {
		switch list[i] {
		case '<':
			angles++
		case '>':
			angles--
		case '(':
			parens++
		case ')':
			parens--
		case ',':
			if angles == 0 && parens == 0 {
				types = append(types, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
		if angles < 0 || parens < 0 {
			return "", nil, false
		}
	}
	return scope, append(types, strings.TrimSpace(list[start:])), angles == 0 && parens == 0
}
