package x86

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
)

// memoryMap is memory by address.
type memoryMap map[uint64][]byte

func (m memoryMap) Bytes(addr, n uint64) []byte {
	for at, b := range m {
		if addr >= at && addr-at <= uint64(len(b)) && n <= uint64(len(b))-(addr-at) {
			return b[addr-at:][:n]
		}
	}
	return nil
}

const insnPC = 0x1000

// names are the registers by their numbers in instructions.
var names = strings.Fields("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")

// analyze returns the effect of the instruction at insnPC, with registers by their
// DWARF numbers.
func analyze(mem memoryMap, pc uint64, regs map[cfi.Reg]uint64) (Effect, bool) {
	var code []byte
	for n := uint64(MaxLen); n > 0 && code == nil; n-- {
		code = mem.Bytes(pc, n)
	}
	in, ok := Decode(code, 64)
	if !ok {
		return Effect{}, false
	}
	return in.Effect(&State{PC: pc, Memory: mem.Bytes, Reg: func(r cfi.Reg) (uint64, bool) {
		v, ok := regs[r]
		return v, ok
	}})
}

// decode analyzes an instruction given in hexadecimal, after which there is no
// memory. Registers are "NAME=VALUE".
func decode(t *testing.T, code, regs string, mem memoryMap) (Effect, bool) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	all := memoryMap{insnPC: b}
	maps.Copy(all, mem)
	r := map[cfi.Reg]uint64{}
	for _, reg := range DWARF64 {
		r[reg] = 0x7000
	}
	for reg := range strings.FieldsSeq(regs) {
		name, value, _ := strings.Cut(reg, "=")
		var v uint64
		if _, err := fmt.Sscanf(value, "0x%x", &v); err != nil {
			t.Fatal(err)
		}
		r[DWARF64[slices.Index(names, name)]] = v
	}
	return analyze(all, insnPC, r)
}

// TestInsn: Intel SDM vol. 2; the first ones are rust-minidump's cases.
func TestInsn(t *testing.T) {
	for _, c := range []struct{ text, code, regs, want string }{
		{"mov al,[rbx]", "8a03", "rbx=0xbadc0ffebadc0ffe", "read 1 badc0ffebadc0ffe"},
		{"mov ax,[rbx]", "668b03", "rbx=0xbadc0ffebadc0ffe", "read 2 badc0ffebadc0ffe"},
		{"mov eax,[rbx]", "8b03", "rbx=0xbadc0ffebadc0ffe", "read 4 badc0ffebadc0ffe"},
		{"mov rax,[rbx]", "488b03", "rbx=0xbadc0ffebadc0ffe", "read 8 badc0ffebadc0ffe"},
		{"mov al,[rbp+0x800]", "8a8500080000", "rbp=0x10", "read 1 810"},
		{"mov rax,[rbp-8]", "488b45f8", "rbp=0x10", "read 8 8"},
		{"mov [0x45],5", "c7042545000000 05000000", "", "write 4 45"},
		{"mov [rsp+r12*8+0x10],r9", "4e894ce410", "rsp=0x100 r12=0x2", "write 8 120"},
		{"mov eax,[r13+0]", "418b4500", "r13=0x99", "read 4 99"},
		{"mov eax,[rip+0x10]", "8b0510000000", "", "read 4 1016"},
		{"cmp dword [rip+0x10],1", "833d1000000001", "", "read 4 1017"},
		{"mov dword [rip+0x10],1", "c7051000000001000000", "", "write 4 101a"},
		{"mov eax,[eax]", "678b00", "rax=0xffffffff00000008", "read 4 8"},
		{"add [rax],ecx", "0108", "rax=0x8", "readwrite 4 8"},
		{"add ecx,[rax]", "0308", "rax=0x8", "read 4 8"},
		{"cmp [rax],ecx", "3908", "rax=0x8", "read 4 8"},
		{"add byte [rax],1", "800001", "rax=0x8", "readwrite 1 8"},
		{"cmp byte [rax],1", "803801", "rax=0x8", "read 1 8"},
		{"lea rax,[rax]", "488d00", "", ""},
		{"mov eax,ebx", "89d8", "", ""},
		{"nop [rax]", "0f1f00", "", ""},
		{"inc dword [rax]", "ff00", "rax=0x8", "readwrite 4 8"},
		{"push rax", "50", "rsp=0x100", "write 8 f8"},
		{"push [rax]", "ff30", "rsp=0x100 rax=0x8", "write 8 f8, read 8 8"},
		{"pop rax", "58", "rsp=0x100", "read 8 100"},
		{"pop [rax]", "8f00", "rsp=0x100 rax=0x8", "read 8 100, write 8 8"},
		{"ret", "c3", "rsp=0x100", "read 8 100"},
		{"ret to 0x4242", "c3", "rsp=0x5000", "read 8 5000 → 4242"},
		{"call [rax+8]", "ff5008", "rax=0x4ff8 rsp=0x100", "write 8 f8, read 8 5000 → 4242"},
		{"call rax", "ffd0", "rax=0x77 rsp=0x100", "write 8 f8 → 77"},
		{"jmp r8", "41ffe0", "r8=0x0", " → 0 null"},
		{"call rel32", "e800000000", "rsp=0x100", "write 8 f8"},
		{"div [rax]", "f730", "rax=0x8", "read 4 8"},
		{"not [rax]", "f710", "rax=0x8", "readwrite 4 8"},
		{"test [rip+0],1", "f70500000000 01000000", "", "read 4 100a"},
		{"xchg [rax],ecx", "8708", "rax=0x8", "readwrite 4 8"},
		{"movzx eax,word [rax]", "0fb700", "rax=0x8", "read 2 8"},
		{"movsxd rax,[rax]", "486300", "rax=0x8", "read 4 8"},
		{"lock cmpxchg [rax],ecx", "f00fb108", "rax=0x8", "readwrite 4 8"},
		{"movups xmm0,[rax]", "0f1000", "rax=0x8", "read 16 8"},
		{"movss xmm0,[rax]", "f30f1000", "rax=0x8", "read 4 8"},
		{"movsd [rax],xmm0", "f20f1100", "rax=0x8", "write 8 8"},
		{"ucomiss xmm0,[rax]", "0f2e00", "rax=0x8", "read 4 8"},
		{"movdqa [rax],xmm0", "660f7f00", "rax=0x8", "write 16 8"},
		{"movq [rax],xmm0", "660fd600", "rax=0x8", "write 8 8"},
		{"rep movsb", "f3a4", "rsi=0x8 rdi=0x10", "read 1 8, write 1 10"},
		{"rep stosq", "f348ab", "rdi=0x0", "write 8 0 null"},
		{"fld [rax]", "d900", "rax=0x8", "? 0 8"},
		{"vmovups ymm0,[rax+r9]", "c4a17c100408", "rax=0x8 r9=0x10", "? 0 18"},
		{"vmovdqu ymm0,[rsi]", "c5fe6f06", "rsi=0x8", "? 0 8"},
		{"vzeroupper", "c5f877", "", ""},
		{"mov eax,fs:[0x28]", "648b042528000000", "", ""},
		{"mov rax,[rdx+0x10]", "488b4210", "rdx=0x0", "read 8 10 null"},
		{"syscall", "0f05", "", ""},
		{"endbr64", "f30f1efa", "", ""},
		{"adcx rax,[rdx]", "66480f38f602", "rdx=0x8", "? 0 8"},
		{"adox rax,[rdx+8]", "f3480f38f64208", "rdx=0x8", "? 0 10"},
		{"vfmaddsd xmm0,xmm1,[rdx],xmm3 (FMA4)", "c4e3f16b0230", "rdx=0x8", "? 0 8"},
		{"rdseed eax", "0fc7f8", "", ""},
		{"call far [rdx]", "ff1a", "rdx=0x8 rsp=0x100", "read 6 8"},
	} {
		in, ok := decode(t, c.code, c.regs, memoryMap{0x5000: {0x42, 0x42, 0, 0, 0, 0, 0, 0}})
		if got := showInsn(in); !ok || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.text, got, ok, c.want)
		}
	}
	for _, short := range []string{"", "48", "8b", "8b0510", "0f", "c7", "ff"} {
		if in, ok := decode(t, short, "", nil); ok {
			t.Errorf("%s: %s", short, showInsn(in))
		}
	}
}

func showInsn(in Effect) string {
	var all []string
	for _, a := range in.Accesses {
		kind := a.Kind
		if kind == "" {
			kind = "?"
		}
		all = append(all, fmt.Sprintf("%s %d %x%s", kind, a.Size, a.Addr, map[bool]string{true: " null"}[a.Null]))
	}
	out := strings.Join(all, ", ")
	if in.Jumps {
		out += fmt.Sprintf(" → %x%s", in.Target.Addr, map[bool]string{true: " null"}[in.Target.Null])
	}
	return out
}

// FuzzInsn: any bytes end, and touch no memory but what is asked for.
func FuzzInsn(f *testing.F) {
	for _, seed := range []string{"\x8b\x05\x10\x00\x00\x00", "\x62\xf1\x7c\x48\x10\x40\x01", "\xff\x54\xe4\x10", "b100X", "\xc4\xe3\x79\x16\x00\x01"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		r := map[cfi.Reg]uint64{}
		for i, reg := range DWARF64 {
			r[reg] = uint64(i) << 20
		}
		in, ok := analyze(memoryMap{insnPC: code}, insnPC, r)
		if len(in.Accesses) > 2 || ok && len(code) == 0 {
			t.Fatalf("%x: %v", code, in)
		}
	})
}

// TestReplaced: instructions that x86asm does not know have their length, and no
// text; bytes that 32-bit code has for others are left alone.
func TestReplaced(t *testing.T) {
	for _, c := range []struct {
		code string
		mode int
		size int
		text string
	}{
		{"f30f1efa90", 64, 4, ""},
		{"f30f1efb90", 32, 4, ""},
		{"660f38f6c190", 64, 5, ""},
		{"f34c0f38f6e790", 64, 6, ""},
		{"0fc7fa90", 64, 3, ""},
		{"0f01ee90", 64, 3, ""},
		{"c4e3f96bc92090", 64, 6, ""},
		{"c5f87790", 64, 3, "vzeroupper"},
		{"c5fc77", 32, 3, "vzeroall"},
		{"c4e17c7790", 64, 4, "vzeroall"},
		{"c50377", 32, 2, "lds eax, far [ebx]"},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		in, ok := Decode(code, c.mode)
		if text := in.Text(); !ok || in.Len != c.size || text != c.text {
			t.Errorf("%d bits: %s: %v, %d bytes, %q; want %d, %q", c.mode, c.code, ok, in.Len, text, c.size, c.text)
		}
	}
}
