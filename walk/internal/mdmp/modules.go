package mdmp

import (
	"fmt"

	"symkit/internal/wire"
)

// End returns the first address after the module.
func (m *ModuleRecord) End() uint64 { return m.Base + uint64(m.Size) }

const (
	versionSignature = 0xfeef04bd
	versionStruct    = 0x00010000
)

// Valid reports whether the module has a version.
func (v *FileVersion) Valid() bool {
	return v.Signature == versionSignature && v.StructVersion&versionStruct != 0
}

// Dotted returns the version as four numbers, or the empty string if there is no version.
// Writers for ELF systems store each number in a word, other writers in half a word.
func (v *FileVersion) Dotted(elf bool) string {
	switch {
	case !v.Valid():
		return ""
	case elf:
		return fmt.Sprintf("%d.%d.%d.%d", v.File[0], v.File[1], v.Product[0], v.Product[1])
	}
	return fmt.Sprintf("%d.%d.%d.%d", v.File[0]>>16, v.File[0]&0xffff, v.File[1]>>16, v.File[1]&0xffff)
}

// readModules decodes MINIDUMP_MODULE_LIST. A module with an impossible range is
// lost. A module whose name or CodeView record is damaged loses only that record.
func (d *Dump) readModules(c wire.Cursor) error {
	n, all := list[ModuleRecord](&c)
	d.Modules = make([]Module, 0, n)
	for r := range all {
		// A module without a possible range can hold no address.
		if !validImage(r.Base, r.Size) {
			d.lose(ModuleListStream, &wire.Error{Section: Section, Offset: r.At, Err: ErrRange})
			continue
		}
		// Keep the module even if these records are damaged.
		m := Module{ModuleRecord: *r}
		var err error
		m.Name, err = d.name(uint64(m.NameAt.RVA), m.NameAt.At)
		d.lose(ModuleListStream, err)
		m.CodeView, err = d.codeView(m.CVRecord)
		d.lose(ModuleListStream, err)
		m.MiscName, err = d.debugMisc(m.Misc)
		d.lose(ModuleListStream, err)
		d.Modules = append(d.Modules, m)
	}
	return c.Err()
}

// validImage reports whether a module of this size can be loaded at base. The end of the
// module may be the end of the address space.
func validImage(base uint64, size uint32) bool {
	return size != 0 && base+uint64(size)-1 >= base
}

// End returns the first address after the module.
func (m *UnloadedRecord) End() uint64 { return m.Base + uint64(m.Size) }

// CodeID returns the module's identifier for Microsoft's symbol servers.
func (m *UnloadedRecord) CodeID() string { return peID(m.Time, m.Size) }

// readUnloadedModules decodes MINIDUMP_UNLOADED_MODULE_LIST.
func (d *Dump) readUnloadedModules(c wire.Cursor) error {
	n, all := table[UnloadedRecord](&c, sizeOf[UnloadedRecord](), false)
	d.UnloadedModules = make([]UnloadedModule, 0, n)
	for m := range all {
		name, err := d.name(uint64(m.NameAt.RVA), m.NameAt.At)

		// Of an impossible range and a damaged name, only the range is noted.
		if !validImage(m.Base, m.Size) {
			err = &wire.Error{Section: Section, Offset: m.At, Err: ErrRange}
		}
		if err != nil {
			d.lose(UnloadedModuleListStream, err)
			continue
		}
		d.UnloadedModules = append(d.UnloadedModules, UnloadedModule{*m, name})
	}
	return c.Err()
}

// peID returns the identifier of a PE image: its time stamp and size.
func peID(time, size uint32) string { return fmt.Sprintf("%08X%x", time, size) }
