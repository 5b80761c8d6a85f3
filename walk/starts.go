package walk

import "strings"

// Functions that the search for a caller knows by name.

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

// lateStarts are the functions of the C library to which _start jumps on PowerPC, with a null
// return address.
var lateStarts = map[string]bool{
	"__libc_start_main": true, "__libc_start_main_impl": true, "libc_start_main": true, "generic_start_main": true,
}

// goStarts are the functions of Go in which the process and threads begin if no other runtime
// calls them.
var goStarts = map[string]bool{"runtime.rt0_go": true, "runtime.mstart": true}

// isEntry reports whether f is in one of the entries.
func (f *Frame) isEntry() bool { return f.Module != nil && entries[f.Place.Func] }

// entrySize bounds, in bytes, the size of an entry whose symbol has no size.
const entrySize = 256

// injected are the functions of Go's runtime that a signal handler, or a debugger, has the
// interrupted code seem to call (traceback.go, isInjectedCall; debugCallV1 up to Go 1.16). The
// return address is the interrupted instruction itself.
var injected = map[string]bool{
	"runtime.sigpanic": true, "runtime.asyncPreempt": true, "runtime.debugCallV2": true, "runtime.debugCallV1": true,
}

// isInjected reports whether f's function was injected into its caller.
func (f *Frame) isInjected() bool {
	return f.Module != nil && injected[strings.TrimSuffix(f.Place.Func, ".abi0")]
}

// isGoHandler reports whether f's function is the one with which Go handles signals. The kernel has it
// called by the trampoline, but Go's linker gives it rules without a caller on most machines.
func (f *Frame) isGoHandler() bool {
	return f.Module != nil && strings.TrimSuffix(f.Place.Func, ".abi0") == "runtime.sigtramp"
}

// restorers are the names of trampolines in C libraries and in the kernel's
// vdso (glibc, musl, bionic, Linux).
var restorers = map[string]bool{
	"__restore_rt":                      true, // glibc, musl: x86-64
	"__restore":                         true,
	"restore_rt":                        true,
	"__kernel_rt_sigreturn":             true, // vdso: i386, arm64, s390x
	"__kernel_sigreturn":                true,
	"__vdso_rt_sigreturn":               true, // vdso: riscv
	"__default_sa_restorer":             true, // glibc: arm
	"__default_rt_sa_restorer":          true,
	"__default_sa_restorer_v1":          true,
	"__default_sa_restorer_v2":          true,
	"__default_rt_sa_restorer_v1":       true,
	"__default_rt_sa_restorer_v2":       true,
	"__restore_rt_sa":                   true, // bionic
	"runtime.sigreturn__sigaction":      true, // Go
	"runtime.sigreturn__sigaction.abi0": true,
	"runtime.sigreturn":                 true, // before Go 1.20
	"runtime.sigreturn.abi0":            true,
}

// isTrampoline reports whether the symbols at pc are those of a signal trampoline.
func (p *Place) isTrampoline(pc uint64) bool {
	return p.signal || p.FuncAddr == pc && restorers[p.Func]
}
