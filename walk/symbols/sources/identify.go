package sources

import (
	"bytes"
	"debug/elf"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/walk"
)

// A library in an APK that was linked for pages of 16 KiB has gaps between its segments in a process with pages of 4 KiB.
// Breakpad's writer then lists the part with the code alone: base.apk without a build id, since no ELF header is there.

// Identify gives the modules without a build id that are parts of libraries in archives their identity and place: that of
// the one library of the archives at hand that lies around the module's file offset, and whose segments are where the
// process has mappings with the same protection.
func (f *Files) Identify(p *walk.Process) {
	moved := false
	for _, m := range p.Modules {
		if m.Offset == 0 || m.BuildID != nil || m.Image != nil || len(p.Mappings) == 0 || !IsArchiveName(m.Path) {
			continue
		}
		moved = f.identify(p, m) || moved
	}
	if moved {
		p.SortModules()
	}
}

// identify is Identify for one module.
func (f *Files) identify(p *walk.Process, m *walk.Module) bool {
	var found *elfx.File
	var member string
	var bias, start uint64
	for _, path := range f.archivesOf(&walk.Module{Path: m.Path, Offset: m.Offset}) {
		for _, l := range f.archives.of(path, f.Limits) {
			at, stored := l.Start()
			if !stored || l.id == nil || m.Offset < at || m.Offset-at >= l.Size {
				continue
			}
			file, err := l.Open()
			if err != nil {
				continue
			}
			by, ok := laidOut(p, file, m.Offset-at, m.Base)
			switch {
			case !ok, found != nil && bytes.Equal(found.BuildID(), file.BuildID()):
				file.Close()
			case found != nil: // several libraries would do
				file.Close()
				found.Close()
				return false
			default:
				found, member, bias, start = file, l.Name, by, at
			}
		}
	}
	if found == nil {
		return false
	}
	defer found.Close()
	m.BuildID, m.Foreign = bytes.Clone(found.BuildID()), false
	m.DebugID, m.ShownID = identity.ModuleID(m.BuildID, found.BigEndian), ""
	m.Path, m.Offset = m.Path+elfx.Separator+member, start
	m.Name = m.File()
	m.DebugFile, m.CodeID = m.Name, ""
	m.Bias, m.Base = bias, bias+found.LoadAddress()
	for i := range found.Segments {
		s := &found.Segments[i]
		if s.Type == elf.PT_LOAD {
			m.End = max(m.End, bias+s.Vaddr+s.Memsz)
		}
	}
	return true
}

// laidOut returns the bias of a file whose byte at an offset is at an address of the process, and whether the process has
// mappings for all of the file's segments.
func laidOut(p *walk.Process, file *elfx.File, offset, addr uint64) (bias uint64, ok bool) {
	if !sameMachine(file, p) {
		return 0, false
	}
	const page = 4095
	for i := range file.Segments {
		s := &file.Segments[i]
		if s.Type == elf.PT_LOAD && s.Offset&^page == offset {
			bias, ok = addr-s.Vaddr&^page, true
			break
		}
	}
	for i := range file.Segments {
		s := &file.Segments[i]
		if s.Type != elf.PT_LOAD || !ok {
			continue
		}
		at := p.MappingAt(bias + s.Vaddr)
		ok = at != nil && at.Execute == (s.Flags&elf.PF_X != 0)
	}
	return bias, ok
}
