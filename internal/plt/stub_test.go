package plt

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"symkit/elfx"
	"symkit/internal/wire"
)

// TestStubs: slots as binutils 2.40 links them (for LoongArch those of its ABI), the first slot of a
// section, which calls the dynamic linker, other code, and slots that are cut.
func TestStubs(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine elf.Machine
		big     bool
		pc      uint64
		code    string
		want    slotRef
	}{
		{"x86-64", elf.EM_X86_64, false, 0x1010, "ff25ea2f00006800000000", slotRef{slotGOT, 0x4000}},
		{"x86-64, the lazy half", elf.EM_X86_64, false, 0x1026, "6801000000", slotRef{slotLazy, 1}},
		{"x86-64 with CET and MPX", elf.EM_X86_64, false, 0x1010, "f30f1efaf2ff25e52f0000", slotRef{slotGOT, 0x4000}},
		{"x86-64, the first slot", elf.EM_X86_64, false, 0x1000, "ff35ea2f0000ff25ec2f0000", slotRef{}},
		{"x86-64, retpoline", elf.EM_X86_64, false, 0x1030, "4c8b1dc92f0000e8e4ffffffe9d1ffffff", slotRef{slotGOT, 0x4000}},
		{"x86-64, retpoline, not lazy", elf.EM_X86_64, false, 0x1020, "4c8b1dd92f0000e9d4ffffff", slotRef{slotGOT, 0x4000}},
		{"x86-64, the first slot of retpolines", elf.EM_X86_64, false, 0x1010, "4c891c24c3", slotRef{}},
		{"i386, retpoline, position-independent", elf.EM_386, false, 0x1030, "508b830c000000e8e4ffffff", slotRef{slotGOT, 0x4000}},
		{"i386, retpoline", elf.EM_386, false, 0x1030, "50a100400000e8e5ffffff", slotRef{slotGOT, 0x4000}},
		{"i386, the first slot of retpolines", elf.EM_386, false, 0x1010, "890c248b4c2404894424", slotRef{}},
		{"i386, position-independent", elf.EM_386, false, 0x1010, "ffa30c0000006800000000", slotRef{slotGOT, 0x4000}},
		{"i386", elf.EM_386, false, 0x1010, "ff250c400000", slotRef{slotGOT, 0x400c}},
		{"i386, the lazy half", elf.EM_386, false, 0x1026, "6808000000", slotRef{slotLazy, 1}},
		{"i386, the first slot", elf.EM_386, false, 0x1000, "ffb304000000ffa308000000", slotRef{}},
		{"arm64", elf.EM_AARCH64, false, 0x2e0, "10010090110640f910220091", slotRef{slotGOT, 0x20008}},
		{"arm64 with BTI", elf.EM_AARCH64, false, 0x2e0, "5f2403d510010090110640f9", slotRef{slotGOT, 0x20008}},
		{"arm64, the first slot", elf.EM_AARCH64, false, 0x2b0, "f07bbfa9f00000f011fe47f9", slotRef{}},
		{"ARM", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce260febce5", slotRef{slotGOT, 0x200c}},
		{"ARM, called from Thumb", elf.EM_ARM, false, 0x1a0, "7847c04600c68fe201ca8ce260febce5", slotRef{slotGOT, 0x200c}},
		{"ARM, the first slot", elf.EM_ARM, false, 0x190, "04e02de504e09fe50ee08fe0", slotRef{}},
		{"ARM, another instruction", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce21eff2fe1", slotRef{}},
		{"ARM without a load", elf.EM_ARM, false, 0x1a4, "00c68fe201ca8ce201ca8ce201ca8ce260febce5", slotRef{}},
		{"RISC-V", elf.EM_RISCV, false, 0x2f0, "172e0000033e0ed267030e00", slotRef{slotGOT, 0x2010}},
		{"RISC-V with a landing pad", elf.EM_RISCV, false, 0x2ec, "17000000172e0000033e0ed267030e00", slotRef{slotGOT, 0x2010}},
		{"RISC-V, 32 bits", elf.EM_RISCV, false, 0x2f0, "172e0000032e0ed2", slotRef{slotGOT, 0x2010}},
		{"RISC-V, the first slot", elf.EM_RISCV, false, 0x2d0, "972300003303c341", slotRef{}},
		{"s390x", elf.EM_S390, true, 0x2d0, "c01000000e98e3101000000407f1", slotRef{slotGOT, 0x2000}},
		{"s390x, the first slot", elf.EM_S390, true, 0x2b0, "e310f0380024c01000000e99", slotRef{}},
		{"MIPS", elf.EM_MIPS, true, 0x300, "8f99801003e078250320f80924180003", slotRef{slotSymbol, 3}},
		{"MIPS64", elf.EM_MIPS, true, 0x300, "df99801003e0782d0320f80964180003", slotRef{slotSymbol, 3}},
		{"MIPS, a symbol above 65535", elf.EM_MIPS, true, 0x300, "8f9980103c18000103e078250320f80937180003", slotRef{slotSymbol, 0x10003}},
		{"MIPS, .plt", elf.EM_MIPS, true, 0x400460, "3c0f00418df904b80320000825f804b8", slotRef{slotGOT, 0x4104b8}},
		{"MIPS, .plt, a low half below 0", elf.EM_MIPS, false, 0x400460, "41000f3cf8fff98d", slotRef{slotGOT, 0x40fff8}},
		{"MIPS, the first slot", elf.EM_MIPS, true, 0x400440, "3c1c00418f9904b0279c04b0", slotRef{}},
		{"MIPS64, .plt", elf.EM_MIPS, true, 0x400460, "3c0e0041ddd904b8", slotRef{slotGOT, 0x4104b8}},
		{"MIPS16, .plt", elf.EM_MIPS, true, 0x400410, "b2039a60651aeb00653b65000041045c", slotRef{slotGOT, 0x41045c}},
		{"microMIPS, .plt", elf.EM_MIPS, true, 0x400404, "7900400fff22000045990f02", slotRef{slotGOT, 0x410440}},
		{"microMIPS, little-endian", elf.EM_MIPS, false, 0x400404, "00790f4022ff00009945020f", slotRef{slotGOT, 0x410440}},
		{"microMIPS, 32-bit instructions", elf.EM_MIPS, true, 0x400404, "41a20041ff220440", slotRef{slotGOT, 0x410440}},
		{"microMIPS, the first slot", elf.EM_MIPS, true, 0x4003e0, "79804015ff23000005352525", slotRef{}},
		{"microMIPS, lazy", elf.EM_MIPS, true, 0x300, "ff3c80100dff45d933000003", slotRef{slotSymbol, 3}},
		{"microMIPS, lazy, a symbol above 65535", elf.EM_MIPS, true, 0x300, "ff3c801041b800010dff45d953180003", slotRef{slotSymbol, 0x10003}},
		{"MIPS without a symbol", elf.EM_MIPS, true, 0x300, "8f99801003e078250320f8090000000000000000", slotRef{}},
		{"MIPS, other code", elf.EM_MIPS, true, 0x300, "03e078258f998010", slotRef{}},
		{"LoongArch", elf.EM_LOONGARCH, false, 0x1000, "4f00001cefc1ff28", slotRef{slotGOT, 0x2ff0}},
		{"LoongArch, 32 bits", elf.EM_LOONGARCH, false, 0x1000, "4f00001cefc1bf28", slotRef{slotGOT, 0x2ff0}},
		{"LoongArch, other code", elf.EM_LOONGARCH, false, 0x1000, "4f00001c0000004c", slotRef{}},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		decode := func(code []byte) slotRef {
			return stubDecoders[test.machine](stub{wire.New(".plt", code, test.big), test.pc, 0x3ff4})
		}
		if got := decode(code); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
		for n := range 4 {
			if got := decode(code[:n]); got != (slotRef{}) {
				t.Errorf("%s, cut to %d bytes: got %v", test.name, n, got)
			}
		}
	}
}

// TestHeadGOT: %ebx is what the first slot of a section assumes.
func TestHeadGOT(t *testing.T) {
	for code, want := range map[string]uint64{
		"ffb304000000ffa308000000": 0x4000, // GNU ld: .got.plt
		"ffb3f4edffffffa3f8edffff": 0x5210, // lld 8: the end of .got
		"ffa30c0000006800000000":   0x4000, // .plt.got has no such slot
		"ffb304":                   0x4000,
	} {
		data, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if got := headGOT(data, 0x4000); got != want {
			t.Errorf("%s: %#x, want %#x", code, got, want)
		}
	}
}

// TestSectionOnce: a slot that begins with bti, which is recognised without it too, is one slot.
func TestSectionOnce(t *testing.T) {
	code, err := hex.DecodeString("5f2403d510010090110640f91022009120021fd6" + "5f2403d510010090110a40f91042009120021fd6")
	if err != nil {
		t.Fatal(err)
	}
	x := reader{
		f: &elfx.File{}, decode: arm64Stub,
		targets: map[uint64][]byte{0x20008: []byte("alpha"), 0x20010: []byte("beta")},
	}
	x.section(".plt", 0x2e0, code, 4)
	var got []string
	for _, s := range x.slots {
		got = append(got, fmt.Sprintf("%x %x %s", s.Addr, s.Size, s.Name))
	}
	if want := []string{"2e0 14 alpha", "2f4 14 beta"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
