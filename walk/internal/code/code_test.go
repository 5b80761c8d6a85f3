package code

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
)

// Functions of gcc 12 and clang 14, without frame records but where noted:
//
//	int each(int *v, int n, int (*f)(int *, int), int a, int b, int c); // -O2 -fomit-frame-pointer -fPIC
//	int check(int *p, int n); // -O1 -fno-omit-frame-pointer
const (
	amd64Each = "415741564155415455534883ec18897424084889142444894c240c85f67e6189cb4589c54989ff4589c64531e431ed904489f64c89ff488b04244983c704" +
		"ffd0418b4ffc8b74240c4101de0fafc6410fafcd01c14489e04183c40199f7fb01d101cd443964240875c74883c41889e85b5d415c415d415e415fc3660f1f44000031edebe5"
	amd64Check = "554889e5534883ec4831c031c90f1f0088440db04883c1014000f04883f94075ef89f089c183e13f0fbe4c0db0890d992e000083e00f0fbe5c05b031ff" +
		"e8aeffffff01d84883c4485b5dc3"
	arm64Each = "f353bba9fb7b04a93f0000714d040054f403012af55b01a9f60302aaf503042af76302a9f703052af80300aaf96b03a9f903032afa03042a130080521b008052" +
		"e1031a2ae00318aac0023fd6007c171b670ed91a064740b85a03190be7cc191b73060011a602061bc600070b7b03060b9f02136b61feff54f55b41a9e0031b2af76342a9" +
		"f96b43a9fb7b44a9f353c5a8c0035fd61b008052e0031b2afb7b44a9f353c5a8c0035fd6"
	armCheck = "10482de908b08de244d04de20140a0e171c0efe64d204be20d004be20030a0e30130e2e50c3083e07330efe6000052e1faffff1a3f3004e20c3043e20b3083e0" +
		"402053e528309fe503308fe0002083e50000a0e3e2ffffeb0f3004e20c3043e20b3083e0403053e5000083e008d04be21088bde8941a0000"
	thumbCheck = "90b591b000af0c465ffa81fc7a1e07f13f00002302f8013f6344dbb28242f9d104f03f0340333b4413f8402c074b7b441a600020fff7dcff04f00f0340333b44" +
		"13f8403c18444437bd4690bdca1a0000"
	thumbEach = "2de9f04fb1f1000883b0ddf830a001921edd00261f460546d146b3464946019b2846b94498470d9a2b688446394630460136043502fb0cf403fb0a4400f076f9" +
		"b0450c44a344e9d1584603b0bde8f08f4ff0000b584603b0bde8f08f"
)

// span is one range of memory.
type span struct {
	addr uint64
	data []byte
}

func (s span) Bytes(addr, n uint64) []byte {
	if off := addr - s.addr; addr >= s.addr && off <= uint64(len(s.data)) && n <= uint64(len(s.data))-off {
		return s.data[off:][:n:n]
	}
	return nil
}

// TestReadCode: the facts about a frame that the code of its function shows at an
// instruction: the registers that point into the stack, and, after the semicolon,
// the places of saved registers, all relative to the stack pointer on entry.
func TestReadCode(t *testing.T) {
	const (
		eachSaved  = "$r15-8 $r14-16 $r13-24 $r12-32 $rbp-40 $rbx-48"
		arm64Saved = "x19-80 x20-72 x27-16 x30-8 x21-64 x22-56 x23-48 x24-40 x25-32 x26-24"
	)
	for _, test := range []struct {
		name, cpu, code string
		pc              uint64
		call            bool // pc is a return address
		want            string
	}{
		{"the first instruction", "x86_64", amd64Each, 0, false, "$rsp+0"},
		{"behind a push", "x86_64", amd64Each, 2, false, "$rsp-8; $r15-8"},
		{"the body", "x86_64", amd64Each, 0x1d, false, "$rsp-72; " + eachSaved},
		{"behind a branch backwards", "x86_64", amd64Each, 0x69, false, "$rsp-72; " + eachSaved},
		{"a call of a register", "x86_64", amd64Each, 0x40, true, "$rsp-72; " + eachSaved},
		{"the epilogue", "x86_64", amd64Each, 0x6f, false, "$rsp-48; " + eachSaved},
		{"the return: all are restored", "x86_64", amd64Each, 0x79, false, "$rsp+0;"},
		{"behind the return: by a branch", "x86_64", amd64Each, 0x82, false, "$rsp-72; " + eachSaved},
		{"no instruction begins there", "x86_64", amd64Each, 1, false, "not reached"},
		{"no call before it", "x86_64", amd64Each, 0x3e, true, "not reached"},
		{"a frame pointer", "x86_64", amd64Check, 0x42, true, "$rsp-88 $rbp-8; $rbp-8 $rbx-16"},
		{"leave", "x86_64", "554889e54881ec00010000c9c3", 12, false, "$rsp+0;"},
		{"aligned: the frame pointer knows", "x86_64", "554889e54883e4e04883ec40e800000000", 17, true, "$rbp-8; $rbp-8"},
		{"a large frame", "x86_64", "b8000001004829c4e800000000", 13, true, "$rsp-65536"},
		{"behind a jump table", "x86_64", "534883ec20ffe090e80000000090", 13, true, "weak: $rsp-40; $rbx-8"},
		{"behind unknown bytes", "x86_64", "5306e80000000090", 7, true, "weak: $rsp-8; $rbx-8"},
		{"a jump table of no prologue", "x86_64", "ffe090e80000000090", 8, true, "not reached"},
		{"32 bits", "x86", "5589e557565383ec1ce80100000090", 14, true, "$esp-44 $ebp-4; $ebp-4 $edi-8 $esi-12 $ebx-16"},
		{"32 bits: inc is no prefix", "x86", "534083ec08e80100000090", 10, true, "$esp-12; $ebx-4"},
		{"before a shrink-wrapped save", "arm64", arm64Each, 8, false, "sp-80; x19-80 x20-72 x27-16 x30-8"},
		{"a call", "arm64", arm64Each, 0x4c, true, "sp-80; " + arm64Saved},
		{"the return", "arm64", arm64Each, 0x90, false, "sp+0;"},
		{"the other return", "arm64", arm64Each, 0x98, false, "sp-80; x19-80 x20-72 x27-16 x30-8"},
		{"a leaf", "arm64", "ff4300d1e00f00f9ff430091c0035fd6", 8, false, "sp-16"},
		{"the next function, behind a call that does not return", "arm64", "fd7bbfa900000094" + "fd7bbea91f2003d5", 12, false, "not reached"},
		// The size of the frame is a product, a sum, or a number that two instructions make.
		{"alloca", "arm64", "fd7bbea9fd030091f35301a9a2048052027c021b403c009100ec7c92ff6320cb01000094", 36, true, "x29-32; x29-32 x30-24 x19-16 x20-8"},
		{"an aligned copy of the stack pointer", "arm64", "fd7bb3a9fd030091f35301a9b37f019173e67a92ff6320cb01000094", 28, true,
			"x29-208; x29-208 x30-200 x19-192 x20-184"},
		{"a very large frame", "arm64", "fe0f1ff80c2e82d22c00a0f2ff632ccb01000094", 20, true, "sp-70016; x30-16"},
		{"ARM code: a very large frame", "arm", "10402de970c101e301c040e30cd04de0000000eb", 20, true, "sp-70008; r4-8 lr-4"},
		{"ARM code: alloca", "arm", "10482de908b08de22530a0e3900303e003d04de0000000eb", 24, true, "r11-4; r4-12 r11-8 lr-4"},
		{"Thumb code: a very large frame", "arm", "10b541f2701cc0f2010cadeb0c0d00f000f8", 18, true, "sp-70008; r4-8 lr-4"},
		{"Thumb code: alloca", "arm", "90b56f460523db00adeb030d00f000f8", 16, true, "r7-12; r4-12 r7-8 lr-4"},
		{"alloca", "x86_64", "554889e5b8250000000fafc74829c4e800000000", 20, true, "$rbp-8; $rbp-8"},
		{"ARM code", "arm", armCheck, 0x58, true, "sp-80 r11-4; r4-12 r11-8 lr-4"},
		{"ARM code: the epilogue", "arm", armCheck, 0x70, false, "sp-12 r11-4; r4-12 r11-8 lr-4"},
		{"ARM code: a conditional return", "arm", "10402de9000050e31080bd0800f020e3", 12, false, "sp-8; r4-8 lr-4"},
		{"Thumb code", "arm", thumbCheck, 0x38, true, "sp-80 r7-80; r4-12 r7-8 lr-4"},
		{"Thumb code: the epilogue", "arm", thumbCheck, 0x4a, false, "sp-12 r7-12; r4-12 r7-8 lr-4"},
		{"Thumb code: wide instructions", "arm", thumbEach, 0x26, true, "sp-48; r4-36 r5-32 r6-28 r7-24 r8-20 r9-16 r10-12 r11-8 lr-4"},
		{"Thumb code: a guarded return", "arm", "10b508bf10bd00bf", 6, false, "sp-8; r4-8 lr-4"},
	} {
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		const start = 0x401000
		arch := cfi.ArchByName(test.cpu)
		m := Machine{SP: arch.SP, LR: None, Saved: arch.CalleeSaved}
		if arch.LinkRegister {
			m.LR = arch.RA
		}
		d := map[string]Decoder{"x86": I386, "x86_64": AMD64, "arm": GuessARM(code, start), "arm64": ARM64}[test.cpu]
		r := NewReader(span{start, code}, m)
		r.Reset(1)
		got := r.Frame(d, start, start+test.pc, !test.call)
		if text := got.describe(arch, m); text != test.want {
			t.Errorf("%s, %s: %s, want %s", test.cpu, test.name, text, test.want)
		}
	}
}

// describe is "REGISTER+OFFSET ...; SAVED-OFFSET ...".
func (c *Frame) describe(arch *cfi.Arch, m Machine) string {
	if c.Err != nil {
		return "not reached"
	}
	name := func(reg cfi.Reg) string { return arch.RegName(reg) }
	var known, saved []string
	for _, reg := range append([]cfi.Reg{m.SP}, m.Saved...) {
		if v := c.State.Get(reg); v.Kind == Origin {
			known = append(known, fmt.Sprintf("%s%+d", name(reg), v.N))
		}
	}
	for _, s := range c.State.Saved {
		if c.State.Get(s.Reg).Kind != Entry {
			saved = append(saved, fmt.Sprintf("%s%+d", name(s.Reg), s.At))
		}
	}
	text := strings.Join(known, " ")
	if len(c.State.Saved) > 0 {
		text = strings.TrimSpace(text + "; " + strings.Join(saved, " "))
	}
	if !c.Reached {
		return "weak: " + text
	}
	return text
}

// TestReadCodeBounded: code that goes on and on, and branches everywhere.
func TestReadCodeBounded(t *testing.T) {
	const start = 0x401000
	for name, code := range map[string][]byte{
		"nop":      slices.Repeat([]byte{0x90}, 1<<17),
		"branches": slices.Repeat([]byte{0x74, 0x02}, 1<<16),
		"pushes":   slices.Repeat([]byte{0x53}, 1<<17),
	} {
		r := NewReader(span{start, code}, Machine{SP: 7, LR: None})
		r.Reset(1)
		if got := r.Frame(AMD64, start, start+1<<17, true); got.Err != errTooMuch {
			t.Errorf("%s: %v", name, got.Err)
		}
	}
}

// FuzzStep: no bytes make a decoder fail, and each instruction has a size that
// its machine has.
func FuzzStep(f *testing.F) {
	for _, text := range []string{amd64Each, amd64Check, arm64Each, armCheck, thumbCheck, thumbEach} {
		code, _ := hex.DecodeString(text)
		for i := range len(code) / 8 {
			f.Add(code[8*i:])
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, m := range []Decoder{AMD64, I386, ARM64, ARM, Thumb} {
			var e effect
			ok := m.step(code, 0x401000, &e)
			if ok && (e.size == 0 || e.size > 15 && e.size > uint64(len(code)) || e.size > uint64(len(code))) {
				t.Fatalf("%T: % x has %d bytes", m, code, e.size)
			}
		}
	})
}

// TestReset: each of many stacks may read some code.
func TestReset(t *testing.T) {
	r := NewReader(nil, Machine{})
	r.Reset(1 << 16)
	if r.steps != minStepsOne {
		t.Errorf("%d steps for each of many stacks", r.steps)
	}
}
