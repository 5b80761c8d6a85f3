package cpu

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"symkit/walk/internal/code"
)

// bigName returns the name of a machine without "/be", and whether it is big-endian.
func bigName(name string) (string, bool) {
	n := len(name) - len("/be")
	if n > 0 && name[n:] == "/be" {
		return name[:n], true
	}
	return name, name == "s390x" || name == "sparc"
}

// memory is one range of memory.
type memory struct {
	addr uint64
	data []byte
}

func (m memory) Bytes(addr, n uint64) []byte {
	if off := addr - m.addr; addr >= m.addr && off <= uint64(len(m.data)) && n <= uint64(len(m.data))-off {
		return m.data[off:][:n:n]
	}
	return nil
}

// TestTrampolines: the code that handlers return to, and where the kernel put
// PC and SP above the stack pointer there (Linux, arch/*/kernel/signal*.c; for
// MIPS and PowerPC compared with what qemu does).
func TestTrampolines(t *testing.T) {
	for _, test := range []struct {
		cpu    string
		code   []uint32
		pc, sp uint64
	}{
		{"x86", []uint32{0x0000adb8, 0x0080cd00}, 216, 188},
		{"x86", []uint32{0x0077b858, 0x80cd0000}, 60, 32},
		{"x86_64", []uint32{0x0fc0c748, 0x0f000000, 5}, 168, 160},
		{"arm", []uint32{0xe3a070ad, 0xef000000}, 220, 212},
		{"arm64", []uint32{0xd2801168, 0xd4000001}, 568, 560},
		{"mips", []uint32{0x24021061, 0x0000000c}, 184, 424},
		{"mips", []uint32{0x24021017, 0x0000000c}, 32, 272},
		{"mips/be", []uint32{0x24021061, 0x0000000c}, 188, 428},
		{"mips/be", []uint32{0x24021017, 0x0000000c}, 36, 276},
		{"mips64", []uint32{0x2402145b, 0x0000000c}, 768, 424},
		{"mips64/be", []uint32{0x2402145b, 0x0000000c}, 768, 424},
		{"ppc/be", []uint32{0x380000ac, 0x44000002}, 528, 404},
		{"ppc64", []uint32{0x38210080, 0x380000ac, 0x44000002}, 616, 368},
		{"ppc64", []uint32{0x380000ac, 0x44000002}, 632, 384}, // qemu's
		{"ppc64/be", []uint32{0x38210080, 0x380000ac, 0x44000002}, 616, 368},
		{"riscv", []uint32{0x08b00893, 0x00000073}, 288, 296},
		{"riscv64", []uint32{0x08b00893, 0x00000073}, 304, 320},
		{"mips", []uint32{0x24021061, 0}, 0, 0},
		{"mips", []uint32{0x24021061}, 0, 0},
		{"mips64", []uint32{0x24021061, 0x0000000c}, 0, 0},
		{"ppc64", []uint32{0x38210080, 0x380000ac}, 0, 0},
		{"riscv64", []uint32{0x08b00893, 0}, 0, 0},
		{"sparc", []uint32{0x82102065, 0x91d02010}, 0, 0},
	} {
		name, big := bigName(test.cpu)
		c := For(name, big, Other)
		var code []byte
		for _, insn := range test.code {
			if big {
				code = binary.BigEndian.AppendUint32(code, insn)
			} else {
				code = binary.LittleEndian.AppendUint32(code, insn)
			}
		}
		var pc, sp uint64
		rt, plain := c.rt, c.plain
		if frame := c.Signal(code); frame != nil {
			if frame != rt && frame != plain && len(test.code) != 2 { // qemu's has no name
				t.Errorf("%s %#x: not the frame of the functions that are known by name", test.cpu, test.code)
			}
			for _, r := range frame.regs {
				switch r.reg {
				case RegPC:
					pc = r.off
				case c.Arch.SP:
					sp = r.off
				}
			}
		}
		if pc != test.pc || sp != test.sp {
			t.Errorf("%s %#x: PC at %d, SP at %d; want %d, %d", test.cpu, test.code, pc, sp, test.pc, test.sp)
		}
	}
}

// TestThumbBit: the instruction set of a function that was called is that of the return
// address, whatever its bytes look like.
func TestThumbBit(t *testing.T) {
	const start = 0x401000
	// ARM code: five instructions of its eight words are unconditional.
	literals, _ := hex.DecodeString("640050e3" + "1eff2fc1" + "1c309fe5" + "2a20a0e3" + "10402de9" + "2805" + "00fa" + "0c230500" + "00210500")
	m := For("arm", false, Other)
	s := &Stack{CPU: m, Memory: memory{start, literals}}
	for _, test := range []struct {
		saved uint64
		want  code.Decoder
	}{
		{start + 0x18, code.ARM},
		{start + 0x19, code.Thumb},
		{0, code.Thumb}, // a guess
	} {
		if got := m.Decoder(s, start, test.saved); got != test.want {
			t.Errorf("%#x: %T, want %T", test.saved, got, test.want)
		}
	}
}

// TestStubs: entries of linkage tables of each machine.
func TestStubs(t *testing.T) {
	for _, test := range []struct {
		name, cpu, code string
		pc, want        uint64
	}{
		{"x86-64", "x86_64", "ff25e22f0000", 0x1020, 0x4008},
		{"x86-64 with endbr64", "x86_64", "f30f1efaff25d62f0000", 0x1060, 0x4040},
		{"x86-64 with endbr64 and bnd", "x86_64", "f30f1efaf2ff25d52f0000", 0x1060, 0x4040},
		{"i386", "x86", "ff250c400408", 0x8049030, 0x804400c},
		{"i386 of a library", "x86", "ffa30c000000", 0x1030, 0},
		{"arm64", "arm64", "b00000b0110240f910020091", 0x5f0, 0x15000},
		{"arm64 with bti", "arm64", "5f2403d5b00000b0110a40f9", 0x5f0, 0x15010},
		{"arm", "arm", "00c68fe210ca8ce2d4fbbce5", 0x3f4, 0x10fd0},
		{"arm, called by Thumb code", "arm", "7847c04600c68fe210ca8ce2d4fbbce5", 0x3f0, 0x10fd0},
		{"arm, far", "arm", "04c09fe50fc08ce000f09ce510200000", 0x400, 0x241c},
		{"arm: other code", "arm", "00c68fe200000000", 0x400, 0},
		{"nothing", "arm64", "", 0, 0},
	} {
		code, _ := hex.DecodeString(test.code)
		got, ok := For(test.cpu, false, Other).Stub(code, test.pc)
		if got != test.want || ok != (test.want != 0) {
			t.Errorf("%s: %#x %v, want %#x", test.name, got, ok, test.want)
		}
	}
}

// TestCalls: the instructions that return addresses follow, and where they
// lead.
func TestCalls(t *testing.T) {
	for _, test := range []struct {
		cpu    string
		code   string // hex is for bytes; ret is 0x1000
		ret    uint64
		call   bool
		target uint64
	}{
		{"x86_64", "\xe8\x10\x00\x00\x00", 0x1000, true, 0x1010},
		{"x86_64", "\xe8\xf0\xff\xff\xff", 0x1000, true, 0xff0},
		{"x86_64", "\xff\xd0", 0x1000, true, 0},
		{"x86_64", "\x41\xff\xd3", 0x1000, true, 0},
		{"x86_64", "\xff\x15\x00\x00\x00\x00", 0x1000, true, 0},
		{"x86_64", "\xff\x50\x08", 0x1000, true, 0},
		{"x86_64", "\xff\x94\xc8\x00\x01\x00\x00", 0x1000, true, 0},
		{"x86_64", "\xff\x24\x25", 0x1000, false, 0}, // jmp
		{"x86_64", "\x90\x90\x90\x90\x90\x90\x90\x90", 0x1000, false, 0},
		{"x86_64", "\xd0", 0x1000, false, 0},
		{"x86", "\xe8\x10\x00\x00\x00", 0x1000, true, 0x1010},
		{"arm64", "\x04\x00\x00\x94", 0x1000, true, 0x100c},   // bl .+16
		{"arm64", "\xff\xff\xff\x97", 0x1000, true, 0xff8},    // bl .-4
		{"arm64", "\x00\x00\x3f\xd6", 0x1000, true, 0},        // blr x0
		{"arm64", "\x1f\x09\x3f\xd6", 0x1000, true, 0},        // blraaz x8
		{"arm64", "\x00\x00\x1f\xd6", 0x1000, false, 0},       // br x0
		{"arm", "\x02\x00\x00\xeb", 0x1000, true, 0x100c},     // bl .+16
		{"arm", "\x33\xff\x2f\xe1", 0x1000, true, 0},          // blx r3
		{"arm", "\x02\x00\x00\xea", 0x1000, false, 0},         // b
		{"arm", "\x00\xf0\x06\xf8", 0x1001, true, 0x100c},     // bl .+16
		{"arm", "\xff\xf7\xfc\xff", 0x1001, true, 0xff8},      // bl .-4
		{"arm", "\x98\x47", 0x1001, true, 0},                  // blx r3
		{"arm", "\x18\x47", 0x1001, false, 0},                 // bx r3
		{"riscv64", "\xef\x00\x00\x01", 0x1000, true, 0x100c}, // jal ra,.+16
		{"riscv64", "\xef\xf0\xdf\xff", 0x1000, true, 0xff8},  // jal ra,.-4
		{"riscv64", "\x97\x00\x00\x00\xe7\x80\x00\x01", 0x1000, true, 0x1008},
		{"riscv64", "\x82\x97", 0x1000, true, 0},                              // jalr a5
		{"riscv64", "\x82\x80", 0x1000, false, 0},                             // ret
		{"mips", "\x04\x04\x00\x0c\x00\x00\x00\x00", 0x1000, true, 0x1010},    // jal 0x1010
		{"mips/be", "\x0c\x00\x04\x04\x00\x00\x00\x00", 0x1000, true, 0x1010}, // jal 0x1010
		{"mips64", "\x02\x00\x11\x04\x00\x00\x00\x00", 0x1000, true, 0x1004},  // bal .+12
		{"mips64", "\x09\xf8\x20\x03\x00\x00\x00\x00", 0x1000, true, 0},       // jalr $t9
		{"mips64/be", "\x03\x20\xf8\x09\x00\x00\x00\x00", 0x1000, true, 0},    // jalr $t9
		{"mips", "\x00\x00\x00\x00\x02\x00\x00\xe8", 0x1000, true, 0x1008},    // balc .+12
		{"mips", "\x00\x00\x00\x00\x00\x00\x19\xf8", 0x1000, true, 0},         // jialc $t9,0
		{"mips", "\x08\x00\xe0\x03\x00\x00\x00\x00", 0x1000, false, 0},        // jr $ra
		{"mips", "\x04\x04\x00\x0c", 0x1000, false, 0},                        // nothing before the delay slot
		{"ppc64", "\x11\x00\x00\x48", 0x1000, true, 0x100c},                   // bl .+16
		{"ppc64", "\xf9\xff\xff\x4b", 0x1000, true, 0xff4},                    // bl .-8
		{"ppc64/be", "\x48\x00\x00\x11", 0x1000, true, 0x100c},                // bl .+16
		{"ppc/be", "\x4e\x80\x04\x21", 0x1000, true, 0},                       // bctrl
		{"ppc/be", "\x4e\x80\x00\x21", 0x1000, true, 0},                       // blrl
		{"ppc/be", "\x4e\x80\x00\x20", 0x1000, false, 0},                      // blr
		{"ppc/be", "\x7c\x00\x04\xad", 0x1000, false, 0},                      // stdcx.
		{"ppc/be", "\x42\x9f\x00\x05", 0x1000, true, 0},                       // bcl 20,31,.+4
		{"sparc", "\x40\x00\x00\x04\x01\x00\x00\x00", 0x1000, true, 0x1008},   // call .+16
		{"sparc", "\x7f\xff\xff\xfe\x01\x00\x00\x00", 0x1000, true, 0xff0},    // call .-8
		{"sparc", "\x9f\xc0\x40\x00\x01\x00\x00\x00", 0x1000, true, 0},        // jmpl %g1,%o7
		{"sparc", "\x81\xc7\xe0\x08\x01\x00\x00\x00", 0x1000, false, 0},       // ret
		{"riscv", "\xef\x00\x00\x01", 0x1000, true, 0x100c},                   // jal ra,.+16
		{"s390x", "\xc0\xe5\x00\x00\x00\x08", 0x1000, true, 0x100a},
		{"s390x", "\x0d\xe1", 0x1000, true, 0},
		{"s390x", "\x07\xfe", 0x1000, false, 0}, // br %r14
	} {
		name, big := bigName(test.cpu)
		got := For(name, big, Other).callBefore([]byte(test.code), test.ret)
		if (got.Kind != NoCall) != test.call {
			t.Errorf("%s % x: call %v", test.cpu, test.code, got.Kind)
		}
		if ok := got.Kind == DirectCall; ok != (test.target != 0) || ok && got.Target != test.target {
			t.Errorf("%s % x: target %#x %v, want %#x", test.cpu, test.code, got.Target, got.Kind, test.target)
		}
	}
}
