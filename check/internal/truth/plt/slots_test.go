package plt

import (
	"debug/elf"
	"encoding/hex"
	"maps"
	"testing"

	"symkit/elfx"
)

// TestSlotAt: slots as binutils 2.40 and lld 14 link them (for LoongArch those of its ABI), where they
// begin, the first slot of a section, which calls the dynamic linker, other code, and slots that are cut.
func TestSlotAt(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine elf.Machine
		big     bool
		addr    uint64
		code    string
		at      int
		word    uint64 // 0: no slot
		begin   int
	}{
		{"arm64", elf.EM_AARCH64, false, 0x2e0, "10010090110640f910220091", 0, 0x20008, 0},
		{"arm64 with BTI", elf.EM_AARCH64, false, 0x2e0, "5f2403d510010090110640f9", 4, 0x20008, 0},
		{"arm64, a page below", elf.EM_AARCH64, false, 0x5000, "f0fffff0110640f9", 0, 0x4008, 0},
		{"arm64, the first slot", elf.EM_AARCH64, false, 0x2b0, "f07bbfa9f00000f011fe47f9", 0, 0, 0},
		{"ARM", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce260febce5", 0, 0x200c, 0},
		{"ARM, called from Thumb", elf.EM_ARM, false, 0x1a0, "7847c04600c68fe201ca8ce260febce5", 4, 0x200c, 0},
		{"ARM, another instruction", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce21eff2fe1", 0, 0, 0},
		{"RISC-V", elf.EM_RISCV, false, 0x2f0, "172e0000033e0ed267030e00", 0, 0x2010, 0},
		{"RISC-V with a landing pad", elf.EM_RISCV, false, 0x2ec, "17000000172e0000033e0ed2", 4, 0x2010, 0},
		{"RISC-V, 32 bits", elf.EM_RISCV, false, 0x2f0, "172e0000032e0ed2", 0, 0x2010, 0},
		{"RISC-V, the first slot", elf.EM_RISCV, false, 0x2d0, "972300003303c341", 0, 0, 0},
		{"s390x", elf.EM_S390, true, 0x2d0, "c01000000e98e3101000000407f1", 0, 0x2000, 0},
		{"s390x, the first slot", elf.EM_S390, true, 0x2b0, "e310f0380024c01000000e99", 0, 0, 0},
		{"LoongArch", elf.EM_LOONGARCH, false, 0x1000, "4f00001cefc1ff28", 0, 0x2ff0, 0},
		{"LoongArch, 32 bits", elf.EM_LOONGARCH, false, 0x1000, "4f00001cefc1bf28", 0, 0x2ff0, 0},
		{"LoongArch, other code", elf.EM_LOONGARCH, false, 0x1000, "4f00001c0000004c", 0, 0, 0},
		{"MIPS", elf.EM_MIPS, true, 0x400460, "3c0f00418df904b80320000825f804b8", 0, 0x4104b8, 0},
		{"MIPS, a low half below 0", elf.EM_MIPS, false, 0x400460, "41000f3cf8fff98d", 0, 0x40fff8, 0},
		{"MIPS, the first slot", elf.EM_MIPS, true, 0x400440, "3c1c00418f9904b0279c04b0", 0, 0, 0},
		{"MIPS64", elf.EM_MIPS, true, 0x400460, "3c0e0041ddd904b8", 0, 0x4104b8, 0},
		{"MIPS16", elf.EM_MIPS, true, 0x400410, "b2039a60651aeb00653b65000041045c", 0, 0x41045c, 0},
		{"microMIPS", elf.EM_MIPS, true, 0x400404, "7900400fff22000045990f02", 0, 0x410440, 0},
		{"microMIPS, little-endian", elf.EM_MIPS, false, 0x400404, "00790f4022ff00009945020f", 0, 0x410440, 0},
		{"microMIPS, 32-bit instructions", elf.EM_MIPS, true, 0x400404, "41a20041ff220440", 0, 0x410440, 0},
		{"microMIPS, the first slot", elf.EM_MIPS, true, 0x4003e0, "79804015ff23000005352525", 0, 0, 0},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		f := &elfx.File{Header: elfx.Header{Machine: test.machine, BigEndian: test.big}}
		x := newSlotCode(f, &elfx.Section{Addr: test.addr}, code)
		word, begin, ok := x.slotAt(test.at)
		if ok != (test.word != 0) || ok && (word != test.word || begin != test.begin) {
			t.Errorf("%s: %#x from %d, %v, want %#x from %d", test.name, word, begin, ok, test.word, test.begin)
		}
		for n := range test.at + 8 {
			x.code = code[:n]
			if _, _, ok := x.slotAt(test.at); ok {
				t.Errorf("%s, cut to %d bytes: a slot", test.name, n)
			}
		}
	}
}

// TestLazyStubs: the stubs of MIPS that hand the number of their symbol to the dynamic linker.
func TestLazyStubs(t *testing.T) {
	for _, test := range []struct {
		name string
		big  bool
		code string
		want map[int]uint32
	}{
		{"two of gold", true, "8f99801003e078250320f80924180003" + "8f99801003e078250320f80924180005", map[int]uint32{0: 3, 16: 5}},
		{"64 bits, a symbol above 65535", true, "df9980103c18000103e0782d0320f80937180003", map[int]uint32{0: 0x10003}},
		{"microMIPS", true, "ff3c80100dff45d933000003" + "ff3c80100dff45d933000004", map[int]uint32{0: 3, 12: 4}},
		{"microMIPS, little-endian", false, "3cff1080ff0dd94500330300", map[int]uint32{0: 3}},
		{"cut", true, "8f99801003e078250320f80924", map[int]uint32{}},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		f := &elfx.File{Header: elfx.Header{Machine: elf.EM_MIPS, BigEndian: test.big}}
		got := maps.Collect(newSlotCode(f, &elfx.Section{}, code).lazyStubs())
		if !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
