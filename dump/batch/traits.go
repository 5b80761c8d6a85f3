package batch

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"strings"

	"symkit/elfx"
	"symkit/elfx/companion"
)

// The reasons that a file that was found is no module.
var (
	errCore   = errors.New("a core file")
	errObject = errors.New("an object file without a build id")
)

// traits of a file decide to which module the file belongs, and its part in the module.
type traits struct {
	id            string // build id and machine; empty without a build id
	buildID       string
	alt           string // build id of the supplementary file
	loaded, dwarf bool
	size          int64
	core, object  bool
	err           error
}

// why returns the reason that a file is no module, or nil. found states that the file was found, not named, and
// member that it is in an archive.
func (t *traits) why(found, member bool) error {
	switch {
	case found && t.core:
		return errCore
	case found && t.object && t.id == "" && !member:
		return errObject
	}
	return nil
}

// traitsOf returns the traits of an opened file.
func traitsOf(f *elfx.File) (t traits) {
	// A truncated copy must not be part of the module of the complete file.
	if err := f.Complete(); err != nil {
		return traits{err: err}
	}

	if id := f.BuildID(); id != nil {
		t.id = fmt.Sprintf("%s%d %d %t", id, f.Machine, f.Class, f.BigEndian)
		t.buildID = t.id[:len(id)]
	}
	t.size, t.loaded = int64(f.Size()), f.HoldsLoaded()
	t.core, t.object = f.Type == elf.ET_CORE, f.Type == elf.ET_REL
	for _, name := range []string{".debug_info", ".debug_line"} {
		s := f.Section(name)
		t.dwarf = t.dwarf || s != nil && s.Present()
	}

	// Stripped programs may still name the supplementary file.
	if link, err := companion.ReadAltLink(f); err == nil && t.dwarf {
		t.alt = string(link.ID)
	}
	return t
}

// base returns the last part of a path, which may be inside an archive.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// isELF reports whether a file that begins with start is an ELF file.
func isELF(start []byte) bool { return bytes.HasPrefix(start, []byte(elf.ELFMAG)) }
