package walk

import "strings"

// endOfStack is the reason that there is no caller: the frame is that of the function in which
// the process or the thread began. A stack also ends for other reasons: arm's tables mark any function
// that throws nothing as one without a caller, and a null return address can be what an overflow
// or a lost page left. Only what is known to be the outermost function makes a stack complete.
const endOfStack = "end of stack"

// entries are the functions without a caller. A return address in clone belongs to
// the frame of a new thread's function alone.
var entries = map[string]bool{
	"_start": true, "_dl_start_user": true, "__start": true,
	"_rt0_amd64_linux": true, "_rt0_386_linux": true, "_rt0_arm_linux": true,
	"_rt0_arm64_linux": true, "_rt0_riscv64_linux": true, "_rt0_s390x_linux": true,
	"_rt0_ppc64_linux": true, "_rt0_ppc64le_linux": true, "_rt0_mips_linux": true, "_rt0_mipsle_linux": true,
	"_rt0_mips64_linux": true, "_rt0_mips64le_linux": true,
	"clone": true, "__clone": true, "clone3": true, "__clone3": true,
	"thread_start": true, "__thread_start": true, "runtime.clone": true, "runtime.clone.abi0": true,
	// The function that a function of makecontext returns to.
	"__start_context": true, "__startcontext": true, "__makecontext_ret": true, "makecontext": true, "__makecontext": true,
	// The function that a goroutine's first function returns to.
	"runtime.goexit": true, "runtime.goexit.abi0": true,
}

// windowsStarts and appleStarts are the functions in which processes and threads of other systems begin. Their names are
// usual in other programs, so that a null return address must confirm them.
var windowsStarts = map[string]bool{
	"RtlUserThreadStart": true, "_RtlUserThreadStart": true, "__RtlUserThreadStart": true, "RtlUserFiberStart": true,
	"BaseProcessStart": true, "BaseThreadStart": true,
}
var appleStarts = map[string]bool{
	"start": true, "_dyld_start": true, "thread_start": true, "start_wqthread": true,
}

// powerStarts are the functions of the C library to which _start jumps on PowerPC, with a null
// return address.
var powerStarts = map[string]bool{
	"__libc_start_main": true, "__libc_start_main_impl": true, "libc_start_main": true, "generic_start_main": true,
}

// goStarts are the functions of Go in which the process and threads begin if no other runtime
// calls them.
var goStarts = map[string]bool{"runtime.rt0_go": true, "runtime.mstart": true}

// isEntry reports whether f is in one of the entries.
func (f *Frame) isEntry() bool { return f.Module != nil && entries[f.Place.Func] }

// entrySize bounds, in bytes, the size of an entry whose symbol has no size.
const entrySize = 256

// isOutermost reports whether f is known to have no caller, without a look at its rules.
func (w *walker) isOutermost(f *Frame, r *Registers) bool {
	switch {
	case f.entry:
		return true
	case f.Exact:
		return false
	case f.Place.Func == "" && w.p.inStart(f.PC):
		return true
	case !f.isEntry(), f.Place.Public && f.PC-f.Place.FuncAddr > entrySize:
		return false
	}
	return f.Place.Func == "_start" || !w.isCalled(f, r)
}

// isCalled reports whether the rules of f, which bears the name of an entry, lead to a call of f. A
// function of the program can have the name too, as in the manual page of pthread_create.
func (w *walker) isCalled(f *Frame, r *Registers) bool {
	out, v, _ := w.byCFI(f, r)
	w.extent = extent{}
	if v != found || w.code(w.returnAddr(out.PC)-1, 1) == nil || !w.returnsToCode(out.PC) {
		return false
	}
	kind := w.calls(out.PC, f)
	return (kind == isCallee || kind == isUnknown) && w.cpu.sp(&out) > w.cpu.sp(r)
}

// begins reports whether a process or thread can begin in f's function, which a return address that
// is null or undefined then confirms.
func (w *walker) begins(f *Frame) bool {
	name := f.Place.Func
	switch {
	case f.Signal:
		return false
	case f.isEntry(), name == "" && w.p.inStart(f.PC):
		return true
	case w.p.windows():
		return windowsStarts[name]
	case w.p.apple():
		return appleStarts[name]
	case powerStarts[name] && strings.HasPrefix(w.p.CPU, "ppc"):
		return true
	case !goStarts[strings.TrimSuffix(name, ".abi0")]:
		return false
	}
	// In a program with C code, C's startup code and threads call Go's.
	_, entry := w.lookup(w.p.Entry)
	return strings.HasPrefix(entry.Func, "_rt0_")
}

// marksStart reports whether rules that know no caller of f mark the outermost function: such a rule
// is written by hand (DWARF: an undefined return address), but by arm's compilers, and by Go's
// linker, which does so for each function that switches stacks.
func (w *walker) marksStart(f *Frame) bool {
	return !f.Signal && w.p.CPU != "arm" && !strings.HasPrefix(f.Place.Func, "runtime.")
}
