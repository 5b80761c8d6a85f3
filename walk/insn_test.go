package walk

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
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

// decode analyzes an instruction given in hexadecimal, behind which there is no
// memory. Registers are "NAME=VALUE".
func decode(t *testing.T, code, regs string, mem memoryMap) (insn, bool) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	all := memoryMap{insnPC: b}
	for at, b := range mem {
		all[at] = b
	}
	p := &Process{CPU: "x86_64", Memory: all}
	r := Registers{PC: insnPC}
	for i := range amd64Numbers {
		r.Set(amd64Numbers[i], 0x7000)
	}
	for _, reg := range strings.Fields(regs) {
		name, value, _ := strings.Cut(reg, "=")
		var v uint64
		if _, err := fmt.Sscanf(value, "0x%x", &v); err != nil {
			t.Fatal(err)
		}
		r.Set(amd64CPU.slots["$"+name], v)
	}
	return p.analyze(&r)
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

func showInsn(in insn) string {
	var all []string
	for _, a := range in.accesses {
		kind := a.kind
		if kind == "" {
			kind = "?"
		}
		all = append(all, fmt.Sprintf("%s %d %x%s", kind, a.size, a.addr, map[bool]string{true: " null"}[a.null]))
	}
	out := strings.Join(all, ", ")
	if in.jumps {
		out += fmt.Sprintf(" → %x%s", in.target.addr, map[bool]string{true: " null"}[in.target.null])
	}
	return out
}

// TestFault: what the address of the crash should be.
func TestFault(t *testing.T) {
	const far = 0x8000_0000_0000
	for _, c := range []struct {
		name, code string
		rax        uint64
		crash      Crash
		want       string
	}{
		{"null pointer", "8b4008", 0, Crash{Reason: "SIGSEGV / SEGV_MAPERR", Address: 8}, "null-pointer 8"},
		{"Linux", "8b4008", far, Crash{Reason: "SIGSEGV / SI_KERNEL"}, "non-canonical 800000000008"},
		{"Windows", "8b4008", far, Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_READ", Address: ^uint64(0)}, "non-canonical 800000000008"},
		{"macOS", "8b4008", far, Crash{Reason: "EXC_BAD_ACCESS / EXC_I386_GPFLT"}, "non-canonical 800000000008"},
		{"another reason", "8b4008", far, Crash{Reason: "SIGSEGV / SEGV_MAPERR", Address: 8}, " 0"},
		{"an address that can be", "8b4008", 0x10, Crash{Reason: "SIGSEGV / SI_KERNEL"}, " 0"},
		{"no crash", "8b4008", 0, Crash{}, " 0"},
		{"a call of a null pointer", "ffd0", 0, Crash{Reason: "SIGSEGV / SI_KERNEL"}, "null-pointer 0"},
	} {
		b, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		p := &Process{CPU: "x86_64", Memory: memoryMap{insnPC: b}, Crash: c.crash, Threads: make([]Thread, 1)}
		r := &p.Threads[0].Regs
		r.PC = insnPC
		r.Set(0, c.rax)
		r.Set(7, 0x100)
		f := p.fault()
		if got := fmt.Sprintf("%s %x", f.adjusted, f.value); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestGuardPage(t *testing.T) {
	p := &Process{Mappings: []Mapping{{0x1000, 0x2000, false, false, false}, {0x2000, 0x3000, true, false, false},
		{0x4000, 0x5000, false, false, false}, {0x6000, 0x60000, false, false, false}, {0x60000, 0x61000, true, true, false}}}
	for addr, want := range map[uint64]bool{0x1000: true, 0x1fff: true, 0x2000: false, 0x3000: false, 0x4000: false, 0x7000: false} {
		if got := p.guardPage(addr); got != want {
			t.Errorf("%#x: %v", addr, got)
		}
	}
}

// FuzzInsn: any bytes end, and touch no memory but what is asked for.
func FuzzInsn(f *testing.F) {
	for _, seed := range []string{"\x8b\x05\x10\x00\x00\x00", "\x62\xf1\x7c\x48\x10\x40\x01", "\xff\x54\xe4\x10", "\xc4\xe3\x79\x16\x00\x01"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		p := &Process{CPU: "x86_64", Memory: memoryMap{insnPC: code}}
		r := Registers{PC: insnPC}
		for i := range amd64Numbers {
			r.Set(amd64Numbers[i], uint64(i)<<20)
		}
		in, ok := p.analyze(&r)
		if len(in.accesses) > 2 || ok && len(code) == 0 {
			t.Fatalf("%x: %v", code, in)
		}
	})
}
