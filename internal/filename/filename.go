// Package filename turns the names of modules, which come from input files, into names
// of files that are valid on all usual systems. The writers of symbol stores and those
// that look files up in them use the same rule.
package filename

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns the file name for a module's name:
//
//   - Everything up to the last slash or backslash is dropped, as in Breakpad's
//     processor.
//   - Each control character, bidirectional controls and line separators included, each byte
//     that is not UTF-8, and each of < > : " | ? *, which Windows allows in no name,
//     becomes _.
//   - Each dot or space at the end, which Windows drops, becomes _.
//   - The name of a Windows device gets a _ appended, before its extension: CON_,
//     nul_.so.
//   - An empty name, ".", and ".." become "_"; other names of dots only become all _.
//
// All other names, and the results of Escape, are returned unchanged. Two names can
// have the same result: in a store the modules' ids distinguish them.
func Escape(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	switch name {
	case "", ".", "..":
		return "_"
	}

	return escapeDevice(escapeEnd(escapeCharacters(name)))
}

func escapeCharacters(name string) string {
	var out strings.Builder
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)

		// Characters that change a terminal's display, damaged UTF-8, and characters that Windows
		// forbids.
		hidden := unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
		if hidden || r == utf8.RuneError && n == 1 || strings.ContainsRune(`<>:"|?*`, r) {
			out.WriteByte('_')
		} else {
			out.WriteString(name[:n])
		}

		name = name[n:]
	}
	return out.String()
}

func escapeEnd(name string) string {
	kept := strings.TrimRight(name, ". ")
	return kept + strings.Repeat("_", len(name)-len(kept))
}

// escapeDevice escapes the names that Windows reserves for devices, with any
// extension ("Naming Files, Paths, and Namespaces", Microsoft).
func escapeDevice(name string) string {
	base, _, _ := strings.Cut(name, ".")
	if !isDevice(strings.ToUpper(strings.TrimRight(base, " "))) {
		return name
	}
	return base + "_" + name[len(base):]
}

func isDevice(name string) bool {
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}

	// COM1 to COM9 and LPT1 to LPT9, with 0 and the superscript digits.
	for _, port := range []string{"COM", "LPT"} {
		if number, ok := strings.CutPrefix(name, port); ok && utf8.RuneCountInString(number) == 1 {
			return strings.Contains("0123456789¹²³", number)
		}
	}
	return false
}
