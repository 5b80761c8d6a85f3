package walk

// Trust is the technique that found a frame, in ascending order of certainty.
type Trust uint8

// The techniques that find a frame, the least certain first.
const (
	// TrustScan: a word on the stack that can be a return address.
	TrustScan Trust = iota
	// TrustCFIScan: a word on the stack that can be a return address, looked for
	// where unwind rules (STACK WIN) place the return address.
	TrustCFIScan
	// TrustListed: the dump lists the frame.
	TrustListed
	// TrustFramePointer: by the chain of frame pointers.
	TrustFramePointer
	// TrustCode: by the effects of the function's machine code on the stack.
	TrustCode
	// TrustLeaf: from the link register, or the word that a call had just
	// pushed.
	TrustLeaf
	// TrustSignal: from the registers that the kernel saved for a signal
	// handler.
	TrustSignal
	// TrustCFI: by the symbols' unwind rules.
	TrustCFI
	// TrustContext: the thread's registers.
	TrustContext
)

// String returns the trust in words.
func (t Trust) String() string {
	return [...]string{"stack scanning", "call frame info with scanning", "the list of frames in the dump", "previous frame's frame pointer", "reading the function's machine code", "link register or pushed return address",
		"registers saved in the signal frame", "call frame info", "given as instruction pointer in context"}[t]
}

// Key returns the name of the trust that programs read.
func (t Trust) Key() string {
	return [...]string{"scan", "cfi_scan", "listed", "frame_pointer", "code", "leaf", "signal_frame", "cfi", "context"}[t]
}

// Frame is one frame of a stack; calls inlined into it are in its Place. Addresses are
// virtual addresses of the process.
type Frame struct {
	// PC is where the frame continues: a return address, unless Exact.
	PC uint64
	// Saved is PC as it was in a register or on the stack: on ARM bit 0 says that the code
	// is Thumb code, and bits above the address may authenticate a pointer.
	Saved uint64
	// SP is the stack pointer when the frame continues.
	SP uint64
	// Exact reports whether PC is the instruction itself, as in the innermost frame,
	// in a frame that a signal interrupted, and in the caller of Go's runtime.sigpanic.
	Exact bool
	// Signal reports whether the frame is a signal trampoline; the signal interrupted
	// the next frame.
	Signal bool
	// Trust is how the frame was found.
	Trust Trust
	// Why lists the better techniques that failed, with their reasons.
	Why string
	// Module is nil when PC is in none.
	Module *Module
	// Place is never nil; frames at one address share it.
	Place *Place
	// Pointers are the words of the frame's stack that point to functions, if Options.Contents
	// is set.
	Pointers []Pointer
	// Registers are the known registers, in the order to show them, if Options.Registers is
	// set.
	Registers []NamedRegister

	// call is how far before PC the call is, where PC is a return address.
	call  uint64
	entry bool // PC is where an entry begins: the stack's end
}

// Lookup returns the address to look the frame up by. A return address may be the
// first address of another function or line, so that Lookup returns the address of
// the call instruction, or, where calls have several lengths, an address inside the
// call instruction.
func (f *Frame) Lookup() uint64 {
	if f.Exact || f.Signal {
		return f.PC
	}
	return f.PC - max(1, f.call)
}

// Place is the function, file and line of an address.
type Place struct {
	// Func is empty without symbols.
	Func     string
	FuncAddr uint64 // its first address in the process
	Public   bool   // Func is a symbol that no debug information describes
	// After: Func is only the nearest symbol below, whose size is not known.
	After    bool
	File     string // empty: unknown
	Line     uint32 // 0: unknown
	LineAddr uint64 // first address of the line in the process, 0 without a line
	// Inlines are the calls inlined at the address, the innermost first. File and
	// Line are the place in Func itself.
	Inlines []InlineCall
	// CallAddr is where the code of the outermost inlined call begins in the process, 0 without
	// one.
	CallAddr uint64
	signal   bool
	below    uint64 // start of the nearest symbol at or below the address, whatever its size; 0: none
}

// Name returns the function for people to read: marked where it is only the nearest symbol below.
func (p *Place) Name() string {
	if p.After {
		return "after " + p.Func
	}
	return p.Func
}

// InlineCall is a function that was inlined, and the place in it.
type InlineCall struct {
	Func string
	File string
	Line uint32
}

// Stack is the stack of one thread.
type Stack struct {
	Thread *Thread
	Frames []Frame // the innermost first
	// Pointers are the words of all of the stack that point to functions, if Options.Pointers
	// is set.
	Pointers []Pointer
	// End is the reason that there is no further frame.
	End string
	// Complete reports whether the stack ends with the outermost function.
	Complete bool
}
