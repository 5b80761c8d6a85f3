package walk

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"slices"
	"sort"
	"strings"

	"symkit/elfx"
)

// Process is a crashed process, as far as the crash dump describes the process.
type Process struct {
	// OS is the system's name as Breakpad prints it: "Linux", "Android",
	// "Windows NT", "Windows", "Mac OS X", "iOS", ... On Windows and Apple's
	// systems compilers lay out frames differently.
	OS        string
	OSVersion string // empty: unknown
	// CPU is the machine's name as in MODULE records: x86, x86_64, arm, arm64,
	// mips, mips64, ppc, ppc64, riscv, riscv64, s390x, sparc; another name gives
	// stacks of one frame each.
	CPU       string
	BigEndian bool

	PID     int    // 0: unknown
	Name    string // of the program; may be cut
	Args    string // its command line; may be cut
	Threads []Thread
	// Crashed is the index in Threads of the one that crashed, or, if none crashed, of the one
	// that requested the dump; -1: unknown.
	Crashed int
	Crash   Crash

	// Modules is sorted by Base; SortModules does it.
	Modules []*Module
	// Main is the program itself, or nil.
	Main *Module
	// Mappings, sorted by Begin, are those of the whole address space; empty:
	// unknown.
	Mappings []Mapping
	Memory   Memory
	// Entry is where the kernel had the program begin (AT_ENTRY): the first
	// instruction of its _start, or of the dynamic linker's. 0: unknown.
	Entry uint64
	// PACMask has the bits set that pointer authentication uses in an address
	// of code (arm64); 0 means that they are not known.
	PACMask uint64

	// Facts are for the output alone.
	Facts Facts
	// Warnings are about missing and damaged parts of the dump.
	Warnings []string
}

// Memory is the memory of a process.
type Memory interface {
	// Bytes aliases the n bytes at virtual address addr. It is nil when not
	// all of them are known.
	Bytes(addr, n uint64) []byte
}

// Thread is one thread when the process died.
type Thread struct {
	ID   int    // the kernel's
	Name string // empty: unknown
	// Unnamed: the dump says that the thread has no name.
	Unnamed bool
	// StackBase and StackSize are the memory of the stack that the dump has; 0: unknown.
	StackBase, StackSize uint64
	Regs                 Registers
	// NoRegs: the dump lacks the registers; there is no stack to walk.
	NoRegs bool
	// Writer: the thread was there only to write the dump, and is not walked.
	Writer bool
	// LastError is the value of GetLastError (Windows).
	LastError string
	// Listed are the frames that the dump itself lists, the innermost first.
	Listed []ListedFrame
}

// ListedFrame is a frame that a dump lists, found by the program that wrote the dump.
type ListedFrame struct {
	// PC is the instruction that is executed or calls.
	PC uint64
	// Func is the function as the dump has it, and Offset the distance of PC from its beginning; empty: unknown.
	Func   string
	Offset uint64
}

// Crash is why the process died.
type Crash struct {
	// Reason in words: "SIGSEGV / SEGV_MAPERR"; empty: the process did not crash, or
	// the reason is unknown.
	Reason string
	// Unnamed: the process crashed, and the reason is unknown.
	Unnamed bool
	// Breakpad is the reason in the words of Breakpad's tool; empty: Reason.
	Breakpad string
	Signal   int
	Code     int // si_code
	// Address is the address of the fault, where the reason has one.
	Address    uint64
	HasAddress bool
	// Sender is the process that sent the signal, 0 for none.
	Sender int
	// Parameters are those of a Windows exception.
	Parameters []uint64
}

// Module is a file whose code is in the process.
type Module struct {
	// Path is the file's path in the process, or a name in brackets.
	Path string
	// Base is the address that the module's symbols count from (where its
	// first PT_LOAD is loaded); End is the first address after it.
	Base, End uint64
	// Size is that in the dump's own list, where another module can begin before End; 0:
	// End - Base.
	Size uint64
	// Bias is added to the file's own virtual addresses.
	Bias uint64
	// Offset is where the file begins in the file that the process mapped, a library in an APK; 0: the process mapped the
	// file itself, or the offset is unknown.
	Offset  uint64
	BuildID []byte // nil: unknown, or none
	// Segments are its program headers as the process has them; nil: unknown.
	Segments []elfx.Segment
	// DebugID is the id of its MODULE record; empty: unknown.
	DebugID string
	// Name is the name that symbol stores know it by: that of its PDB file,
	// DT_SONAME where the dump has it, else the base name of Path.
	Name string
	// DebugFile is the name of the file with its debug information; empty: the dump has none.
	DebugFile string
	// Foreign: the file is not for this kind of machine, or its kind is unknown. A
	// foreign file is not looked for by its path.
	Foreign bool
	// CodeID identifies the file itself; empty: by BuildID, if at all.
	CodeID  string
	Version string // empty: unknown
	// ShownID is the DebugID that the dump has where it identifies nothing (a
	// build id of zeros).
	ShownID string
	// Order is the module's place in the dump's own list.
	Order int
	// Image is the whole file, where it is in the dump (the vdso).
	Image []byte
}

// Mapping is one range of the address space.
type Mapping struct {
	Begin, End           uint64
	Read, Write, Execute bool
}

// SortModules sorts the modules by address, as Walk requires. Of two modules that overlap, the module that begins first is clipped. A damaged module, which ends
// before its beginning, is dropped.
func (p *Process) SortModules() {
	// Lookups need modules that are sorted and do not overlap.
	p.Modules = slices.DeleteFunc(p.Modules, func(m *Module) bool { return m.End < m.Base })
	slices.SortStableFunc(p.Modules, func(a, b *Module) int { return cmp.Compare(a.Base, b.Base) })
	for i := 1; i < len(p.Modules); i++ {
		p.Modules[i-1].End = min(p.Modules[i-1].End, p.Modules[i].Base)
	}
}

// ModuleAt returns the module that addr is in, or nil.
func (p *Process) ModuleAt(addr uint64) *Module {
	i := sort.Search(len(p.Modules), func(i int) bool { return p.Modules[i].Base > addr })
	if i == 0 || addr >= p.Modules[i-1].End {
		return nil
	}
	return p.Modules[i-1]
}

// MappingAt returns the mapping that addr is in, or nil.
func (p *Process) MappingAt(addr uint64) *Mapping {
	i := sort.Search(len(p.Mappings), func(i int) bool { return p.Mappings[i].Begin > addr })
	if i == 0 || addr >= p.Mappings[i-1].End {
		return nil
	}
	return &p.Mappings[i-1]
}

// code reports whether addr can be the address of an instruction: in an executable
// mapping, in an executable segment of a module, or, if the mappings are unknown, in
// a module. If the dump has neither mappings nor modules, any address can be.
func (p *Process) code(addr uint64) bool {
	switch {
	case addr < lowestPC:
		return false
	case len(p.Mappings) > 0:
		m := p.MappingAt(addr)
		return m != nil && m.Execute || p.ModuleAt(addr).executes(addr)
	case len(p.Modules) > 0:
		return p.ModuleAt(addr) != nil
	}
	return true
}

// executes reports whether addr is in one of m's executable segments, whose
// protection the program may have changed. m may be nil.
func (m *Module) executes(addr uint64) bool {
	if m == nil {
		return false
	}
	for i := range m.Segments {
		s := &m.Segments[i]
		if s.Type == elf.PT_LOAD && s.Flags&elf.PF_X != 0 && addr-(m.Bias+s.Vaddr) < s.Memsz {
			return true
		}
	}
	return false
}

// startSize bounds the bytes from the first instruction of _start to where its
// call returns, on any CPU.
const startSize = 64

// inStart reports whether a return address is one in _start, which has no caller.
func (p *Process) inStart(ra uint64) bool { return p.Entry != 0 && ra-p.Entry-1 < startSize }

// lowestPC: no code lies in the first page; a return address below it is the
// end of the stack.
const lowestPC = 4096

// BaseName returns the last part of a path of any system.
func BaseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// File returns the base name of the module's path: of base.apk!libx.so that of the library.
func (m *Module) File() string {
	name := BaseName(m.Path)
	if i := strings.LastIndex(name, ".apk!"); i >= 0 {
		return name[i+len(".apk!"):]
	}
	return name
}

// FileID identifies the file of m, in upper case as symbol stores have it;
// empty: unknown.
func (m *Module) FileID() string {
	if m.CodeID == "" {
		return strings.ToUpper(hex.EncodeToString(m.BuildID))
	}
	return strings.ToUpper(m.CodeID)
}

// Crashed reports whether the process crashed; other dumps were requested.
func (c *Crash) Crashed() bool { return c.Reason != "" || c.Unnamed }
