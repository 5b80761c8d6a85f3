package sources

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/walk"
)

// AddCode completes the memory of a process whose dump has little code, as minidumps and
// microdumps, with the read-only segments of the modules' files. Walks of core files have this
// memory already.
func (f *Files) AddCode(p *walk.Process) {
	if p.OS == "Linux" || p.OS == "Android" {
		p.Memory = &codeMemory{p.Memory, p, f}
	}
}

// codeMemory is the memory of a dump with that of files.
type codeMemory struct {
	walk.Memory
	p     *walk.Process
	files *Files
}

// Bytes implements walk.Memory. What the process could write is not taken from a file.
func (c *codeMemory) Bytes(addr, n uint64) []byte {
	b := c.Memory.Bytes(addr, n)
	if b != nil {
		return b
	}
	m := c.p.ModuleAt(addr)
	mapping := c.p.MappingAt(addr)
	if m == nil || m.Image != nil || mapping != nil && mapping.Write {
		return nil
	}
	file, _ := c.files.Binary(m)
	if file == nil || m.BuildID == nil && !sameMachine(file, c.p) {
		return nil
	}

	// The addresses of a module's symbols count from its first segment.
	at := addr - m.Base + file.LoadAddress()
	if !readOnly(file, at) {
		return nil
	}
	return file.BytesAt(at, n)
}

// readOnly reports whether an address of a file is in a segment that cannot be written.
func readOnly(file *elfx.File, at uint64) bool {
	for i := range file.Segments {
		s := &file.Segments[i]
		if s.Type == elf.PT_LOAD && at-s.Vaddr < s.Memsz {
			return s.Flags&elf.PF_W == 0
		}
	}
	return false
}

// sameMachine reports whether a file that no build id confirms is for the machine of the process.
func sameMachine(file *elfx.File, p *walk.Process) bool {
	arch, err := identity.Arch(file)
	return err == nil && arch == p.CPU && file.BigEndian == p.BigEndian
}
