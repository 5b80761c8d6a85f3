// Package filename turns names of modules, which are input, into names of files
// that every usual system can have. Who writes a symbol store and who looks
// things up in it use the same rule.
package filename

import (
	"strings"
	"unicode/utf8"
)

// Escape turns a module's name into that of a file:
//
//   - What follows the last slash or backslash counts, as in Breakpad's processor.
//   - A _ stands for each control character, each byte that is not UTF-8, and each
//     of < > : " | ? *, which Windows has in no name.
//   - A _ stands for each dot or space at the end, which Windows drops.
//   - A _ is put behind the name of a device of Windows, before its extension:
//     CON_, nul_.so.
//   - A name of nothing, or of dots only, is all _ then; an empty one is "_".
//
// All other names stay as they are, and so does what Escape returned. Two names
// can become one: in a store the module's id tells them apart.
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
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1 || strings.ContainsRune(`<>:"|?*`, r) {
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

// escapeDevice escapes the names that Windows has for devices, with any
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
	for _, port := range []string{"COM", "LPT"} {
		if number, ok := strings.CutPrefix(name, port); ok && utf8.RuneCountInString(number) == 1 {
			return strings.Contains("0123456789¹²³", number)
		}
	}
	return false
}
