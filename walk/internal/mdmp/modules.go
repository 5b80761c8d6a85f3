package mdmp

import (
	"fmt"

	"symkit/internal/wire"
)

// Module is MINIDUMP_MODULE: a file whose code is in the process.
type Module struct {
	Base     uint64
	Size     uint32
	Checksum uint32
	Time     uint32 // of the image, in seconds since 1970; Windows takes a hash for it
	Name     Text   // the path
	Version  FileVersion
	CodeView CodeView
	// MiscName is the name of a DBG file (IMAGE_DEBUG_MISC); hardly ever there.
	MiscName string
}

// End returns the first address after the module.
func (m *Module) End() uint64 { return m.Base + uint64(m.Size) }

// FileVersion is VS_FIXEDFILEINFO.
type FileVersion struct {
	Signature, StructVersion uint32
	FileHigh, FileLow        uint32
	ProductHigh, ProductLow  uint32
	FlagsMask, Flags         uint32
	OS, Type, Subtype        uint32
	DateHigh, DateLow        uint32
}

const (
	moduleSize         = 108
	unloadedModuleSize = 24
	versionSignature   = 0xfeef04bd
	versionStruct      = 0x00010000
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
		return fmt.Sprintf("%d.%d.%d.%d", v.FileHigh, v.FileLow, v.ProductHigh, v.ProductLow)
	}
	return fmt.Sprintf("%d.%d.%d.%d", v.FileHigh>>16, v.FileHigh&0xffff, v.FileLow>>16, v.FileLow&0xffff)
}

// readModules decodes MINIDUMP_MODULE_LIST. A module with an impossible range is
// lost. A module whose name or CodeView record is damaged loses only that record.
func (d *Dump) readModules(c wire.Cursor) error {
	n := count(&c, moduleSize)
	modules := make([]Module, 0, n)
	for range n {
		at := c.Pos()
		m := Module{Base: c.U64(), Size: c.U32(), Checksum: c.U32(), Time: c.U32()}
		nameAt := c.Pos()
		nameRVA := c.U32()
		m.Version = fileVersion(&c)
		cv, misc := location(&c), location(&c)
		c.Skip(16) // reserved

		// A module without a possible range can hold no address.
		if !validImage(m.Base, m.Size) {
			d.lose(ModuleListStream, &wire.Error{Section: Section, Offset: at, Err: ErrRange})
			continue
		}
		// Keep the module even if these records are damaged.
		var err error
		m.Name, err = d.name(uint64(nameRVA), nameAt)
		d.lose(ModuleListStream, err)
		m.CodeView, err = d.codeView(cv)
		d.lose(ModuleListStream, err)
		m.MiscName, err = d.debugMisc(misc)
		d.lose(ModuleListStream, err)
		modules = append(modules, m)
	}

	d.Modules = modules
	return c.Err()
}

// validImage reports whether a module of this size can be loaded at base. The end of the
// module may be the end of the address space.
func validImage(base uint64, size uint32) bool {
	return size != 0 && base+uint64(size)-1 >= base
}

func fileVersion(c *wire.Cursor) FileVersion {
	return FileVersion{
		Signature: c.U32(), StructVersion: c.U32(),
		FileHigh: c.U32(), FileLow: c.U32(), ProductHigh: c.U32(), ProductLow: c.U32(),
		FlagsMask: c.U32(), Flags: c.U32(), OS: c.U32(), Type: c.U32(), Subtype: c.U32(),
		DateHigh: c.U32(), DateLow: c.U32(),
	}
}

// UnloadedModule is MINIDUMP_UNLOADED_MODULE: a module that the process had loaded and
// unloaded.
type UnloadedModule struct {
	Base     uint64
	Size     uint32
	Checksum uint32
	Time     uint32
	Name     Text
}

// End returns the first address after the module.
func (m *UnloadedModule) End() uint64 { return m.Base + uint64(m.Size) }

// CodeID returns the module's identifier for Microsoft's symbol servers.
func (m *UnloadedModule) CodeID() string { return peID(m.Time, m.Size) }

// readUnloadedModules decodes MINIDUMP_UNLOADED_MODULE_LIST.
func (d *Dump) readUnloadedModules(c wire.Cursor) error {
	list := tableHeader(&c, unloadedModuleSize, false)
	modules := make([]UnloadedModule, 0, list.n)
	for range list.n {
		at := c.Pos()
		r := c.Sub(list.size)
		m := UnloadedModule{Base: r.U64(), Size: r.U32(), Checksum: r.U32(), Time: r.U32()}
		nameAt := r.Pos()
		name, err := d.name(uint64(r.U32()), nameAt)

		// Of an impossible range and a damaged name, only the range is noted.
		if !validImage(m.Base, m.Size) {
			err = &wire.Error{Section: Section, Offset: at, Err: ErrRange}
		}
		if err != nil {
			d.lose(UnloadedModuleListStream, err)
			continue
		}
		m.Name = name
		modules = append(modules, m)
	}

	d.UnloadedModules = modules
	return c.Err()
}

// peID returns the identifier of a PE image: its time stamp and size.
func peID(time, size uint32) string { return fmt.Sprintf("%08X%x", time, size) }
