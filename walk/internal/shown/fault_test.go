package shown

import (
	"encoding/hex"
	"fmt"
	"testing"

	"symkit/walk"
)

// TestFault: what the address of the crash should be.
func TestFault(t *testing.T) {
	const far = 0x8000_0000_0000
	for _, c := range []struct {
		name, code string
		rax        uint64
		crash      walk.Crash
		want       string
	}{
		{"null pointer", "8b4008", 0, walk.Crash{Reason: "SIGSEGV / SEGV_MAPERR", Address: 8}, "null-pointer 8"},
		{"Linux", "8b4008", far, walk.Crash{Reason: "SIGSEGV / SI_KERNEL"}, "non-canonical 800000000008"},
		{"Windows", "8b4008", far, walk.Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_READ", Address: ^uint64(0)}, "non-canonical 800000000008"},
		{"macOS", "8b4008", far, walk.Crash{Reason: "EXC_BAD_ACCESS / EXC_I386_GPFLT"}, "non-canonical 800000000008"},
		{"another reason", "8b4008", far, walk.Crash{Reason: "SIGSEGV / SEGV_MAPERR", Address: 8}, " 0"},
		{"an address that can be", "8b4008", 0x10, walk.Crash{Reason: "SIGSEGV / SI_KERNEL"}, " 0"},
		{"no crash", "8b4008", 0, walk.Crash{}, " 0"},
		{"a call of a null pointer", "ffd0", 0, walk.Crash{Reason: "SIGSEGV / SI_KERNEL"}, "null-pointer 0"},
	} {
		b, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		p := &walk.Process{CPU: "x86_64", Memory: memoryMap{insnPC: b}, Crash: c.crash, Threads: make([]walk.Thread, 1)}
		r := &p.Threads[0].Regs
		r.PC = insnPC
		r.Set(0, c.rax)
		r.Set(7, 0x100)
		f := NewFault(p)
		if got := fmt.Sprintf("%s %x", f.Adjusted, f.Value); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestGuardPage(t *testing.T) {
	p := &walk.Process{Mappings: []walk.Mapping{{Begin: 0x1000, End: 0x2000}, {Begin: 0x2000, End: 0x3000, Read: true},
		{Begin: 0x4000, End: 0x5000}, {Begin: 0x6000, End: 0x60000}, {Begin: 0x60000, End: 0x61000, Read: true, Write: true}}}
	for addr, want := range map[uint64]bool{0x1000: true, 0x1fff: true, 0x2000: false, 0x3000: false, 0x4000: false, 0x7000: false} {
		if got := GuardPage(p, addr); got != want {
			t.Errorf("%#x: %v", addr, got)
		}
	}
}
