package x86

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestInstructionText: what yaxpeax-x86 2.2.0, which rust-minidump uses, makes
// of the same bytes, but for bswap (it has the wrong size there), pause (nop)
// and instructions that the decoder here does not know. The first two are in
// rust-minidump's snapshots, those after them in its tests.
func TestInstructionText(t *testing.T) {
	for mode, cases := range map[int]string{64: texts64, 32: texts32} {
		for line := range strings.Lines(strings.TrimLeft(cases, "\n")) {
			code, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			b, err := hex.DecodeString(code)
			if err != nil {
				t.Fatal(err)
			}
			if got := spell(b, mode); got != want {
				t.Errorf("%d bits: %s: %q, want %q", mode, code, got, want)
			}
		}
	}
}

// spell returns the text of the instruction that code begins with.
func spell(code []byte, mode int) string {
	in, ok := Decode(code, mode)
	if !ok {
		return ""
	}
	return in.Text()
}

const texts64 = `
c604254200008001 mov byte [0x80000042], 0x1
c704254500000005000000 mov dword [0x45], 0x5
8a03 mov al, byte [rbx]
668b03 mov ax, word [rbx]
8b03 mov eax, dword [rbx]
488b03 mov rax, qword [rbx]
8a8500080000 mov al, byte [rbp + 0x800]
488b8500f8ffff mov rax, qword [rbp - 0x800]
8a04b500000000 mov al, byte [rsi * 4]
668b04b500000000 mov ax, word [rsi * 4]
488b040b mov rax, qword [rbx + rcx * 1]
428a440910 mov al, byte [rcx + r9 * 1 + 0x10]
4a8b4409f0 mov rax, qword [rcx + r9 * 1 - 0x10]
4a8b04ed0000f0ff mov rax, qword [r13 * 8 - 0x100000]
438a0474 mov al, byte [r12 + r14 * 2]
498b84d901000080 mov rax, qword [r9 + rbx * 8 - 0x7fffffff]
66a5 movs word es:[rdi], word ds:[rsi]
48a5 movs qword es:[rdi], qword ds:[rsi]
f3a4 rep movs byte es:[rdi], byte ds:[rsi]
f348ab rep stos qword es:[rdi], rax
f2ae repnz scas byte es:[rdi], al
ac lods al, byte [rsi]
488b05fa4d0900 mov rax, qword [rip + 0x94dfa]
64488b042528000000 mov rax, qword fs:[0x28]
65488b042530000000 mov rax, qword gs:[0x30]
488b4508 mov rax, qword [rbp + 0x8]
894de8 mov dword [rbp - 0x18], ecx
4883e0f0 and rax, -0x10
48c7c0ffffffff mov rax, -0x1
b8ffffffff mov eax, -0x1
48b8efcdab8967452301 mov rax, 0x123456789abcdef
c60000 mov byte [rax], 0x0
83c880 or eax, -0x80
ffd0 call rax
ff10 call qword [rax]
ff2425e8030000 jmp qword [0x3e8]
e8fbffffff call $-0x5
0f84e0000000 jz $+0xe0
7410 jz $+0x10
ebfe jmp $-0x2
c3 ret
c20800 ret 0x8
cc int 0x3
cd80 int 0x80
0f0b ud2
f4 hlt
f00fb10f lock cmpxchg dword [rdi], ecx
f0480fc10a lock xadd qword [rdx], rcx
9c pushf
55 push rbp
6a01 push 0x1
68f0ffffff push -0x10
8d4c2408 lea ecx, dword [rsp + 0x8]
488d3dfe4d0900 lea rdi, qword [rip + 0x94dfe]
0fb64701 movzx eax, byte [rdi + 0x1]
480fbe06 movsx rax, byte [rsi]
4863d0 movsxd rdx, eax
48f7f9 idiv rcx
48f739 idiv qword [rcx]
99 cdq
4899 cqo
66480f6ec0 movq xmm0, rax
0f100f movups xmm1, xmmword [rdi]
0f1106 movups xmmword [rsi], xmm0
660f6f0c24 movdqa xmm1, xmmword [rsp]
f30f6f4e10 movdqu xmm1, xmmword [rsi + 0x10]
f20f1002 movsd xmm0, qword [rdx]
f20f5835fe4d0900 addsd xmm6, qword [rip + 0x94dfe]
c5fe6f07 vmovdqu ymm0, ymmword [rdi]
c5fd7f442420 vmovdqa ymmword [rsp + 0x20], ymm0
c5fb101d36410200 vmovsd xmm3, qword [rip + 0x24136]
62f17c48100f vmovups zmm1, zmmword [rdi]
62f17d485809
62f1fd49590a vmulpd zmm1{k1}, zmm0, zmmword [rdx]
62e37d40254702de vpternlogd zmm16, zmm16, zmmword [rdi + 0x80], 0xde
c4e2fd180f
d94508 fld st(0), dword [rbp + 0x8]
dd5df8 fstp qword [rbp - 0x8], st(0)
db6c2410 fld st(0), mword [rsp + 0x10]
dec1 faddp st(1), st(0)
660f70ddb1 pshufd xmm3, xmm5, -0x4f
0f1f440000 nop dword [rax + rax * 1]
66900f0b nop
90 nop
f390 pause
0fc8 bswap eax
480fcf bswap rdi
0fa2 cpuid
0f31 rdtsc
0f05 syscall
f30fb8c1 popcnt eax, ecx
0f38f006 movbe eax, dword [rsi]
660f3a0fc108 palignr xmm0, xmm1, 0x8
48cf iretq
4c0fb17c2420 cmpxchg qword [rsp + 0x20], r15
8ed8 mov ds, ax
0fae10 ldmxcsr dword [rax]
660fae30
f0c3
8ec8
0e
0fff
`

const texts32 = `
c70545000000e803000000 mov dword [0x45], 0x3e8
a145000000 mov eax, dword [0x45]
8b8548ffffff mov eax, dword [ebp - 0xb8]
6589042500000000 mov dword gs:[0x0], eax
65a114000000 mov eax, dword gs:[0x14]
648b0d00000000 mov ecx, dword fs:[0x0]
c745fc00000000 mov dword [ebp - 0x4], 0x0
8b4508 mov eax, dword [ebp + 0x8]
8b04850000a0ff mov eax, dword [eax * 4 - 0x600000]
668b00 mov ax, word [eax]
a5 movs dword es:[edi], dword ds:[esi]
f3a5 rep movs dword es:[edi], dword ds:[esi]
aa stos byte es:[edi], al
60 pushad
61 popad
06 push es
ea123456789abc jmpf 0xbc9a:0x78563412
9a123456789abc callf 0xbc9a:0x78563412
d7 xlat
c8100001 enter 0x10, 0x1
ff1504000000 call dword [0x4]
40 inc eax
62082b bound ecx, qword [eax]
0f0b ud2
c5fb1006 vmovsd xmm0, qword [esi]
2e8b00 mov eax, dword cs:[eax]
678b4608 mov eax, dword [bp + 0x8]
`

// FuzzInstructionText: bytes of a dump become one line of plain text, or none,
// whatever they are.
func FuzzInstructionText(f *testing.F) {
	f.Add([]byte("\x62\xf1\x7d\x48\x58\x09"), false)
	f.Add([]byte("\xf3\x48\xab"), true)
	f.Fuzz(func(t *testing.T, code []byte, long bool) {
		mode := 32
		if long {
			mode = 64
		}
		text := spell(code, mode)
		if len(text) > 100 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r >= 'A' && r <= 'Z' }) {
			t.Fatalf("% x: %q", code, text)
		}
	})
}
