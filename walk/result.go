package walk

// Result is the stacks of a process.
type Result struct {
	Process *Process
	// Stacks are those of the threads that were walked, in their order.
	Stacks []Stack
	// Modules has what is known of the symbols of each module, in the order of Process.Modules.
	Modules []ModuleSymbols
}

// ModuleSymbols is what is known of the symbols of a module.
type ModuleSymbols struct {
	Module *Module
	// Symbols are those of a module that a stack met; nil: they were not looked for. Their Index must
	// not be used: the symbols have been released.
	Symbols *Symbols
	// Met: the walk of a stack met the module. Otherwise Symbols were looked for only because
	// a word of a stack points to the module.
	Met bool
	// Loaded: the module has symbols. BadLines counts their malformed lines.
	Loaded   bool
	BadLines int
}

// Missing reports whether symbols were looked for and there are none.
func (m *ModuleSymbols) Missing() bool { return m.Symbols != nil && !m.Loaded }

// Crashed returns the index in Stacks of the thread that crashed, or -1.
func (r *Result) Crashed() int {
	for i := range r.Stacks {
		if c := r.Process.Crashed; c >= 0 && r.Stacks[i].Thread == &r.Process.Threads[c] {
			return i
		}
	}
	return -1
}
