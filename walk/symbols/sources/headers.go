package sources

import (
	"debug/elf"

	"symkit/elfx"
	"symkit/elfx/identity"
	"symkit/internal/wire"
	"symkit/walk"
)

// maxHeaders bounds the program headers that are read of all modules, which can share the memory.
// A file has some dozens.
const maxHeaders = 1 << 20

// Headers reads the program headers of the modules without a build id from the memory of the process,
// where a dump that does not list them has it. They show which file is a module's, whatever its
// name.
func (f *Files) Headers(p *walk.Process) {
	left := maxHeaders
	for _, m := range p.Modules {
		if m.BuildID != nil || m.Segments != nil || m.Image != nil {
			continue
		}
		file := f.headersAt(p, m.Base, &left)
		if file == nil {
			continue
		}
		arch, err := identity.Arch(file)
		if err == nil && arch == p.CPU && file.Type != elf.ET_CORE {
			m.Segments, m.Bias = file.Segments, m.Base-file.LoadAddress()
		}
	}
}

// headersAt returns a file of the headers at an address; nil if there are none. left is the number of
// program headers that may still be read.
func (f *Files) headersAt(p *walk.Process, base uint64, left *int) *elfx.File {
	head := p.Memory.Bytes(base, 52) // of the 32-bit class, the shorter one
	if head == nil || string(head[:4]) != elf.ELFMAG {
		return nil
	}

	size, word, phoff, phentsize := uint64(52), 4, uint64(28), uint64(42)
	if head[elf.EI_CLASS] == byte(elf.ELFCLASS64) {
		size, word, phoff, phentsize = 64, 8, 32, 54
	}
	head = p.Memory.Bytes(base, size)
	c := wire.New("ELF header", head, p.BigEndian)
	c.Seek(phoff)
	table := c.Uint(word)
	c.Seek(phentsize)
	entry, n := uint64(c.U16()), int(c.U16())
	*left -= n
	if c.Err() != nil || *left < 0 || table > 1<<20 {
		return nil
	}
	data := p.Memory.Bytes(base, max(size, table+entry*uint64(n)))
	if data == nil {
		return nil
	}
	file, err := f.options().NewFile("", data)
	if err != nil || len(file.Segments) == 0 || file.BigEndian != p.BigEndian {
		return nil
	}
	return file
}
