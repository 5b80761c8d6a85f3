package minidump

import (
	"strings"
	"testing"

	"symkit/walk/internal/mdmp"
)

// TestReasons: what Breakpad and rust-minidump print, from their sources; where
// the second is empty it is the same.
func TestReasons(t *testing.T) {
	const accessRead = 0
	for _, c := range []struct {
		os             mdmp.OS
		cpu            mdmp.CPU
		code, flags    uint32
		params         []uint64
		breakpad, rust string
	}{
		{mdmp.OSLinux, mdmp.CPUAMD64, 11, 1, nil, "SIGSEGV /SEGV_MAPERR", "SIGSEGV / SEGV_MAPERR"},
		{mdmp.OSLinux, mdmp.CPUAMD64, 11, 9, nil, "SIGSEGV /SEGV_MTESERR", "SIGSEGV / SEGV_MTESERR"},
		{mdmp.OSLinux, mdmp.CPUAMD64, 11, 0x80, nil, "SIGSEGV /0x00000080", "SIGSEGV / SI_KERNEL"},
		{mdmp.OSAndroid, mdmp.CPUARM64, 7, 1, nil, "SIGBUS / BUS_ADRALN", ""},
		{mdmp.OSLinux, mdmp.CPUAMD64, 8, 1, nil, "SIGFPE / FPE_INTDIV", ""},
		{mdmp.OSLinux, mdmp.CPUAMD64, 4, 2, nil, "SIGILL / ILL_ILLOPN", ""},
		{mdmp.OSLinux, mdmp.CPUAMD64, 5, 1, nil, "SIGTRAP", "SIGTRAP / TRAP_BRKPT"},
		{mdmp.OSLinux, mdmp.CPUAMD64, 6, 0, nil, "SIGABRT", ""},
		{mdmp.OSLinux, mdmp.CPUAMD64, 6, 0xfffffffa, nil, "SIGABRT", "SIGABRT / SI_TKILL"},
		{mdmp.OSLinux, mdmp.CPUAMD64, 6, 77, nil, "SIGABRT", "SIGABRT / 0x0000004d"},
		{mdmp.OSLinux, mdmp.CPUAMD64, 31, 1, nil, "SIGSYS", "SIGSYS / SYS_SECCOMP"},
		{mdmp.OSLinux, mdmp.CPUAMD64, 0xffffffff, 0, nil, "DUMP_REQUESTED", ""},
		{mdmp.OSLinux, mdmp.CPUAMD64, 99, 5, nil, "0x00000063 / 0x00000005", "unknown 0x00000063 / 0x00000005"},

		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000005, 0, nil, "EXCEPTION_ACCESS_VIOLATION", ""},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000005, 0, []uint64{accessRead, 0x45}, "EXCEPTION_ACCESS_VIOLATION_READ", ""},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000005, 0, []uint64{1, 0x45}, "EXCEPTION_ACCESS_VIOLATION_WRITE", ""},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000005, 0, []uint64{8, 0x45}, "EXCEPTION_ACCESS_VIOLATION_EXEC", ""},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000005, 0, []uint64{1 << 32, 0x45}, "EXCEPTION_ACCESS_VIOLATION", ""},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000006, 0, []uint64{0, 0x45, 0xffffffffc000009c}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_DEVICE_DATA_ERROR", ""},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000006, 0, []uint64{7, 0x45, 0xc0abcdef}, "EXCEPTION_IN_PAGE_ERROR / 0xc0abcdef", "EXCEPTION_IN_PAGE_ERROR"},
		{mdmp.OSWinNT, mdmp.CPUX86, 0xc0000006, 0, []uint64{0}, "EXCEPTION_IN_PAGE_ERROR_READ", "EXCEPTION_IN_PAGE_ERROR"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xc0000409, 0, []uint64{5}, "FAST_FAIL_INVALID_ARG", "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_INVALID_ARG"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xc0000409, 0, []uint64{0}, "EXCEPTION_STACK_BUFFER_OVERRUN", "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_LEGACY_GS_VIOLATION"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xc0000409, 0, []uint64{9999}, "EXCEPTION_STACK_BUFFER_OVERRUN", "EXCEPTION_STACK_BUFFER_OVERRUN / 0x0000270f"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xc0000409, 0, nil, "EXCEPTION_STACK_BUFFER_OVERRUN", "STATUS_STACK_BUFFER_OVERRUN"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xe06d7363, 0, nil, "Unhandled C++ Exception", ""},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xe0000008, 0, nil, "Out of Memory", ""},
		{mdmp.OSWindows, mdmp.CPUX86, 0x0517a7ed, 0, nil, "Simulated Exception", ""},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xc0000374, 0, nil, "EXCEPTION_HEAP_CORRUPTION", "STATUS_HEAP_CORRUPTION"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 5, 0, nil, "0x00000005 / 0x00000000", "ERROR_ACCESS_DENIED"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xc06d007e, 0, nil, "0xc06d007e / 0x00000000", "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND"},
		{mdmp.OSWinNT, mdmp.CPUAMD64, 0xdeadbeef, 1, nil, "0xdeadbeef / 0x00000001", "unknown 0xdeadbeef"},

		{mdmp.OSMac, mdmp.CPUAMD64, 1, 1, nil, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", ""},
		{mdmp.OSMac, mdmp.CPUAMD64, 1, 13, nil, "EXC_BAD_ACCESS / EXC_I386_GPFLT", ""},
		{mdmp.OSIOS, mdmp.CPUARM64Old, 1, 0x101, nil, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN", ""},
		{mdmp.OSMac, mdmp.CPUPPC, 1, 0x101, nil, "EXC_BAD_ACCESS / EXC_PPC_VM_PROT_READ", ""},
		{mdmp.OSMac, mdmp.CPUX86, 2, 1, nil, "EXC_BAD_INSTRUCTION / EXC_I386_INVOP", ""},
		{mdmp.OSMac, mdmp.CPUX86, 2, 99, nil, "EXC_BAD_INSTRUCTION / 0x00000063", ""},
		{mdmp.OSMac, mdmp.CPUMIPS, 3, 1, nil, "EXC_ARITHMETIC / 0x00000001", ""},
		{mdmp.OSMac, mdmp.CPUX86, 4, 7, nil, "EXC_EMULATION / 0x00000007", ""},
		{mdmp.OSMac, mdmp.CPUX86, 5, 0xdeadc0de, nil, "EXC_SOFTWARE / UNCAUGHT_NS_EXCEPTION", ""},
		{mdmp.OSMac, mdmp.CPUAMD64, 6, 2, nil, "EXC_BREAKPOINT / EXC_I386_BPT", ""},
		{mdmp.OSMac, mdmp.CPUAMD64, 0x43507378, 0, nil, "Simulated Exception", ""},
		{mdmp.OSMac, mdmp.CPUAMD64, 0x43506e78, 0, nil, "Uncaught NSException", "unknown 0x43506e78 / 0x00000000"},
		{mdmp.OSMac, mdmp.CPUAMD64, 99, 0, nil, "0x00000063 / 0x00000000", "unknown 0x00000063 / 0x00000000"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 1 << 29, []uint64{11, 1<<58 | 300<<7 | 5, 3}, "EXC_RESOURCE / 0x20000000", "EXC_RESOURCE / RESOURCE_TYPE_CPU / FLAVOR_CPU_MONITOR interval: 300s CPU limit: 5% CPU consumed: 3%"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 2 << 29, []uint64{11, 1<<58 | 3<<20 | 5, 6}, "EXC_RESOURCE / 0x40000000", "EXC_RESOURCE / RESOURCE_TYPE_WAKEUPS / FLAVOR_WAKEUPS_MONITOR interval: 3s wakeups permitted: 5 wakeups observed: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 3 << 29, []uint64{11, 1<<58 | 512}, "EXC_RESOURCE / 0x60000000", "EXC_RESOURCE / RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: 512MiB"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 4 << 29, []uint64{11, 1<<58 | 2<<15 | 7, 8}, "EXC_RESOURCE / 0x80000000", "EXC_RESOURCE / RESOURCE_TYPE_IO / FLAVOR_IO_PHYSICAL_WRITES interval: 2s I/O limit: 7% I/O observed: 8%"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 5 << 29, []uint64{11, 1<<58 | 9}, "EXC_RESOURCE / 0xa0000000", "EXC_RESOURCE / RESOURCE_TYPE_THREADS / FLAVOR_THREADS_HIGH_WATERMARK high watermark limit: 9"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 5 << 29, nil, "EXC_RESOURCE / 0xa0000000", "EXC_RESOURCE / RESOURCE_TYPE_THREADS / 0x0000000000000000 / 0x0000000000000000"},
		{mdmp.OSMac, mdmp.CPUAMD64, 11, 7 << 29, nil, "EXC_RESOURCE / 0xe0000000", ""},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 0, nil, "EXC_GUARD / 0x00000000", "EXC_GUARD / GUARD_TYPE_NONE"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 1 << 29, []uint64{12, 8<<32 | 5, 0}, "EXC_GUARD / 0x20000000", "EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_UNGUARDED port name: 5"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 1 << 29, []uint64{12, 8<<32 | 5, 6}, "EXC_GUARD / 0x20000000", "EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_UNGUARDED port name: 5 subcode: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 2 << 29, []uint64{12, 1<<32 | 5, 6}, "EXC_GUARD / 0x40000000", "EXC_GUARD / GUARD_TYPE_FD / GUARD_EXC_CLOSE file descriptor: 5 guard identifier: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 3 << 29, []uint64{12, 5, 6}, "EXC_GUARD / 0x60000000", "EXC_GUARD / GUARD_TYPE_USER/ namespace: 5 guard identifier: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 4 << 29, []uint64{12, 4<<32 | 5, 6}, "EXC_GUARD / 0x80000000", "EXC_GUARD / GUARD_TYPE_VN / GUARD_EXC_UNLINK pid: 5 guard identifier: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 5 << 29, []uint64{12, 1 << 32, 6}, "EXC_GUARD / 0xa0000000", "EXC_GUARD / GUARD_TYPE_VIRT_MEMORY / GUARD_EXC_DEALLOC_GAP offset: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 6 << 29, []uint64{12, 0, 6}, "EXC_GUARD / 0xc0000000", "EXC_GUARD / GUARD_TYPE_REJECTED_SC / GUARD_EXC_MACH_TRAP syscall: 6"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 6 << 29, []uint64{12, 9 << 32, 6}, "EXC_GUARD / 0xc0000000", "EXC_GUARD / GUARD_TYPE_REJECTED_SC / 0x0000000900000000 / 0x0000000000000006"},
		{mdmp.OSMac, mdmp.CPUAMD64, 12, 7 << 29, nil, "EXC_GUARD / 0xe0000000", ""},

		{mdmp.OSFuchsia, mdmp.CPUAMD64, 1, 5, nil, "0x00000001 / 0x00000005", "unknown 0x00000001 / 0x00000005"},
		{mdmp.OSFuchsia, mdmp.CPUAMD64, 0x108, 5, nil, "FATAL_PAGE_FAULT / 0x00000005", "unknown 0x00000108 / 0x00000005"},
		{mdmp.OSSolaris, mdmp.CPUSPARC, 11, 0, nil, "SIGSEGV", "unknown 0x0000000b / 0x00000000"},
		{mdmp.OSPS3, mdmp.CPUPPC64, 0, 0, nil, "UNKNOWN", "unknown 0x00000000 / 0x00000000"},
		{mdmp.OSNaCl, mdmp.CPUAMD64, 1, 2, nil, "0x00000001 / 0x00000002", "unknown 0x00000001 / 0x00000002"},
	} {
		e := &mdmp.Exception{Parameters: c.params}
		e.Code, e.Flags = c.code, c.flags
		if c.rust == "" {
			c.rust = c.breakpad
		}
		if got := reason(styleBreakpad, c.os, c.cpu, e); got != c.breakpad {
			t.Errorf("%v %#x %#x %v: %q, want %q", c.os, c.code, c.flags, c.params, got, c.breakpad)
		}
		if got := reason(styleRust, c.os, c.cpu, e); got != c.rust {
			t.Errorf("%v %#x %#x %v: %q, want %q", c.os, c.code, c.flags, c.params, got, c.rust)
		}
	}
}

// TestNames: every line of the tables is a number and a name, the numbers of a
// table ascend.
func TestNames(t *testing.T) {
	n := 0
	for _, text := range []string{reasonText, windowsText} {
		for table, names := range parseNames(text) {
			_, body, _ := strings.Cut(text, "["+table+"]\n")
			body, _, _ = strings.Cut(body, "[")
			if lines := strings.Count(body, "\n"); lines != len(names) || lines == 0 {
				t.Errorf("%s: %d names on %d lines", table, len(names), lines)
			}
			for _, name := range names {
				if name == "" {
					t.Errorf("%s: a line without a name", table)
				}
			}
			n += len(names)
		}
	}
	if n < 6000 {
		t.Errorf("%d names", n)
	}
	for code, want := range map[uint32]string{0: "ERROR_SUCCESS", 0xc0000005: "STATUS_ACCESS_VIOLATION", 0xc0000034: "STATUS_OBJECT_NAME_NOT_FOUND"} {
		if got := windowsError(code); got != want {
			t.Errorf("%#x: %s, want %s", code, got, want)
		}
	}
}
