package lex

// CodeTable maps the codes of a mangling to their texts. The table is data of the program,
// whereas a map of this size would be made at each start of a program that may see no such
// name.
type CodeTable []struct{ Code, Value string }

// Text returns the text of a code.
func (t CodeTable) Text(code []byte) (text string, ok bool) {
	for i := range t {
		if t[i].Code == string(code) {
			return t[i].Value, true
		}
	}
	return "", false
}
