package rawdump

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// The names of fields are as wide as in moduleLayout.
const moduleLayout layout = `MINIDUMP_MODULE
  base_of_image                   = {x8}
  size_of_image                   = {x4}
  checksum                        = {x4}
  time_date_stamp                 = {t4}
  module_name_rva                 = {x4}
  version_info.signature          = {x4}
  version_info.struct_version     = {x4}
  version_info.file_version       = {x4}:{x4}
  version_info.product_version    = {x4}:{x4}
  version_info.file_flags_mask    = {x4}
  version_info.file_flags         = {x4}
  version_info.file_os            = {x4}
  version_info.file_type          = {x4}
  version_info.file_subtype       = {x4}
  version_info.file_date          = {x4}:{x4}
  cv_record.data_size             = {d4}
  cv_record.rva                   = {x4}
  misc_record.data_size           = {d4}
  misc_record.rva                 = {x4}
`

const moduleSize = 108 // with reserved fields

// module has the values that the text of a MINIDUMP_MODULE needs besides the fields.
type module struct {
	raw        wire.Cursor
	time, size uint32
	name       string
	version    mdmp.FileVersion
	record     []byte // CodeView, or nil
}

// modules writes MINIDUMP_MODULE_LIST. A module of an impossible size is left out; a name or a
// CodeView record that cannot be read costs the list.
func (p *printer) modules() {
	c, ok := p.list(mdmp.ModuleListStream, moduleSize)
	if !ok {
		return
	}

	var modules []module
	for c.Len() > 0 {
		m, possible, ok := p.module(c.Sub(moduleSize))
		if !ok {
			return
		}
		if possible {
			modules = append(modules, m)
		}
	}

	p.printf("MinidumpModuleList\n  module_count = %d\n\n", len(modules))
	for i := range modules {
		if p.err != nil {
			return
		}
		p.printf("module[%d]\n", i)
		p.fields(moduleLayout, modules[i].raw)
		p.identity(&modules[i])
	}
}

// module reads a MINIDUMP_MODULE. possible is false if the module's range is impossible; ok is
// false if the name or a record of the module cannot be read.
func (p *printer) module(c wire.Cursor) (m module, possible, ok bool) {
	m.raw = c
	base := c.U64()
	m.size = c.U32()
	c.Skip(4)
	m.time = c.U32()
	if m.size == 0 || base+uint64(m.size) < base {
		return m, false, true
	}

	m.name, ok = p.name(uint64(c.U32()))
	v := &m.version
	for _, field := range []*uint32{&v.Signature, &v.StructVersion, &v.FileHigh, &v.FileLow, &v.ProductHigh, &v.ProductLow} {
		*field = c.U32()
	}
	c.Skip(28)
	size, rva := c.U32(), c.U32()
	if size == 0 {
		return m, true, ok
	}
	record := p.at(rva, size)
	m.record = record.Rest()
	return m, true, ok && record.Err() == nil && len(m.record) >= recordSize(p.big, m.record)
}

// The formats of CodeView records, by their first four bytes.
const (
	pdb70 = 0x53445352
	pdb20 = 0x3031424e
	elf   = 0x4270454c
)

// recordSize returns the smallest size of a CodeView record of the same format.
func recordSize(big bool, record []byte) int {
	c := wire.New(section, record, big)
	switch c.U32() {
	case pdb70:
		return 24
	case pdb20:
		return 16
	}
	return 4
}

// identity writes the lines on names, identifiers and version of a module.
func (p *printer) identity(m *module) {
	var text, debugFile strings.Builder
	codeID, debugID := "", "00000000-0000-0000-0000-000000000000"
	image := fmt.Sprintf("%08x%x", m.time, m.size)
	c := wire.New(section, m.record, p.big)
	typ := c.U32()
	switch {
	case m.record == nil:
		text.WriteString("  (cv_record)                     = (null)\n")
		if p.system.os.Windows() {
			codeID = image
		}
	case typ == pdb70:
		guid, age := guid(&c), c.U32()
		debugFile.WriteString(upToNUL(c.Rest()))
		fmt.Fprintf(&text, "  (cv_record).cv_signature        = %#x\n  (cv_record).signature           = %s\n  (cv_record).age                 = %d\n  (cv_record).pdb_file_name       = \"%s\"\n", typ, guid, age, &debugFile)
		codeID = image
		if p.system.os.Mac() {
			codeID = strings.ReplaceAll(guid, "-", "")
		}
		if strings.Trim(guid, "0-") != "" {
			debugID = withAge(guid, age)
		}
	case typ == pdb20:
		offset, again := c.U32(), c
		signature, age := c.U32(), c.U32()
		debugFile.WriteString(upToNUL(c.Rest()))
		stamp := field{'t', 4}.append(nil, &again)
		fmt.Fprintf(&text, "  (cv_record).cv_header.signature = %#x\n  (cv_record).cv_header.offset    = %#x\n  (cv_record).signature           = %s\n  (cv_record).age                 = %d\n  (cv_record).pdb_file_name       = \"%s\"\n", typ, offset, stamp, age, &debugFile)
		codeID = image
		debugID = withAge(fmt.Sprintf("%08X", signature), age)
	case typ == elf:
		id := c.Rest()
		fmt.Fprintf(&text, "  (cv_record).cv_signature        = %#x\n  (cv_record).build_id            = %x\n", typ, id)
		debugFile.WriteString(m.name)
		if len(bytes.Trim(id, "\x00")) > 0 {
			codeID = hex.EncodeToString(id)
			var first [16]byte
			copy(first[:], id)
			c := wire.New(section, first[:], p.big)
			debugID = guid(&c)
		}
	default:
		fmt.Fprintf(&text, "  (cv_record)                     = %x\n", m.record)
	}

	p.printf("  (code_file)                     = \"%s\"\n  (code_identifier)               = \"%s\"\n", m.name, codeID)
	p.printf("%s  (misc_record)                   = (null)\n", &text)
	p.printf("  (debug_file)                    = \"%s\"\n  (debug_identifier)              = \"%s\"\n  (version)                       = \"%s\"\n\n", &debugFile, debugID, p.version(&m.version))
}

// version returns the version of a module in the form that the system uses.
func (p *printer) version(v *mdmp.FileVersion) string {
	switch {
	case v.Signature != 0xfeef04bd || v.StructVersion != 0x10000:
		return ""
	case p.system.os.Windows() || p.system.os.Mac():
		return fmt.Sprintf("%d.%d.%d.%d", v.FileHigh>>16, v.FileHigh&0xffff, v.FileLow>>16, v.FileLow&0xffff)
	}
	return fmt.Sprintf("%d.%d.%d.%d", v.FileHigh, v.FileLow, v.ProductHigh, v.ProductLow)
}

// guid reads a GUID: its first three fields are numbers of 4, 2 and 2 bytes.
func guid(c *wire.Cursor) string {
	a, b, d, e := c.U32(), c.U16(), c.U16(), c.Bytes(8)
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", a, b, d, e[:2], e[2:])
}

// withAge appends the age to an identifier, unless it is 0.
func withAge(id string, age uint32) string {
	if age == 0 {
		return id
	}
	return fmt.Sprintf("%s-%x", id, age)
}

const unloadedLayout layout = `MINIDUMP_UNLOADED_MODULE
  base_of_image                   = {x8}
  size_of_image                   = {x4}
  checksum                        = {x4}
  time_date_stamp                 = {t4}
  module_name_rva                 = {x4}
`

// unloadedModules writes MINIDUMP_UNLOADED_MODULE_LIST. A module of an impossible size, or whose
// name cannot be read, costs the list.
func (p *printer) unloadedModules() {
	c, size, ok := p.table(mdmp.UnloadedModuleListStream, unloadedLayout.size())
	if !ok {
		return
	}

	all, names := c, []string(nil)
	for c.Len() > 0 {
		m := c.Sub(uint64(size))
		base, length := m.U64(), m.U32()
		m.Skip(8)
		name, ok := p.name(uint64(m.U32()))
		if !ok || length == 0 || base+uint64(length) < base {
			return
		}
		names = append(names, name)
	}

	p.printf("MinidumpUnloadedModuleList\n  module_count = %d\n\n", len(names))
	for i, name := range names {
		m := all.Sub(uint64(size))
		p.printf("module[%d]\n", i)
		p.fields(unloadedLayout, m)
		m.Skip(8)
		length := m.U32()
		m.Skip(4)
		p.printf("  (code_file)                     = \"%s\"\n  (code_identifier)               = \"%08x%x\"\n", name, m.U32(), length)
	}
}
