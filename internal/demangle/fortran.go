package demangle

import (
	"bytes"

	"symkit/internal/demangle/lex"
)

// fortranModule reads gfortran's name of a procedure of a module, "__module_MOD_procedure",
// or of a submodule, "__module.submodule_MOD_procedure". gfortran writes Fortran's names in
// lower case, so "_MOD_" cannot be part of a name. Names of the compiler's own procedures,
// "__copy_module_Type", begin with underscores and may have upper-case letters.
func fortranModule(name []byte) (string, bool) {
	module, procedure, ok := bytes.Cut(name[2:], []byte("_MOD_"))
	if !ok || !isFortran(module) || !isFortran(procedure) && !(bytes.HasPrefix(procedure, []byte("__")) && lex.IsWord(procedure)) {
		return "", false
	}
	return string(module) + "::" + string(procedure), true
}

// isFortran reports whether s is a Fortran identifier, or several with dots between
// them (a submodule's).
func isFortran(s []byte) bool {
	if len(s) == 0 || !lex.IsLower(s[0]) {
		return false
	}
	for _, b := range s {
		if !lex.IsLower(b) && !lex.IsDigit(b) && b != '_' && b != '.' {
			return false
		}
	}
	return true
}

// flang reads the names of LLVM's Fortran compiler (flang/docs/BijectiveInternalNameUniquing.md):
// "_Q", then scopes, each a letter and an identifier: M module, S submodule, F
// function around, P procedure. Identifiers have no upper case.
func flang(name []byte) (string, bool) {
	var out []byte
	kind := byte(0)
	for s := name[2:]; len(s) > 0; {
		kind = s[0]
		if bytes.IndexByte([]byte("MSFP"), kind) < 0 {
			return "", false
		}

		// Upper case begins the next scope.
		n := 1
		for n < len(s) && !lex.IsUpper(s[n]) {
			n++
		}
		if !isFortran(s[1:n]) {
			return "", false
		}

		// Scopes are joined by colons.
		if len(out) > 0 {
			out = append(out, "::"...)
		}
		out = append(out, s[1:n]...)
		s = s[n:]
	}
	return string(out), kind == 'P' || kind == 'F'
}

// fortran reads the name of a procedure outside of modules, which compilers
// write with an underscore, or two, at its end.
func fortran(name []byte) (string, bool) {
	base := bytes.TrimSuffix(name, []byte("_"))
	if len(base) == len(name) || !isFortran(base) {
		return "", false
	}

	// f77's convention has a second underscore if the name has one inside.
	if bytes.IndexByte(base, '_') >= 0 {
		base = bytes.TrimSuffix(base, []byte("_"))
	}
	return string(base), true
}
