package disasm

import (
	"debug/elf"
	"encoding/hex"
	"testing"
)

// TestDecode: one instruction of each machine, in the syntax of the GNU assembler.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		m          Machine
		code, want string
	}{
		{Machine{Machine: elf.EM_X86_64, Class: elf.ELFCLASS64}, "4889e5", "mov %rsp,%rbp"},
		{Machine{Machine: elf.EM_X86_64, Class: elf.ELFCLASS64, Intel: true}, "4889e5", "mov rbp, rsp"},
		{Machine{Machine: elf.EM_386, Class: elf.ELFCLASS32}, "89e5", "mov %esp,%ebp"},
		{Machine{Machine: elf.EM_AARCH64, Class: elf.ELFCLASS64}, "fd7bbfa9", "stp x29, x30, [sp,#-16]!"},
		{Machine{Machine: elf.EM_PPC64, Class: elf.ELFCLASS64}, "a602087c", "mflr r0"},
		{Machine{Machine: elf.EM_PPC64, Class: elf.ELFCLASS64, BigEndian: true}, "7c0802a6", "mflr r0"},
		{Machine{Machine: elf.EM_S390, Class: elf.ELFCLASS64, BigEndian: true}, "07fe", "br %r14"},
		{Machine{Machine: elf.EM_RISCV, Class: elf.ELFCLASS64}, "130101ff", "addi x2,x2,-16"},
		{Machine{Machine: elf.EM_X86_64, Class: elf.ELFCLASS64}, "06", ""},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		got := c.m.Decode(code, 0x1000)
		if len(got) != 1 || got[0].Text != c.want || len(got[0].Bytes) != len(code) {
			t.Errorf("%v %s: %+v, want %q", c.m.Machine, c.code, got, c.want)
		}
	}
	for _, c := range []struct {
		m    elf.Machine
		code []byte
		want uint64
	}{
		{elf.EM_X86_64, []byte{0xe8, 1, 0, 0, 0}, 0x1006},
		{elf.EM_X86_64, []byte{0xeb, 0xfe}, 0x1000},
		{elf.EM_X86_64, []byte{0xc3}, 0},
		{elf.EM_AARCH64, []byte{2, 0, 0, 0x94}, 0x1008},    // bl
		{elf.EM_AARCH64, []byte{0x40, 0, 0, 0xb4}, 0x1008}, // cbz
		{elf.EM_AARCH64, []byte{0, 0, 0, 0x90}, 0},         // adrp
	} {
		got := Machine{Machine: c.m, Class: elf.ELFCLASS64}.Decode(c.code, 0x1000)
		if len(got) != 1 || got[0].Target != c.want {
			t.Errorf("%v %x: %+v, want the target %#x", c.m, c.code, got, c.want)
		}
	}
	if (Machine{Machine: elf.EM_MIPS}).Known() {
		t.Error("MIPS is known")
	}
}

// FuzzDecode: every byte is part of one instruction, in order.
func FuzzDecode(f *testing.F) {
	f.Add(uint16(elf.EM_X86_64), false, []byte{0x48, 0x89, 0xe5, 0x06, 0xc3})
	f.Add(uint16(elf.EM_AARCH64), false, []byte{0xfd, 0x7b, 0xbf, 0xa9, 1})
	f.Add(uint16(elf.EM_PPC64), true, []byte{0x7c, 8, 2, 0xa6})
	f.Add(uint16(elf.EM_S390), true, []byte{7, 0xfe, 0xe3})
	f.Add(uint16(elf.EM_RISCV), false, []byte{0x13, 1, 1, 0xff, 1, 0})
	f.Add(uint16(elf.EM_LOONGARCH), false, []byte{0x20, 0, 0, 0x4c})
	f.Fuzz(func(t *testing.T, machine uint16, big bool, code []byte) {
		m := Machine{Machine: elf.Machine(machine), Class: elf.ELFCLASS64, BigEndian: big}
		at, addr := 0, uint64(0x1000)
		for _, in := range m.Decode(code, addr) {
			if in.Addr != addr+uint64(at) || len(in.Bytes) == 0 {
				t.Fatalf("instruction at %#x of %d bytes, want one at %#x", in.Addr, len(in.Bytes), addr+uint64(at))
			}
			at += len(in.Bytes)
		}
		if m.Known() && at != len(code) {
			t.Fatalf("%d bytes of %d", at, len(code))
		}
	})
}
