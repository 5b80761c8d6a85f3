// Package cpu has the machines whose stacks are walked, one file each. A CPU is a table of what
// differs between machines, and the code that reads their frame records, the frames of signal
// handlers, calls and linkage tables. A CPU sees memory and registers and knows no symbols:
// where several words can be the caller's, the caller of Record decides by the Evidence.
package cpu

import (
	"iter"
	"strings"

	"symkit/cfi"
	"symkit/walk/internal/code"
)

// CPU is a machine with its table.
type CPU struct {
	machine
	Arch *cfi.Arch
	// Saved are the registers that calls preserve.
	Saved []cfi.Reg
	slots map[string]cfi.Reg // names of rules; the PC is RegPC
	// shown are the registers to show, in order.
	shown []namedSlot
	// FP is the register of the frame pointer chain, or RegNone.
	FP cfi.Reg
	// LR is the link register that calls write, or RegPC if the machine has none.
	LR cfi.Reg
	// Align is the alignment of instructions.
	Align uint64
	// Call is how far before its return address a call is looked up: the least
	// size of an instruction, more where one in a delay slot follows.
	Call uint64
	// toReturn is added to the address that a call saves to get the return address.
	toReturn uint64
	// rt and plain are the frames of handlers with SA_SIGINFO and without.
	rt, plain   *Layout
	trampolines []trampoline

	Traits
}

// Traits are what the machine and its system mean for the search of a caller.
type Traits struct {
	// Records is the number of candidates for the frame record, the likeliest first, and Evidence
	// what shows that one of them leads to the caller.
	Records  int
	Evidence Evidence
	// Chained: all functions that are not leaves have a frame record. PowerPC's psABI and Apple
	// demand it, on 32-bit Windows it is usual.
	Chained bool
	// LowSP: the frame record does not have the caller's stack pointer, which may be higher.
	LowSP bool
	// PushesFP: most functions push the frame pointer.
	PushesFP bool
	// Win: symbols have STACK WIN records.
	Win bool
	// BareLeaves: functions that leave the stack pointer alone have no rules.
	BareLeaves bool
	// CallTables: unwind tables hold only where a function calls, and mark functions that throw
	// nothing as functions without a caller.
	CallTables bool
	// LateStart: _start jumps to a function of the C library, with a null return address.
	LateStart bool
	// Tags are the bits that mark an instruction set in an address of code; Authenticated: the
	// upper bits can hold a pointer authentication code.
	Tags          uint64
	Authenticated bool
	// GoPushes is the number of bytes that Go's signal handlers take off the stack for the link
	// register: what a frame has at least (internal/goarch, MinFrameSize), aligned as the stack
	// pointer is.
	GoPushes uint64
	// ScanWords is the number of words of the stack that are scanned for a frame; 0: the usual
	// limits.
	ScanWords uint64
}

// Evidence is what the return address of a record must lead to.
type Evidence uint8

// The kinds of evidence.
const (
	Certain     Evidence = iota // the place of the record is certain
	AfterCall                   // code after a call
	InFunction                  // code after a call in a function that has symbols, if any
	OrGenerated                 // code after a call, else generated code
)

// Stack is the memory of a process, read as its machine reads it.
type Stack struct {
	*CPU
	Memory code.Memory
	Big    bool // the process is big-endian
	// PAC has the bits of an address that can hold a pointer authentication code.
	PAC uint64
}

// machine is the code that differs between CPUs.
type machine interface {
	// Record returns the registers of the caller by candidate n of the frame records of a frame
	// with registers r; ok is false if there is no record.
	Record(s *Stack, r *Registers, n int) (out Registers, ok bool)
	// FrameEnd returns where the frame with registers r ends, on machines where every frame
	// shows it.
	FrameEnd(s *Stack, r *Registers) (end uint64, ok bool)
	// callBefore returns the call instruction that code ends in. At least one and up to 8
	// bytes are given; ret is the return address, which follows them.
	callBefore(code []byte, ret uint64) Call
	// Stub returns the address of the slot from which an entry of a linkage table (PLT) loads
	// its target. The entry is at pc and begins with code, which has at most 16 bytes. ok is
	// false for other code.
	Stub(code []byte, pc uint64) (slot uint64, ok bool)
	// Decoder returns the decoder for the function at start, nil if there is none. saved is a
	// return address into the function as the call saved it, or 0.
	Decoder(s *Stack, start, saved uint64) code.Decoder
}

// basic is a machine without frame records whose instructions are not decoded.
type basic struct{}

func (basic) Record(*Stack, *Registers, int) (out Registers, ok bool) { return out, false }
func (basic) FrameEnd(*Stack, *Registers) (uint64, bool)              { return 0, false }
func (basic) Stub([]byte, uint64) (uint64, bool)                      { return 0, false }
func (basic) Decoder(*Stack, uint64, uint64) code.Decoder             { return nil }

// Call is a call instruction.
type Call struct {
	Kind   CallKind
	Target uint64 // of a direct call
}

// CallKind is the kind of the instruction before a return address.
type CallKind uint8

// The kinds of calls.
const (
	NoCall CallKind = iota
	IndirectCall
	DirectCall
)

func direct(target uint64) Call { return Call{DirectCall, target} }

// indirectIf returns the call that an instruction is if it is an indirect one.
func indirectIf(call bool) Call {
	if call {
		return Call{Kind: IndirectCall}
	}
	return Call{}
}

// System is the family of systems that a process ran on, as far as frames differ.
type System uint8

// The systems.
const (
	Other System = iota
	Windows
	Apple
)

// variant is a machine with the byte order and the system of a process.
type variant struct {
	name string
	big  bool
	sys  System
}

// namedSlot is a register of a machine with its name in reports.
type namedSlot struct {
	name string
	reg  cfi.Reg
}

// newCPU makes the tables of a machine. show lists the names of the general registers in
// the order of reports; newCPU adds PC.
func newCPU(m machine, v variant, show, fp string, align uint64) *CPU {
	a := cfi.ArchByName(v.name)
	c := &CPU{machine: m, Arch: a, Saved: a.CalleeSaved, slots: map[string]cfi.Reg{}, FP: RegNone, LR: RegPC, Align: align, Call: align}
	// If several registers have one name, rules mean the first of them.
	for r := range cfi.Reg(numRegs) {
		if n := a.RegName(r); n != "" {
			if _, ok := c.slots[n]; !ok {
				c.slots[n] = r
			}
		}
	}

	c.slots[a.PC] = RegPC
	if a.LinkRegister {
		c.LR, c.Chained = a.RA, v.sys == Apple
	}
	if reg, ok := c.slots[fp]; ok {
		c.FP = reg
	}
	c.Records, c.GoPushes = 1, uint64(a.WordSize)
	// Reports show the program counter first.
	c.shown = append(c.shown, namedSlot{strings.TrimPrefix(a.PC, "$"), RegPC})
	for n := range strings.FieldsSeq(show) {
		c.shown = append(c.shown, namedSlot{strings.TrimPrefix(n, "$"), c.slots[n]})
	}
	return c
}

// handlers sets the frames of signal handlers.
func (c *CPU) handlers(rt, plain *Layout) *CPU {
	c.rt, c.plain = rt, plain
	return c
}

// restorer adds the code of a signal trampoline. Only the bits of mask count; an
// empty mask stands for all bits.
func (c *CPU) restorer(code, mask string, frame *Layout) *CPU {
	c.trampolines = append(c.trampolines, trampoline{code, mask, frame})
	return c
}

// alias gives a register another name in rules.
func (c *CPU) alias(name string, reg cfi.Reg) *CPU {
	c.slots[name] = reg
	return c
}

// Signal returns the layout of the signal frame that belongs to the trampoline that code begins
// with; nil if code is no trampoline.
func (c *CPU) Signal(code []byte) *Layout {
	for i := range c.trampolines {
		if t := &c.trampolines[i]; t.begins(code) {
			return t.frame
		}
	}
	return nil
}

// Handler returns the layout of the frame of a handler with SA_SIGINFO (rt) or without.
func (c *CPU) Handler(rt bool) *Layout {
	if rt {
		return c.rt
	}
	return c.plain
}

// Slot returns the register that a name in rules means.
func (c *CPU) Slot(name []byte) (cfi.Reg, bool) {
	reg, ok := c.slots[string(name)]
	return reg, ok
}

// Named calls yield for the registers of a frame that are known, in the order of the machine's
// manuals, the program counter first. Their names lack the $ of rules.
func (c *CPU) Named(r *Registers) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for _, n := range c.shown {
			if v, ok := r.Get(n.reg); ok && !yield(n.name, v) {
				return
			}
		}
	}
}

// Shown returns the registers that reports show.
func (c *CPU) Shown() (out []cfi.Reg) {
	for _, n := range c.shown {
		out = append(out, n.reg)
	}
	return out
}

// WordSize returns the size of a word in bytes.
func (c *CPU) WordSize() uint64 { return uint64(c.Arch.WordSize) }

// Narrow cuts v to the machine's width.
func (c *CPU) Narrow(v uint64) uint64 {
	if c.Arch.WordSize == 4 {
		return uint64(uint32(v))
	}
	return v
}

// SP returns the stack pointer in r.
func (c *CPU) SP(r *Registers) uint64 {
	v, _ := r.Get(c.Arch.SP)
	return v
}

// SetSP sets the stack pointer in r.
func (c *CPU) SetSP(r *Registers, v uint64) { r.Set(c.Arch.SP, c.Narrow(v)) }

// FramePointer returns the frame pointer in r; 0 if it is not known.
func (c *CPU) FramePointer(r *Registers) uint64 {
	v, ok := r.Get(c.FP)
	if !ok {
		return 0
	}
	return v
}
