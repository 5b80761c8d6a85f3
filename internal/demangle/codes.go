package demangle

// codeTable maps the codes of a mangling to their texts. The table is data of the program,
// whereas a map of this size would be made at each start of a program that may see no such
// name.
type codeTable []struct{ code, text string }

// text returns the text of a code.
func (t codeTable) text(code []byte) (text string, ok bool) {
	for i := range t {
		if t[i].code == string(code) {
			return t[i].text, true
		}
	}
	return "", false
}
