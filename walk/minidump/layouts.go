package minidump

import "strings"

// layout has the places of the registers in a CONTEXT structure.
type layout struct {
	name             string
	size             int
	flags, flagsSize int    // place and size of ContextFlags
	cpu              uint64 // the bit of the flags for the CPU
	alias            uint64 // another bit for the CPU, or 0: that of mips64, that of Windows on ARM
	fields           []field
	pc, sp           int // indices in fields
}

type field struct {
	name  string
	off   uint16
	size  uint8
	dwarf int16
}

func (l *layout) mask() uint64 { return l.cpu | l.alias }

// contextX86Extended is the flag of an x86 context that has the area that FXSAVE writes, of
// x86ExtendedSize bytes. contextARM64Old is the flag of the older structure of arm64.
const (
	contextX86Extended = 0x20
	x86ExtendedSize    = 512
	contextARM64Old    = 0x80000000
)

// need returns the size of a structure with these flags. The structure of an x86 without
// extended registers may end before them.
func (l *layout) need(flags uint64) int {
	if l == &x86Layout && flags&contextX86Extended == 0 {
		return l.size - x86ExtendedSize
	}
	return l.size
}

// row lays out registers one after the other from offset off, each of size bytes. The DWARF
// numbers are consecutive from dwarf on; -1 means that no register has one.
func row(off int, size uint8, dwarf int, names string) (out []field) {
	for i, n := range strings.Fields(names) {
		f := field{n, uint16(off + i*int(size)), size, -1}
		if dwarf >= 0 {
			f.dwarf = int16(dwarf + i)
		}
		out = append(out, f)
	}
	return out
}

// numbered gives the fields DWARF numbers that are not consecutive.
func numbered(fields []field, dwarf ...int16) []field {
	for i, n := range dwarf {
		fields[i].dwarf = n
	}
	return fields
}

// with joins rows and finds the program counter and the stack pointer.
func (l layout) with(pc, sp string, rows ...[]field) layout {
	for _, r := range rows {
		l.fields = append(l.fields, r...)
	}

	// The two registers become indices, so that PC and SP need no search.
	for i, f := range l.fields {
		switch f.name {
		case pc:
			l.pc = i
		case sp:
			l.sp = i
		}
	}
	return l
}

const gpr32 = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 " +
	"r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31"

// riscvRegs are pc and x1 to x31 under their ABI names. Their DWARF numbers are those of the
// x registers.
const riscvRegs = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 " +
	"s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

const arm64Regs = "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 " +
	"x26 x27 x28 fp lr sp pc"

const mipsRegs = "zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 " +
	"s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp fp ra"

// The structures: CONTEXT of winnt.h for each CPU of Windows, MDRawContext* of
// Breakpad's minidump_cpu_*.h for the others.
var (
	x86Layout = layout{name: "x86", size: 716, flagsSize: 4, cpu: 0x10000}.with("eip", "esp",
		row(140, 4, -1, "gs fs es ds"),
		numbered(row(156, 4, 0, "edi esi ebx edx ecx eax ebp eip cs eflags esp ss"),
			7, 6, 3, 2, 1, 0, 5, 8, -1, 9, 4, -1))

	amd64Layout = layout{name: "amd64", size: 1232, flags: 48, flagsSize: 4, cpu: 0x100000}.with("rip", "rsp",
		row(56, 2, -1, "cs ds es fs gs ss"),
		row(68, 4, 49, "eflags"),
		numbered(row(120, 8, 0, "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip"),
			0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16))

	armLayout = layout{name: "arm", size: 368, flagsSize: 4, cpu: 0x40000000, alias: 0x200000}.with("pc", "sp",
		row(4, 4, 0, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 fp r12 sp lr pc"),
		row(68, 4, 128, "cpsr"))

	arm64Layout = layout{name: "arm64", size: 912, flagsSize: 4, cpu: 0x400000}.with("pc", "sp",
		row(4, 4, -1, "cpsr"), row(8, 8, 0, arm64Regs))

	arm64OldLayout = layout{name: "arm64", size: 796, flagsSize: 8, cpu: contextARM64Old}.with("pc", "sp",
		row(8, 8, 0, arm64Regs), row(272, 4, -1, "cpsr"))

	mipsLayout = layout{name: "mips", size: 600, flagsSize: 4, cpu: 0x40000, alias: 0x80000}.with("pc", "sp",
		row(8, 8, 0, mipsRegs), row(264, 8, 64, "hi lo"), row(312, 8, -1, "pc"))

	ppcLayout = layout{name: "ppc", size: 1004, flagsSize: 4, cpu: 0x20000000}.with("srr0", "r1",
		row(4, 4, -1, "srr0 srr1"), row(12, 4, 0, gpr32),
		numbered(row(140, 4, 0, "cr xer lr ctr"), 64, 76, 65, 66))

	ppc64Layout = layout{name: "ppc64", size: 1160, flagsSize: 8, cpu: 0x1000000}.with("srr0", "r1",
		row(8, 8, -1, "srr0 srr1"), row(24, 8, 0, gpr32),
		numbered(row(280, 8, 0, "cr xer lr ctr"), 64, 76, 65, 66))

	sparcLayout = layout{name: "sparc", size: 584, flagsSize: 4, cpu: 0x10000000}.with("pc", "o6",
		row(8, 8, 0, "g0 g1 g2 g3 g4 g5 g6 g7 o0 o1 o2 o3 o4 o5 o6 o7 l0 l1 l2 l3 l4 l5 l6 l7 i0 i1 i2 i3 i4 i5 i6 i7"),
		row(264, 8, -1, "ccr pc npc y asi fprs"))

	riscvLayout = layout{name: "riscv", size: 268, flagsSize: 4, cpu: 0x800000}.with("pc", "sp",
		numbered(row(8, 4, 0, riscvRegs), -1))

	riscv64Layout = layout{name: "riscv64", size: 524, flagsSize: 4, cpu: 0x8000000}.with("pc", "sp",
		numbered(row(8, 8, 0, riscvRegs), -1))
)

// layouts has the structures by CPU. Of the two structures of arm64 it has the newer one; the
// flags say which one a context has.
var layouts = map[CPU]*layout{
	CPUX86: &x86Layout, CPUX86Win64: &x86Layout, CPUAMD64: &amd64Layout, CPUARM: &armLayout, CPUARM64: &arm64Layout,
	CPUMIPS: &mipsLayout, CPUMIPS64: &mipsLayout, CPUPPC: &ppcLayout, CPUPPC64: &ppc64Layout,
	CPUSPARC: &sparcLayout, CPURISCV: &riscvLayout, CPURISCV64: &riscv64Layout,
}
