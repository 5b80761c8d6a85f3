package check

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"symkit/check/internal/collect"
	"symkit/check/internal/naming"
	"symkit/check/internal/truth"
	"symkit/check/report"
	"symkit/emit"
)

// ErrNoCode is the error for a core file.
var ErrNoCode = errors.New("a core file has no symbols: give one of the programs that it names")

// module checks MODULE and INFO CODE_ID.
func (r *replay) module() error {
	c, s := r.c, r.s
	c.Begin(report.CheckModule, "fields")
	if s.Module.Arch == "" {
		c.Missing(report.Finding{Check: report.CheckModule, What: "no MODULE record"}, 1)
		return nil
	}

	// Architecture and operating system.
	wrong := func(what string) { c.Wrong(collect.At(report.CheckModule, 1, 0, "%s", what), 1) }
	main := r.img.Main
	c.Compared(report.CheckModule, 2)
	if want := truth.ArchName(main.Machine, main.Class, main.Flags); want == "" {
		c.Unverified(report.CheckModule, 1, fmt.Sprintf("the name of machine %v is not known", main.Machine))
	} else if s.Module.Arch != want {
		wrong(fmt.Sprintf("the architecture is %s", want))
	}
	if want := r.opt.OS; s.Module.OS != want && (want != "" || s.Module.OS != "Linux") {
		wrong("the operating system is " + cmp.Or(want, "Linux"))
	}

	// Name and id.
	id, names := truth.Identity(r.img, r.opt.Names)
	c.Compared(report.CheckModule, 3)
	if !slices.Contains(names, naming.Escaped(s.Module.Name)) {
		wrong(fmt.Sprintf("the name is %s", strings.Join(names, " or ")))
	}

	if want, known := r.checkID(id, wrong); known {
		r.other = r.otherModule(want, names)
	}
	return nil
}

// otherModule describes the two modules if the symbol file's id is not want, that of the ELF file.
func (r *replay) otherModule(want string, names []string) string {
	m := r.s.Module
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
func (r *replay) checkID(id []byte, wrong func(string)) (want string, known bool) {
	s := r.s
	code, has := s.Info(emit.KeyCodeID)
	given := r.opt.ID != "" && strings.EqualFold(s.Module.ID, r.opt.ID)
	if id == nil {
		id = truth.TextHash(r.img.Main)
		// Breakpad writes the hash in INFO CODE_ID too.
		if has && (id == nil || code.Text != truth.UpperHex(id)) {
			r.c.Wrong(collect.At(report.CheckModule, code.Line, 0, "there is no build id"), 1)
		}

		// An id that the user gave with --id counts if the file itself has no id.
		object := r.img.Main.Type == elf.ET_REL // the build of an object file decides on its id
		if (id == nil || object) && r.opt.ID != "" {
			if !given {
				wrong("the id is " + r.opt.ID)
			}
			return "", false
		} else if id == nil {
			r.c.Unverified(report.CheckModule, 1, "neither build id nor code to make an id of")
			return "", false
		}
	} else {
		want := truth.UpperHex(id)
		text, _, _ := strings.Cut(code.Text, " ")
		if !has {
			r.c.Missing(report.Finding{Check: report.CheckModule, What: "no INFO CODE_ID: the build id is " + want}, 1)
		} else if text != want {
			r.c.Wrong(collect.At(report.CheckModule, code.Line, 0, "the build id is %s", want), 1)
		}
	}

	want = truth.DebugID(id, r.img.Main.BigEndian)
	if s.Module.ID != want && !given {
		wrong("the id is " + want)
	}
	return want, !given
}
