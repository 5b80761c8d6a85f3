package mdmp

import "fmt"

// CPU is the processor architecture: PROCESSOR_ARCHITECTURE_* and Breakpad's.
type CPU uint16

// The architectures.
const (
	CPUX86      CPU = 0
	CPUMIPS     CPU = 1
	CPUPPC      CPU = 3
	CPUARM      CPU = 5
	CPUAMD64    CPU = 9
	CPUX86Win64 CPU = 10 // a 32-bit process on 64-bit Windows
	CPUARM64    CPU = 12
	CPUSPARC    CPU = 0x8001
	CPUPPC64    CPU = 0x8002
	CPUARM64Old CPU = 0x8003
	CPUMIPS64   CPU = 0x8004
	CPURISCV    CPU = 0x8005
	CPURISCV64  CPU = 0x8006
)

var cpuNames = map[CPU]string{
	CPUX86: "x86", CPUX86Win64: "x86", CPUAMD64: "amd64", CPUARM: "arm", CPUARM64: "arm64", CPUARM64Old: "arm64",
	CPUMIPS: "mips", CPUMIPS64: "mips64", CPUPPC: "ppc", CPUPPC64: "ppc64", CPUSPARC: "sparc",
	CPURISCV: "riscv", CPURISCV64: "riscv64",
}

// CPUsByName are the CPUs by their names in MODULE records.
var CPUsByName = map[string]CPU{
	"x86": CPUX86, "x86_64": CPUAMD64, "arm": CPUARM, "arm64": CPUARM64, "mips": CPUMIPS, "mips64": CPUMIPS64,
	"ppc": CPUPPC, "ppc64": CPUPPC64, "riscv": CPURISCV, "riscv64": CPURISCV64, "sparc": CPUSPARC,
}

// String returns the CPU's name as Breakpad and rust-minidump print it.
func (c CPU) String() string {
	if n, ok := cpuNames[c]; ok {
		return n
	}
	return fmt.Sprintf("0x%04x", uint16(c))
}

// Wide reports whether addresses have 64 bits.
func (c CPU) Wide() bool {
	switch c {
	case CPUX86, CPUX86Win64, CPUMIPS, CPUPPC, CPUARM, CPURISCV:
		return false
	}
	return true
}

// OS is the operating system: VER_PLATFORM_* and Breakpad's.
type OS uint32

// The systems.
const (
	OSWindows OS = 1 // 95, 98, Me
	OSWinNT   OS = 2
	OSMac     OS = 0x8101
	OSIOS     OS = 0x8102
	OSLinux   OS = 0x8201
	OSSolaris OS = 0x8202
	OSAndroid OS = 0x8203
	OSPS3     OS = 0x8204
	OSNaCl    OS = 0x8205
	OSFuchsia OS = 0x8206
)

var osNames = map[OS]string{
	OSWindows: "Windows", OSWinNT: "Windows NT", OSMac: "Mac OS X",
	OSIOS: "iOS", OSLinux: "Linux", OSSolaris: "Solaris",
	OSAndroid: "Android", OSPS3: "PS3", OSNaCl: "NaCl",
	OSFuchsia: "Fuchsia",
}

// String returns the system's name as Breakpad and rust-minidump print it.
func (o OS) String() string {
	if n, ok := osNames[o]; ok {
		return n
	}
	return fmt.Sprintf("0x%08x", uint32(o))
}

// Windows reports whether the system is one of Microsoft's.
func (o OS) Windows() bool { return o == OSWindows || o == OSWinNT }

// Mac reports whether the system is one of Apple's.
func (o OS) Mac() bool { return o == OSMac || o == OSIOS }

// Linux reports whether the system has the kernel Linux.
func (o OS) Linux() bool { return o == OSLinux || o == OSAndroid }
