// Package corefile reads ELF core files of Linux into a walk.Process: threads
// and registers, why the process died, its modules with their build ids, its
// memory, completed from the files on disk.
//
//	files := &sources.Files{Exe: "app"}
//	defer files.Close()
//	core, err := corefile.Open("core", corefile.Options{Files: files})
//	if err != nil {
//		return err
//	}
//	defer core.Close()
//	result, err := walk.Walk(ctx, core.Process, &elfsyms.Supplier{Files: files}, walk.Options{})
//
// The machines are x86, x86_64, arm, arm64, mips, mips64, ppc, ppc64, riscv64 and
// s390x; of others, Open returns errMachine.
package corefile

import (
	"debug/elf"
	"errors"
	"fmt"

	"symkit/elfx"
	"symkit/internal/mem"
	"symkit/limits"
	"symkit/walk"
	"symkit/walk/symbols/sources"
)

// ErrNotCore reports an ELF file that is not of type ET_CORE.
var ErrNotCore = errors.New("not a core file")

// errNoThreads reports a core file without a readable NT_PRSTATUS note.
var errNoThreads = errors.New("no threads: NT_PRSTATUS notes are missing or damaged")

// errSystem reports a core file of another system, or of no process.
var errSystem = errors.New("not a core file of a Linux process")

// errMachine reports a core file of a machine that has no layout of registers here.
var errMachine = errors.New("unsupported machine")

// Options say where a core file's modules are found and bound the cost of reading.
type Options struct {
	// Files finds the files that the modules were loaded from, whose bytes complete the
	// memory in the core file; nil: the core file alone. Files must stay open until the
	// Core is closed.
	Files *sources.Files
	// Limits bound the threads and notes: threads, notes and core-notes.
	Limits limits.Limits
	// Memory bounds the bytes of the process's memory that Read keeps; 0: 128 MiB.
	Memory uint64
}

// Core is an open core file.
type Core struct {
	Process *walk.Process

	file      *elfx.File
	data      []byte // of a file; nil for a stream
	notes     []part // of a stream
	size      uint64 // bytes of the core file
	unmap     func() error
	layout    *layout
	files     *sources.Files
	limits    limits.Limits
	mem       *memory
	aux       map[uint64]uint64
	auxVector []byte // NT_AUXV as it is
	mapped    []mappedFile
	fault     fault
	// deleted has the paths of the mapped files that the kernel marks as deleted.
	deleted map[string]bool
	// threadPointers are the addresses of the threads' control blocks, where they are known.
	threadPointers []uint64
	// headersAt caches the headers of loaded files by address. An entry that is nil
	// records that no ELF header is there. tables counts the program and
	// section headers that were read.
	headersAt map[uint64]*elfx.File
	tables    int
}

// Open reads the core file at path, which stays mapped until Close. Damaged and
// missing parts are reported in the process's Warnings, except for the threads:
// without them Open returns an error. Callers read the process's memory under
// elfx.Guard.
func Open(path string, opt Options) (*Core, error) {
	file, err := mem.Open(path)
	if err != nil {
		return nil, err
	}
	c, err := New(path, file.Bytes(), opt)
	if err != nil {
		file.Release()
		return nil, err
	}
	c.unmap = file.Release
	return c, nil
}

// New reads a core file that is in memory, as Open does. In errors the file is called name.
func New(name string, data []byte, opt Options) (c *Core, err error) {
	// The data can be a mapped file: Guard turns the fault after a truncation into an error.
	changed := mem.Guard(func() error {
		c, err = read(name, data, opt)
		return nil
	})
	if changed != nil {
		return nil, fmt.Errorf("%s: %w", name, changed)
	}
	return c, err
}

// Close closes the core file. The process must not be used after Close.
func (c *Core) Close() error {
	if c.unmap == nil {
		return nil
	}
	return c.unmap()
}

// read makes the process of a core file.
func read(name string, data []byte, opt Options) (*Core, error) {
	f, err := elfx.Options{Limits: opt.Limits}.NewFile(name, data)
	if err != nil {
		return nil, err
	}
	c, err := begin(name, f, opt)
	if err != nil {
		return nil, err
	}

	// The notes have the threads, the auxiliary vector and the mapped files, from which the
	// modules are found.
	c.data, c.size = data, uint64(len(data))
	c.mem = newMemory(f, c, nil, nil)
	err = c.readNotes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, c.finish()
}

// begin makes a process of which only the machine is known.
func begin(name string, f *elfx.File, opt Options) (*Core, error) {
	if f.Type != elf.ET_CORE {
		return nil, fmt.Errorf("%s: %w", name, ErrNotCore)
	}

	l := layoutOf(f)
	if l == nil {
		return nil, fmt.Errorf("%s: %w: %v", name, errMachine, f.Machine)
	}

	c := &Core{file: f, layout: l, files: opt.Files, limits: opt.Limits, aux: map[uint64]uint64{}, deleted: map[string]bool{}, headersAt: map[uint64]*elfx.File{}}
	c.mem = &memory{core: c} // empty until all of the core file is known
	c.Process = &walk.Process{OS: "Linux", CPU: l.cpu, BigEndian: f.BigEndian, Crashed: -1}
	return c, nil
}

// finish adds the facts that need both the notes and the memory.
func (c *Core) finish() error {
	c.Process.Memory = c.mem
	c.Process.Mappings = c.mem.mappings()

	// While modules are found, no files are fetched from servers: most modules are in no
	// stack.
	c.crash()
	c.findModules()
	c.mem.fetch = true
	return nil
}

// Size returns the length of the core file in bytes.
func (c *Core) Size() uint64 { return c.size }

// part is bytes of a core file.
type part struct {
	off  uint64
	data []byte
}

// bytes returns the n bytes at an offset of the core file, or the fewer up to its end. Of a
// stream only the notes are known.
func (c *Core) bytes(off, n uint64) []byte {
	for _, p := range c.notes {
		if p.off == off {
			return p.data[:min(n, uint64(len(p.data)))]
		}
	}

	size := uint64(len(c.data))
	off = min(off, size)
	return c.data[off : off+min(n, size-off)]
}

// warn adds a warning; damage can give any number, so only the first ones are kept.
func (c *Core) warn(format string, args ...any) {
	const most = 100
	if len(c.Process.Warnings) < most {
		c.Process.Warnings = append(c.Process.Warnings, fmt.Sprintf(format, args...))
	}
}
