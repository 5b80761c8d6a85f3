package mdmp

import (
	"fmt"
	"slices"
	"strings"
)

// layout is a CONTEXT structure. Its fields are in the order of the structure's text (Append).
type layout struct {
	size             int
	flags, flagsSize int    // place and size of ContextFlags
	cpu              uint64 // the bit of the flags for the CPU
	alias            uint64 // another bit for the CPU, or 0: that of mips64, that of Windows on ARM
	title            string // of the text; empty: rust-minidump has no text of the structure
	end              string // after the text
	fields           []field
	pc               int // the index of the program counter in fields
}

// field is a field of a CONTEXT structure: a number, or bytes.
type field struct {
	name  string // of the register; empty for other fields
	off   uint16
	size  uint16
	dwarf int16  // of the register, or -1
	shown string // the field's name in the text, with the blanks after it; empty: not in the text
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
// numbers are consecutive from dwarf on; -1 means that no register has one. The text has no
// field without a name for it: see shown and array.
func row(off, size, dwarf int, names string) (out []field) {
	for i, n := range strings.Fields(names) {
		f := field{name: n, off: uint16(off + i*size), size: uint16(size), dwarf: -1}
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

// shown gives the fields their names in the text, as wide as width: those of the registers, but
// for the last ones, which have the names that are given.
func shown(width int, fields []field, last ...string) []field {
	for i := range fields {
		f := &fields[i]
		name := f.name
		rest := len(fields) - i
		if rest <= len(last) {
			name = last[len(last)-rest]
		}
		f.shown = fmt.Sprintf("%-*s", width, name)
	}
	return fields
}

// other lays out fields of the text that are not registers.
func other(width, off, size int, names string) []field {
	out := shown(width, row(off, size, -1, names))
	for i := range out {
		out[i].name = ""
	}
	return out
}

// array gives the fields the names in the text that format makes of their numbers.
func array(format string, fields []field) []field {
	for i := range fields {
		fields[i].shown = fmt.Sprintf(format, i)
	}
	return fields
}

// many is the names of n fields that are not registers.
func many(off, size, n int) []field { return other(0, off, size, strings.Repeat("x ", n)) }

// with joins rows and finds the program counter.
func (l layout) with(pc string, rows ...[]field) layout {
	for _, r := range rows {
		l.fields = append(l.fields, r...)
	}
	l.pc = slices.IndexFunc(l.fields, func(f field) bool { return f.name == pc })
	return l
}

const gpr32 = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 " +
	"r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31"

// riscvRegs are pc and x1 to x31 under their ABI names. Their DWARF numbers are those of the
// x registers.
const riscvRegs = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 " +
	"s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

// arm64Regs are the general registers of arm64, from offset 8 in both of its structures.
var arm64Regs = append(
	array("x%-20d", row(8, 8, 0, "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28")),
	shown(21, row(240, 8, 29, "fp lr sp pc"), "x29 (fp)", "x30 (lr)", "sp", "pc")...)

// The structures: CONTEXT of winnt.h for each CPU of Windows, MDRawContext* of
// Breakpad's minidump_cpu_*.h for the others. rust-minidump has no text for PowerPC and SPARC; here
// these have the style of the others.
var (
	x86Layout = layout{size: 716, flagsSize: 4, cpu: 0x10000, title: "CONTEXT_X86", end: "\n"}.with("eip",
		other(29, 0, 4, "context_flags dr0 dr1 dr2 dr3 dr6 dr7"),
		other(29, 28, 4, "float_save.control_word float_save.status_word float_save.tag_word float_save.error_offset "+
			"float_save.error_selector float_save.data_offset float_save.data_selector"),
		other(29, 56, 80, "float_save.register_area[80]"), other(29, 136, 4, "float_save.cr0_npx_state"),
		shown(29, row(140, 4, -1, "gs fs es ds")),
		shown(29, numbered(row(156, 4, 0, "edi esi ebx edx ecx eax ebp eip cs eflags esp ss"),
			7, 6, 3, 2, 1, 0, 5, 8, -1, 9, 4, -1)),
		other(29, 204, x86ExtendedSize, "extended_registers[512]"))

	amd64Layout = layout{size: 1232, flags: 48, flagsSize: 4, cpu: 0x100000, title: "CONTEXT_AMD64", end: "\n"}.with("rip",
		other(14, 0, 8, "p1_home p2_home p3_home p4_home p5_home p6_home"), other(14, 48, 4, "context_flags mx_csr"),
		shown(14, row(56, 2, -1, "cs ds es fs gs ss")),
		shown(14, row(68, 4, 49, "eflags")),
		other(14, 72, 8, "dr0 dr1 dr2 dr3 dr6 dr7"),
		shown(14, numbered(row(120, 8, 0, "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip"),
			0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16)))

	armLayout = layout{size: 368, flagsSize: 4, cpu: 0x40000000, alias: 0x200000, title: "CONTEXT_ARM"}.with("pc",
		other(20, 0, 4, "context_flags"),
		array("iregs[%2d]            ", row(4, 4, 0, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 fp r12 sp lr pc")),
		shown(20, row(68, 4, 128, "cpsr")), other(21, 72, 8, "float_save.fpscr"),
		array("float_save.regs[%2d] ", many(80, 8, 32)), array("float_save.extra[%2d] ", many(336, 4, 8)))

	arm64Layout = layout{size: 912, flagsSize: 4, cpu: 0x400000, title: "CONTEXT_ARM64"}.with("pc",
		other(21, 0, 4, "context_flags"), arm64Regs, shown(21, row(4, 4, -1, "cpsr")),
		other(21, 788, 4, "fpsr"), other(21, 784, 4, "fpcr"), array("d%-2d ", many(272, 16, 32)),
		array("bcr[%2d] ", many(792, 4, 8)), array("bvr[%2d] ", many(824, 8, 8)),
		array("wcr[%2d] ", many(888, 4, 2)), array("wvr[%2d] ", many(896, 8, 2)))

	arm64OldLayout = layout{size: 796, flagsSize: 8, cpu: contextARM64Old, title: "CONTEXT_ARM64_OLD"}.with("pc",
		other(21, 0, 8, "context_flags"), arm64Regs, shown(21, row(272, 4, -1, "cpsr")),
		other(21, 276, 4, "fpsr fpcr"), array("d%-2d ", many(284, 16, 32)))

	mipsLayout = layout{size: 600, flagsSize: 4, cpu: 0x40000, alias: 0x80000, title: "CONTEXT_MIPS"}.with("pc",
		other(20, 0, 4, "context_flags"),
		row(8, 8, 0, "zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7"),
		shown(18, row(136, 8, 16, "s0 s1 s2 s3 s4 s5 s6 s7")), row(200, 8, 24, "t8 t9 k0 k1"),
		shown(18, row(232, 8, 28, "gp sp fp ra")), row(264, 8, 64, "hi lo"), row(312, 8, -1, "pc"))

	ppcLayout = layout{size: 1004, flagsSize: 4, cpu: 0x20000000, title: "CONTEXT_PPC"}.with("srr0",
		other(20, 0, 4, "context_flags"), shown(20, row(4, 4, -1, "srr0 srr1")),
		array("gpr[%2d]             ", row(12, 4, 0, gpr32)),
		shown(20, numbered(row(140, 4, 0, "cr xer lr ctr"), 64, 76, 65, 66)))

	ppc64Layout = layout{size: 1160, flagsSize: 8, cpu: 0x1000000, title: "CONTEXT_PPC64"}.with("srr0",
		other(20, 0, 8, "context_flags"), shown(20, row(8, 8, -1, "srr0 srr1")),
		array("gpr[%2d]             ", row(24, 8, 0, gpr32)),
		shown(20, numbered(row(280, 8, 0, "cr xer lr ctr"), 64, 76, 65, 66)))

	sparcLayout = layout{size: 584, flagsSize: 4, cpu: 0x10000000, title: "CONTEXT_SPARC"}.with("pc",
		other(20, 0, 4, "context_flags"),
		array("g_r[%2d]             ", row(8, 8, 0, "g0 g1 g2 g3 g4 g5 g6 g7 o0 o1 o2 o3 o4 o5 o6 o7 "+
			"l0 l1 l2 l3 l4 l5 l6 l7 i0 i1 i2 i3 i4 i5 i6 i7")),
		shown(20, row(264, 8, -1, "ccr pc npc y asi fprs")))

	riscvLayout = layout{size: 268, flagsSize: 4, cpu: 0x800000}.with("pc",
		numbered(row(8, 4, 0, riscvRegs), -1))

	riscv64Layout = layout{size: 524, flagsSize: 4, cpu: 0x8000000}.with("pc",
		numbered(row(8, 8, 0, riscvRegs), -1))
)
