package minidump

import (
	"fmt"

	"symkit/walk/internal/mdmp"
)

// style chooses the tool whose text for the reason of a crash is used.
type style uint8

const (
	// styleBreakpad is that of Breakpad's minidump_stackwalk.
	styleBreakpad style = iota
	// styleRust is that of rust-minidump's minidump-stackwalk.
	styleRust
)

// crashReason names the exception: "SIGSEGV /SEGV_MAPERR",
// "EXCEPTION_ACCESS_VIOLATION_WRITE". The name is empty if the dump has no exception.
func crashReason(d *mdmp.Dump, s style) string {
	e := d.Exception
	if e == nil {
		return ""
	}
	return reason(s, d.System.OS, d.System.CPU, e)
}

// reason names an exception of a system and CPU. An exception that the tool has no name for
// is written as numbers.
func reason(s style, os mdmp.OS, cpu mdmp.CPU, e *mdmp.Exception) string {
	var out string
	switch {
	case os.Windows():
		out = windowsReason(s, e)
	case os.Mac():
		out = macReason(s, cpu, e)
	case os.Linux():
		out = linuxReason(s, e)
	case s == styleBreakpad && os == mdmp.OSFuchsia:
		if name, ok := lookup("fuchsia", e.Code); ok {
			out = name + " / " + hex8(e.Flags)
		}
	case s == styleBreakpad && os == mdmp.OSSolaris:
		out, _ = lookup("solaris", e.Code)
	case s == styleBreakpad && os == mdmp.OSPS3:
		out, _ = lookup("ps3", e.Code)
	}

	// The two tools write an exception without a name differently.
	switch {
	case out != "":
		return out
	case s == styleBreakpad:
		return hex8(e.Code) + " / " + hex8(e.Flags)
	}
	return "unknown " + hex8(e.Code) + " / " + hex8(e.Flags)
}

// hex8 formats a number as both tools write numbers without a name.
func hex8[N uint32 | uint64](n N) string { return fmt.Sprintf("0x%08x", n) }

// crashAddress returns the address that was accessed, if it is known, or else the
// address of the instruction. It is 0 if the dump has no exception.
func crashAddress(d *mdmp.Dump) uint64 {
	e := d.Exception
	if e == nil {
		return 0
	}

	// Windows' exceptions about memory have the accessed address in parameter 1.
	addr := e.Address
	if d.System.OS.Windows() && (e.Code == accessViolation || e.Code == inPageError) && len(e.Parameters) >= 2 {
		addr = e.Parameters[1]
	}
	if !d.System.CPU.Wide() {
		addr = uint64(uint32(addr)) // some writers extend the sign
	}
	return addr
}

// linuxCodes are the tables of si_code by signal.
var linuxCodes = map[uint32]string{4: "linux ill", 5: "linux trap", 7: "linux bus", 8: "linux fpe", 11: "linux segv",
	31: "linux sys"}

// linuxReason names a signal and its si_code.
func linuxReason(s style, e *mdmp.Exception) string {
	signal, ok := lookup("linux signal", e.Code)
	if !ok {
		return ""
	}

	// For some signals si_code has values of its own.
	code, named := "", false
	if table, ok := linuxCodes[e.Code]; ok {
		code, named = lookup(table, e.Flags)
	}
	if s == styleRust {
		return rustSignal(signal, code, named, e.Flags)
	}

	switch e.Code {
	case 4, 7, 8, 11:
		if !named {
			code = hex8(e.Flags)
		}
	default: // Breakpad names the code of no other signal
		return signal
	}

	// Breakpad writes no blank after the slash of SIGSEGV.
	if e.Code == 11 {
		return signal + " /" + code
	}
	return signal + " / " + code
}

// rustSignal joins the names of a signal and its code as rust-minidump does.
func rustSignal(signal, code string, named bool, flags uint32) string {
	if !named {
		// SI_USER and the like have the same meaning for every signal.
		code, named = lookup("linux any", flags)
		if named && flags == 0 {
			return signal // SI_USER
		}
	}
	if !named {
		code = hex8(flags)
	}
	return signal + " / " + code
}
