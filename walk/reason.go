package walk

import "fmt"

// linuxSignals are the names of signals on every Linux CPU that is walked
// (include/uapi/asm-generic/signal.h).
var linuxSignals = [...]string{1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE",
	"SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT",
	"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH",
	"SIGIO", "SIGPWR", "SIGSYS"}

// linuxCodes are the names of the si_code values from 1 of the signals that
// the CPU raises (include/uapi/asm-generic/siginfo.h).
var linuxCodes = map[int][]string{
	4: {"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK",
		"ILL_BADIADDR"},
	5: {"TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK", "TRAP_PERF"},
	7: {"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"},
	8: {"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB",
		"FPE_DECOVF", "FPE_DECDIV", "FPE_DECERR", "FPE_INVASC", "FPE_INVDEC", "FPE_FLTUNK", "FPE_CONDTRAP"},
	11: {"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR",
		"SEGV_MTEAERR", "SEGV_MTESERR", "SEGV_CPERR"},
	31: {"SYS_SECCOMP", "SYS_USER_DISPATCH"},
}

// anyCodes are the si_code values that any signal can have.
var anyCodes = map[int]string{
	0: "SI_USER", 0x80: "SI_KERNEL", -1: "SI_QUEUE", -2: "SI_TIMER", -3: "SI_MESGQ", -4: "SI_ASYNCIO", -5: "SI_SIGIO",
	-6: "SI_TKILL", -7: "SI_DETHREAD", -60: "SI_ASYNCNL",
}

// LinuxReason names a Linux signal, and after a slash its si_code; known is
// false when the dump has no si_code.
func LinuxReason(signal, code int, known bool) string {
	name := fmt.Sprintf("signal %d", signal)
	switch {
	case signal > 0 && signal < len(linuxSignals):
		name = linuxSignals[signal]
	case signal >= 32 && signal <= 64:
		name = fmt.Sprintf("SIGRTMIN+%d", signal-32)
	}
	if !known {
		return name
	}

	// A code is named by the signal, or by its sender.
	if names := linuxCodes[signal]; code > 0 && code <= len(names) {
		return name + " / " + names[code-1]
	}
	if n, ok := anyCodes[code]; ok {
		return name + " / " + n
	}
	return fmt.Sprintf("%s / code %d", name, code)
}

// LinuxFault reports whether a signal with this si_code has the address of a
// fault: it came from the CPU, not from kill.
func LinuxFault(signal, code int) bool {
	switch signal {
	case 4, 5, 7, 8, 11:
		return code > 0 && code != 0x80
	}
	return false
}
