package rawdump

import (
	"encoding/hex"
	"fmt"
	"strings"

	"symkit/internal/printable"
	"symkit/walk/internal/mdmp"
)

// The names of fields are as wide as those of the longest one.
const moduleWidth = 31

// modules writes MINIDUMP_MODULE_LIST. A module of an impossible size is left out; a name or a
// CodeView record that cannot be read costs the list.
func (p *printer) modules() {
	if !p.d.Has(mdmp.ModuleListStream) {
		return
	}
	for i := range p.d.Modules {
		m := &p.d.Modules[i]
		if !m.Name.Valid() || m.CVRecord.Size > 0 && m.CodeView.Raw == nil {
			return
		}
	}

	p.printf("MinidumpModuleList\n  module_count = %d\n\n", len(p.d.Modules))
	for i := range p.d.Modules {
		if p.err != nil {
			return
		}
		p.printf("module[%d]\n", i)
		p.record("MINIDUMP_MODULE", moduleWidth, p.d.Modules[i].ModuleRecord)
		p.identity(&p.d.Modules[i])
	}
}

// identity writes the lines on names, identifiers and version of a module.
func (p *printer) identity(m *mdmp.Module) {
	name, v := wide(m.Name, ""), &m.CodeView
	file, _, _ := strings.Cut(string(v.File), "\x00")
	file = printable.String(file)
	codeID, debugID := fmt.Sprintf("%08x%x", m.Time, m.Size), "00000000-0000-0000-0000-000000000000"
	signature := func(n uint32) { p.line(moduleWidth, "(cv_record).cv_signature", fmt.Sprintf("%#x", n)) }

	var record func()
	switch {
	case v.Signature == mdmp.SignaturePDB70:
		record = func() {
			signature(mdmp.SignaturePDB70)
			p.line(moduleWidth, "(cv_record).signature", v.GUID.String())
			p.line(moduleWidth, "(cv_record).age", fmt.Sprint(v.Age))
			p.line(moduleWidth, "(cv_record).pdb_file_name", `"`+file+`"`)
		}
		if p.d.System.OS.Mac() {
			codeID = hex.EncodeToString(v.ID)
		}
		if v.Identified() {
			debugID = withAge(v.GUID.String(), v.Age)
		}
	case v.Signature == mdmp.SignaturePDB20:
		record = func() {
			p.form(mdmp.Form{Width: moduleWidth}, v.PDB20)
			p.line(moduleWidth, "(cv_record).pdb_file_name", `"`+file+`"`)
		}
		debugID = withAge(fmt.Sprintf("%08X", v.PDB20.Time), v.Age)
	case v.Signature == mdmp.SignatureELF:
		record = func() {
			signature(mdmp.SignatureELF)
			p.line(moduleWidth, "(cv_record).build_id", hex.EncodeToString(v.ID))
		}
		file, codeID = name, ""
		if v.Identified() {
			codeID = hex.EncodeToString(v.ID)
			debugID = p.d.BuildGUID(v.ID).String()
		}
	case v.Raw != nil:
		record = func() { p.line(moduleWidth, "(cv_record)", hex.EncodeToString(v.Raw)) }
		codeID = ""
	default:
		record = func() { p.line(moduleWidth, "(cv_record)", "(null)") }
		if !p.d.System.OS.Windows() {
			codeID = ""
		}
	}

	p.line(moduleWidth, "(code_file)", `"`+name+`"`)
	p.line(moduleWidth, "(code_identifier)", `"`+codeID+`"`)
	record()
	p.line(moduleWidth, "(misc_record)", "(null)")
	p.line(moduleWidth, "(debug_file)", `"`+file+`"`)
	p.line(moduleWidth, "(debug_identifier)", `"`+debugID+`"`)
	p.line(moduleWidth, "(version)", `"`+p.d.Version(m)+`"`)
	p.printf("\n")
}

// withAge appends the age to an identifier, unless it is 0.
func withAge(id string, age uint32) string {
	if age == 0 {
		return id
	}
	return fmt.Sprintf("%s-%x", id, age)
}

// unloadedModules writes MINIDUMP_UNLOADED_MODULE_LIST. A module of an impossible size, or whose
// name cannot be read, costs the list.
func (p *printer) unloadedModules() {
	modules := p.d.UnloadedModules
	if !p.d.Whole(mdmp.UnloadedModuleListStream) {
		return
	}
	for i := range modules {
		if !modules[i].Name.Valid() {
			return
		}
	}

	p.printf("MinidumpUnloadedModuleList\n  module_count = %d\n\n", len(modules))
	for i := range modules {
		m := &modules[i]
		p.printf("module[%d]\n", i)
		p.record("MINIDUMP_UNLOADED_MODULE", moduleWidth, m.UnloadedRecord)
		p.line(moduleWidth, "(code_file)", `"`+wide(m.Name, "")+`"`)
		p.line(moduleWidth, "(code_identifier)", fmt.Sprintf(`"%08x%x"`, m.Time, m.Size))
	}
}
