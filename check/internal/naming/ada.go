package naming

import (
	"strings"
)

// GNAT encodes the full names of Ada's subprograms (gcc/ada/exp_dbug.ads) in linkage names, and in
// DW_AT_name where a subprogram has no linkage name, as generic instances and ada_main do:
// "hello__v__first__3" is hello.v.first, the third of this name.

var (
	// adaSuffix matches the text after the last name: marks of nesting in bodies, the number of an
	// overloaded subprogram, the number of a nested subprogram.
	adaSuffix = lazy(`(?:X[nb]*)?(?:(?:__|\$)\d+(?:_\d+)*(?:X[nb]*)?)?(?:\.\d+)?$`)
	// adaPart is one name: an identifier or an operator, and the kind of code.
	adaPart = lazy(`^([a-z][a-z0-9]*(?:_[a-z0-9]+)*|O[a-z]+)(TKB?|[PN]|S[RWIO]|D[FA])?(?:X[nb]*)?$`)
	// adaEntry is the end of the body or the barrier of a protected type's entry.
	adaEntry = lazy(`_[BE]\d*s$`)
)

// adaOperators has the operators by their encoded names.
var adaOperators = map[string]string{
	"Oabs": "abs", "Oand": "and", "Omod": "mod", "Onot": "not", "Oor": "or", "Orem": "rem", "Oxor": "xor",
	"Oeq": "=", "One": "/=", "Olt": "<", "Ole": "<=", "Ogt": ">", "Oge": ">=",
	"Oadd": "+", "Osubtract": "-", "Oconcat": "&", "Omultiply": "*", "Odivide": "/", "Oexpon": "**",
}

// adaKinds has the decoded text of each kind of code in adaPart, and of each part of a type after
// "___".
var adaKinds = map[string]string{
	"": "", "TK": "", "TKB": "", "P": "", "N": "",
	"SR": "'Read", "SW": "'Write", "SI": "'Input", "SO": "'Output", "DF": ".Finalize", "DA": ".Adjust",
	"_elabb": "'Elab_Body", "_elabs": "'Elab_Spec", "_size": "'Size", "_alignment": "'Alignment", "_assign": `.":="`,
}

// adaName decodes a name. It returns false for a name that is not encoded in this manner.
func adaName(encoded string) (string, bool) {
	s := strings.TrimPrefix(encoded, "_ada_")
	s = s[:adaSuffix().FindStringIndex(s)[0]]
	s = adaEntry().ReplaceAllString(s, "")

	// After "___" stands a part of a type or an elaboration procedure.
	attribute := ""
	if at := strings.Index(s, "___"); at >= 0 {
		text, ok := adaKinds[s[at+2:]]
		if !ok {
			return "", false
		}
		s, attribute = s[:at], text
	}

	// Names of packages and tasks are in front; only the last name can be of another kind.
	parts := strings.Split(s, "__")
	for i, part := range parts {
		m := adaPart().FindStringSubmatch(part)
		if m == nil || i < len(parts)-1 && m[2] != "" && m[2] != "TK" {
			return "", false
		}

		name := m[1]
		if name[0] == 'O' {
			operator, ok := adaOperators[name]
			if !ok {
				return "", false
			}
			name = `"` + operator + `"`
		}
		parts[i] = name + adaKinds[m[2]]
	}
	return strings.Join(parts, ".") + attribute, true
}

// IsAda reports whether a language is Ada (DWARF 5 §7.12, and the later list of codes).
func IsAda(lang int64) bool {
	switch lang {
	case 0x03, 0x0d, 0x2e, 0x2f: // Ada83, Ada95, Ada2005, Ada2012
		return true
	}
	return false
}
