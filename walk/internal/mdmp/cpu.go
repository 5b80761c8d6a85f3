package mdmp

import (
	"cmp"
	"fmt"
)

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

// machines are the CPUs, with their names as Breakpad and rust-minidump print them.
var machines = map[CPU]struct {
	name   string
	wide   bool // addresses have 64 bits
	layout *layout
}{
	CPUX86: {"x86", false, &x86Layout}, CPUX86Win64: {"x86", false, &x86Layout}, CPUAMD64: {"amd64", true, &amd64Layout},
	CPUARM: {"arm", false, &armLayout}, CPUARM64: {"arm64", true, &arm64Layout}, CPUARM64Old: {"arm64", true, &arm64OldLayout},
	CPUMIPS: {"mips", false, &mipsLayout}, CPUMIPS64: {"mips64", true, &mipsLayout},
	CPUPPC: {"ppc", false, &ppcLayout}, CPUPPC64: {"ppc64", true, &ppc64Layout}, CPUSPARC: {"sparc", true, &sparcLayout},
	CPURISCV: {"riscv", false, &riscvLayout}, CPURISCV64: {"riscv64", true, &riscv64Layout},
}

// String returns the CPU's name as Breakpad and rust-minidump print it.
func (c CPU) String() string {
	return cmp.Or(machines[c].name, fmt.Sprintf("0x%04x", uint16(c)))
}

// ModuleName returns the CPU's name in MODULE records.
func (c CPU) ModuleName() string {
	if c == CPUAMD64 {
		return "x86_64"
	}
	return c.String()
}

// CPUNamed returns the CPU with a name in MODULE records. Of several the lowest counts.
func CPUNamed(name string) (cpu CPU, ok bool) {
	for c := range machines {
		if c.ModuleName() == name && (!ok || c < cpu) {
			cpu, ok = c, true
		}
	}
	return cpu, ok
}

// Wide reports whether addresses have 64 bits: also those of an unknown CPU.
func (c CPU) Wide() bool {
	m, known := machines[c]
	return m.wide || !known
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
func (o OS) String() string { return cmp.Or(osNames[o], fmt.Sprintf("0x%08x", uint32(o))) }

// Windows reports whether the system is one of Microsoft's.
func (o OS) Windows() bool { return o == OSWindows || o == OSWinNT }

// Mac reports whether the system is one of Apple's.
func (o OS) Mac() bool { return o == OSMac || o == OSIOS }

// Linux reports whether the system has the kernel Linux.
func (o OS) Linux() bool { return o == OSLinux || o == OSAndroid }
