package cfi

import (
	"debug/elf"
	"slices"
	"testing"
)

func TestRegisterNames(t *testing.T) {
	for _, c := range []struct {
		arch string
		reg  Reg
		name string
	}{
		{"x86", 0, "$eax"}, {"x86", 4, "$esp"}, {"x86", 8, "$eip"}, {"x86", 11, "$st0"}, {"x86", 37, "$fcw"}, {"x86", 49, "$ldtr"}, {"x86", 50, ""},
		{"x86_64", 1, "$rdx"}, {"x86_64", 8, "$r8"}, {"x86_64", 16, "$rip"}, {"x86_64", 32, "$xmm15"}, {"x86_64", 33, "$st0"},
		{"x86_64", 49, "$rflags"}, {"x86_64", 56, ""}, {"x86_64", 58, "$fs.base"}, {"x86_64", 66, "$fsw"},
		{"arm", 12, "r12"}, {"arm", 13, "sp"}, {"arm", 15, "pc"}, {"arm", 24, "fps"}, {"arm", 25, "cpsr"}, {"arm", 63, ""}, {"arm", 64, "s0"}, {"arm", 264, ""},
		{"arm64", 30, "x30"}, {"arm64", 31, "sp"}, {"arm64", 34, ""}, {"arm64", 64, "v0"}, {"arm64", 95, "v31"},
		{"ppc", 65, "lr"}, {"ppc64", 31, "r31"}, {"ppc64", 32, "f0"}, {"ppc64", 65, "lr"}, {"ppc64", 70, ""},
		{"mips", 8, "$t0"}, {"mips", 30, "$fp"}, {"mips", 33, "$f1"}, {"mips64", 64, "$hi"}, {"mips64", 31, "$ra"},
		{"riscv", 0, ""}, {"riscv64", 1, "ra"}, {"riscv64", 8, "s0"}, {"riscv64", 18, "s2"}, {"riscv64", 31, "t6"}, {"riscv64", 33, "f1"}, {"riscv64", 96, "v0"},
		{"s390x", 15, "r15"}, {"s390x", 17, "f2"}, {"s390x", 31, "f15"}, {"s390", 65, "pswa"},
		{"sparc", 14, "o6"}, {"sparcv9", 31, "i7"}, {"loongarch64", 3, "sp"}, {"loongarch64", 22, "fp"}, {"loongarch64", 31, "s8"},
	} {
		a := ArchByName(c.arch)
		if got := a.RegName(c.reg); got != c.name {
			t.Errorf("%s %d: %q, want %q", c.arch, c.reg, got, c.name)
		}
		if r, ok := a.Reg(c.name); c.name != "" && (!ok || r != c.reg) {
			t.Errorf("%s %s: %d, want %d", c.arch, c.name, r, c.reg)
		}
	}
	if _, ok := x86_64.Reg(""); ok || x86_64.RegName(^Reg(0)) != "" {
		t.Error("a register without name")
	}
}

func TestArchs(t *testing.T) {
	for _, a := range archs {
		if a.ready(); a.RegName(a.SP) == "" || a.RegName(a.RA) == "" || a.End == 0 || ArchByName(a.Name) != a || len(a.names) != len(a.order) {
			t.Errorf("%+v", a)
		}
		for _, r := range a.CalleeSaved {
			if a.RegName(r) == "" || r == a.SP {
				t.Errorf("%s: callee-saved %d", a.Name, r)
			}
		}
		if !slices.IsSorted(a.CalleeSaved) {
			t.Errorf("%s: callee-saved %v", a.Name, a.CalleeSaved)
		}
	}
}

func TestArchOf(t *testing.T) {
	for _, c := range []struct {
		machine      elf.Machine
		narrow, wide string
	}{
		{elf.EM_386, "x86", "x86"}, {elf.EM_X86_64, "x86_64", "x86_64"}, {elf.EM_ARM, "arm", "arm"},
		{elf.EM_AARCH64, "arm64", "arm64"}, {elf.EM_PPC, "ppc", "ppc"}, {elf.EM_PPC64, "ppc64", "ppc64"},
		{elf.EM_MIPS, "mips", "mips64"}, {elf.EM_RISCV, "riscv", "riscv64"}, {elf.EM_S390, "s390", "s390x"},
		{elf.EM_SPARC, "sparc", "sparc"}, {elf.EM_SPARC32PLUS, "sparc", "sparc"}, {elf.EM_SPARCV9, "sparcv9", "sparcv9"},
		{elf.EM_LOONGARCH, "", "loongarch64"}, {elf.EM_IA_64, "", ""},
	} {
		if a, b := ArchOf(c.machine, elf.ELFCLASS32), ArchOf(c.machine, elf.ELFCLASS64); a != ArchByName(c.narrow) || b != ArchByName(c.wide) {
			t.Errorf("%v: %v, %v", c.machine, a, b)
		}
	}
}
