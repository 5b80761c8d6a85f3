package walk

// Trust is how a frame was found, the least certain first.
type Trust uint8

const (
	// TrustScan: a word on the stack that can be a return address.
	TrustScan Trust = iota
	// TrustCFIScan: a word on the stack that can be a return address, looked for
	// where unwind rules (STACK WIN) said that it should be.
	TrustCFIScan
	// TrustFramePointer: by the chain of frame pointers.
	TrustFramePointer
	// TrustCode: by what the function's machine code does to the stack.
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

// String is the trust in words.
func (t Trust) String() string {
	return [...]string{"stack scanning", "call frame info with scanning", "previous frame's frame pointer", "reading the function's machine code", "link register or pushed return address",
		"registers saved in the signal frame", "call frame info", "given as instruction pointer in context"}[t]
}

// Key is the trust's name for programs.
func (t Trust) Key() string {
	return [...]string{"scan", "cfi_scan", "frame_pointer", "code", "leaf", "signal_frame", "cfi", "context"}[t]
}

// Frame is one frame of a stack; calls inlined into it are in its Place.
type Frame struct {
	// PC is where the frame goes on: a return address, unless Exact.
	PC uint64
	SP uint64
	// Exact: PC is the instruction itself. So it is in the innermost frame, and
	// where a signal interrupted a function.
	Exact bool
	// Signal: the frame is a signal trampoline; the next one was interrupted.
	Signal bool
	Trust  Trust
	// Why tells which better techniques failed, and how.
	Why string
	// Module is nil when PC is in none.
	Module *Module
	// Place is never nil; frames at one address share it.
	Place *Place
	// Pointers are the words of the frame's stack that point to functions, if
	// Options.Contents asked for them.
	Pointers []Pointer
	// Registers are those that are known, in the order to show them, if
	// Options.Registers asked for them.
	Registers []NamedRegister

	// call is how far before PC the call is, where PC is a return address.
	call  uint64
	entry bool // PC is where an entry begins: the stack's end
}

// Lookup is the address to look PC up by: a return address may be the first
// of another function or line, the call before it is not. It is that of the
// call instruction, or, where calls have several lengths, one inside.
func (f *Frame) Lookup() uint64 {
	if f.Exact || f.Signal {
		return f.PC
	}
	return f.PC - max(1, f.call)
}

// Place is what symbols say of an address.
type Place struct {
	// Func is empty without symbols.
	Func     string
	FuncAddr uint64 // its first address in the process
	Public   bool   // Func is only the nearest symbol below
	File     string // empty: unknown
	Line     uint32 // 0: unknown
	LineAddr uint64 // first address of the line in the process, 0 without a line
	// Inlines are the calls inlined at the address, the innermost first; the
	// place in Func itself is above.
	Inlines []InlineCall
	signal  bool
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
	// End tells why there is no further frame.
	End string
	// Complete: the outermost function was reached.
	Complete bool
}
