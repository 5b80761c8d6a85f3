package minidump

import (
	"fmt"

	"symkit/walk/internal/mdmp"
)

// The Mach exceptions that have codes with names.
const (
	excBadAccess      = 1
	excBadInstruction = 2
	excArithmetic     = 3
	excSoftware       = 5
	excBreakpoint     = 6
	excResource       = 11
	excGuard          = 12
	excSimulated      = 0x43507378 // Crashpad's and Breakpad's
)

// macCodes are the tables of codes by exception; the CPU's name is added where
// they differ between CPUs.
var macCodes = map[uint32]string{excBadAccess: "mac access ", excBadInstruction: "mac instruction ",
	excArithmetic: "mac arithmetic ", excBreakpoint: "mac breakpoint "}

// macReason names a Mach exception and its code.
func macReason(s style, cpu mdmp.CPU, e *mdmp.Exception) string {
	name, ok := lookup("mac exception", e.Code)

	// Breakpad has names for exceptions that rust-minidump writes as numbers.
	if !ok && s == styleBreakpad {
		name, _ = lookup("mac exception breakpad", e.Code)
		return name
	}

	// Only rust-minidump takes the codes of EXC_RESOURCE and EXC_GUARD apart.
	switch {
	case !ok:
		return ""
	case e.Code == excSimulated:
		return name
	case s == styleRust && e.Code == excResource:
		return macResource(e)
	case s == styleRust && e.Code == excGuard:
		return macGuard(e)
	}
	return name + " / " + macCode(cpu, e)
}

// macCode names the code of an exception.
func macCode(cpu mdmp.CPU, e *mdmp.Exception) string {
	// Codes that are the same on every CPU come first, those of one CPU after them.
	var tables []string
	switch e.Code {
	case excBadAccess:
		tables = []string{"mac access kern"}
	case excSoftware:
		tables = []string{"mac software"}
	}
	if prefix, ok := macCodes[e.Code]; ok {
		switch cpu {
		case mdmp.CPUARM, mdmp.CPUARM64, mdmp.CPUARM64Old:
			tables = append(tables, prefix+"arm")
		case mdmp.CPUPPC:
			tables = append(tables, prefix+"ppc")
		case mdmp.CPUX86, mdmp.CPUX86Win64, mdmp.CPUAMD64:
			tables = append(tables, prefix+"x86")
		}
	}

	for _, t := range tables {
		if name, ok := lookup(t, e.Flags); ok {
			return name
		}
	}
	return hex8(e.Flags)
}

// codes returns the exception's 64-bit code and subcode, which are parameters 1 and 2. A
// missing one is 0.
func codes(e *mdmp.Exception) (code, sub uint64) {
	if len(e.Parameters) > 1 {
		code = e.Parameters[1]
	}
	if len(e.Parameters) > 2 {
		sub = e.Parameters[2]
	}
	return code, sub
}

// macResource decodes EXC_RESOURCE (osfmk/kern/exc_resource.h of XNU): a limit
// that the process went over.
func macResource(e *mdmp.Exception) string {
	// The top 3 bits are the type of the resource.
	kind := e.Flags >> 29 & 7
	name, ok := lookup("mac resource", kind)
	if !ok {
		return "EXC_RESOURCE / " + hex8(e.Flags)
	}

	// Three bits of the 64-bit code are the flavor, the limit is in bits that depend on the
	// type.
	code, sub := codes(e)
	out := "EXC_RESOURCE / " + name + " / "
	flavor, ok := lookup(fmt.Sprintf("mac resource %d", kind), code>>58&7)
	if !ok {
		return out + fmt.Sprintf("0x%016x / 0x%016x", code, sub)
	}

	out += flavor
	switch kind {
	case 1:
		return out + fmt.Sprintf(" interval: %ds CPU limit: %d%% CPU consumed: %d%%", code>>7&0x1ffffff, code&7, sub&7)
	case 2:
		return out + fmt.Sprintf(" interval: %ds wakeups permitted: %d wakeups observed: %d",
			code>>20&0xfffff, code&0xfff, sub&0xfff)
	case 3:
		return out + fmt.Sprintf(" high watermark limit: %dMiB", code&0x1fff)
	case 4:
		return out + fmt.Sprintf(" interval: %ds I/O limit: %d%% I/O observed: %d%%",
			code>>15&0x1ffff, code&0x7fff, sub&0x7fff)
	}
	return out + fmt.Sprintf(" high watermark limit: %d", code&0x7fff)
}

// macGuard decodes EXC_GUARD (osfmk/kern/exc_guard.h of XNU): a guarded
// resource that was used against its rules.
func macGuard(e *mdmp.Exception) string {
	kind := e.Flags >> 29 & 7
	name, ok := lookup("mac guard", kind)
	if !ok {
		return "EXC_GUARD / " + hex8(e.Flags)
	}

	// Types 0 and 3 have no flavor.
	code, sub := codes(e)
	out := "EXC_GUARD / " + name
	target := code & 0xfffffff
	switch kind {
	case 0:
		return out
	case 3:
		return out + fmt.Sprintf("/ namespace: %d guard identifier: %d", code&0xffffffff, sub)
	}

	flavor, ok := lookup(fmt.Sprintf("mac guard %d", kind), code>>32&0x1fffffff)
	if !ok {
		return out + fmt.Sprintf(" / 0x%016x / 0x%016x", code, sub)
	}

	// The meaning of the target and the subcode depends on the type.
	out += " / " + flavor
	switch kind {
	case 1:
		out += fmt.Sprintf(" port name: %d", target)
		if sub != 0 {
			out += fmt.Sprintf(" subcode: %d", sub)
		}
	case 2:
		out += fmt.Sprintf(" file descriptor: %d guard identifier: %d", target, sub)
	case 4:
		out += fmt.Sprintf(" pid: %d guard identifier: %d", target, sub)
	case 5:
		out += fmt.Sprintf(" offset: %d", sub)
	case 6:
		out += fmt.Sprintf(" syscall: %d", sub)
	}
	return out
}
