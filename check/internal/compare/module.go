package compare

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"symkit/check/internal/checks"
	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/truth/image"
	"symkit/check/report"
	"symkit/emit"
)

// Given has values that the MODULE record may have besides those that the file itself gives.
type Given struct {
	Names  []string
	ID, OS string
}

// moduleReport reports what the image says about the MODULE record.
type moduleReport struct {
	*Input
	Given
	c *collect.Outcome
}

// Module checks MODULE and INFO CODE_ID. other describes the two modules if the symbol file is of
// another one than the ELF file.
func Module(in *Input, given Given) (found *collect.Outcome, other string) {
	r := &moduleReport{in, given, collect.New(in.Report)}
	r.c.Begin(checks.Module, "fields")
	if in.Sym.Module.Arch == "" {
		r.c.Missing(report.Finding{Check: checks.Module, What: "no MODULE record"}, 1)
		return r.c, ""
	}
	return r.c, r.module()
}

func (r *moduleReport) module() (other string) {
	c, s := r.c, r.Sym

	// Architecture and operating system.
	wrong := func(what string) { c.Wrong(collect.At(checks.Module, 1, 0, "%s", what), 1) }
	main := r.Truth.Image.Main
	c.Compared(checks.Module, 2)
	if want := image.ArchName(main.Machine, main.Class, main.Flags); want == "" {
		c.Unverified(checks.Module, 1, fmt.Sprintf("the name of machine %v is not known", main.Machine))
	} else if s.Module.Arch != want {
		wrong(fmt.Sprintf("the architecture is %s", want))
	}
	if want := r.OS; s.Module.OS != want && (want != "" || s.Module.OS != "Linux") {
		wrong("the operating system is " + cmp.Or(want, "Linux"))
	}

	// Name and id.
	id, names := image.Identity(r.Truth.Image, r.Names)
	c.Compared(checks.Module, 3)
	if !slices.Contains(names, naming.Escaped(s.Module.Name)) {
		wrong(fmt.Sprintf("the name is %s", strings.Join(names, " or ")))
	}

	want, known := r.checkID(id, wrong)
	if !known {
		return ""
	}
	return r.otherModule(want, names)
}

// otherModule describes the two modules if the symbol file's id is not want, that of the ELF file.
func (r *moduleReport) otherModule(want string, names []string) string {
	m := r.Sym.Module
	if m.ID == want {
		return ""
	}
	kind := "module"
	if slices.Contains(names, naming.Escaped(m.Name)) {
		kind = "build"
	}
	return fmt.Sprintf("the symbol file is of another %s, so that the findings below say little: it is of %s %s, the ELF file is %s %s; give the file with that id",
		kind, naming.Escaped(m.Name), m.ID, names[0], want)
}

// checkID compares the ids with the build id or, without a build id, with Breakpad's hash of the
// code. It returns the id that MODULE must have; known is false if any id may be right.
func (r *moduleReport) checkID(id []byte, wrong func(string)) (want string, known bool) {
	s := r.Sym
	code, has := s.Info(emit.KeyCodeID)
	given := r.ID != "" && strings.EqualFold(s.Module.ID, r.ID)
	if id == nil {
		id = image.TextHash(r.Truth.Image.Main)
		// Breakpad writes the hash in INFO CODE_ID too.
		if has && (id == nil || code.Text != image.UpperHex(id)) {
			r.c.Wrong(collect.At(checks.Module, code.Line, 0, "there is no build id"), 1)
		}

		// An id that the user gave with --id counts if the file itself has no id.
		object := r.Truth.Image.Main.Type == elf.ET_REL // the build of an object file decides on its id
		if (id == nil || object) && r.ID != "" {
			if !given {
				wrong("the id is " + r.ID)
			}
			return "", false
		} else if id == nil {
			r.c.Unverified(checks.Module, 1, "neither build id nor code to make an id of")
			return "", false
		}
	} else {
		want := image.UpperHex(id)
		text, _, _ := strings.Cut(code.Text, " ")
		if !has {
			r.c.Missing(report.Finding{Check: checks.Module, What: "no INFO CODE_ID: the build id is " + want}, 1)
		} else if text != want {
			r.c.Wrong(collect.At(checks.Module, code.Line, 0, "the build id is %s", want), 1)
		}
	}

	want = image.DebugID(id, r.Truth.Image.Main.BigEndian)
	if s.Module.ID != want && !given {
		wrong("the id is " + want)
	}
	return want, !given
}
