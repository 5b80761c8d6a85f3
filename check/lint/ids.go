package lint

import (
	"strings"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/symfile"
	"symkit/emit"
)

// ids compares the id of MODULE with the build id in INFO CODE_ID, of which the former is made in ELF files: its first
// 16 bytes as a GUID, and an age of 0. Consumers make the id in the same way from the build id of a crashed program,
// and never ask for another one.
func ids(s *symfile.File, c *collect.Outcome) {
	code, has := s.Info(emit.KeyCodeID)
	build, _, _ := strings.Cut(code.Text, " ")
	if !has || !isELF(s.Module.OS) || len(build) < shortestBuildID || !isHex(build) || len(s.Module.ID) != guidDigits+1 {
		return
	}
	little, big := moduleIDs(build)
	if !strings.EqualFold(s.Module.ID, little) && !strings.EqualFold(s.Module.ID, big) {
		c.Wrong(collect.At(checks.Consumers, 1, 0, "no program with the build id %s of INFO CODE_ID has this id: its id is %s", build, little), 1)
	}
}

// Digits of ids.
const (
	shortestBuildID = 16
	guidDigits      = 32
)

// isELF reports whether the modules of an operating system are ELF files, as far as tools name it in MODULE.
func isELF(os string) bool { return os == "Linux" || os == "Android" || os == "Fuchsia" }

// isHex reports whether a text is a whole number of bytes in hexadecimal digits.
func isHex(text string) bool {
	return len(text)%2 == 0 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// moduleIDs returns the ids that Breakpad makes of a build id: of little-endian files, in which the GUID's first three
// fields are reversed, and of big-endian ones. Shorter build ids are padded with zeros.
func moduleIDs(build string) (little, big string) {
	build = strings.ToUpper(build) + strings.Repeat("0", guidDigits)
	order := []int{3, 2, 1, 0, 5, 4, 7, 6} // bytes of the fields
	for _, i := range order {
		little += build[2*i : 2*i+2]
	}
	return little + build[16:guidDigits] + "0", build[:guidDigits] + "0"
}
