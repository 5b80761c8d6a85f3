package peers

import (
	"fmt"
	"testing"

	"symkit/walk"
)

// TestPeerRegisters: which registers other programs show of a frame, by how it was found.
func TestPeerRegisters(t *testing.T) {
	named := func(pairs ...any) (out []walk.NamedRegister) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, walk.NamedRegister{Name: pairs[i].(string), Value: uint64(pairs[i+1].(int))})
		}
		return out
	}
	callee := named("rax", 9, "rbx", 1, "rbp", 0x1050, "rsp", 0x1000, "rip", 0x400)
	scanned := named("rbx", 1, "rbp", 0x1050, "rsp", 0x1040, "rip", 0x500)
	for _, c := range []struct {
		name      string
		show      func(string, *walk.Frame, []walk.NamedRegister) []walk.NamedRegister
		cpu       string
		trust     walk.Trust
		sp        uint64
		registers []walk.NamedRegister
		callee    []walk.NamedRegister
		want      []walk.NamedRegister
	}{
		{"innermost", inRustMinidump, "x86_64", walk.TrustContext, 0x1000, callee, nil, callee},
		{"scan, %rbp above", inRustMinidump, "x86_64", walk.TrustScan, 0x1040, scanned, callee, named("rbp", 0x1050, "rsp", 0x1040, "rip", 0x500)},
		{"scan, %rbp pushed", inRustMinidump, "x86_64", walk.TrustScan, 0x1060, scanned, callee, named("rbp", 0x1050, "rsp", 0x1040, "rip", 0x500)},
		{"scan, %rbp below", inRustMinidump, "x86_64", walk.TrustScan, 0x1080, scanned, callee, named("rsp", 0x1040, "rip", 0x500)},
		{"scan, first word", inRustMinidump, "x86_64", walk.TrustScan, 0x1008, scanned, callee, named("rsp", 0x1040, "rip", 0x500)},
		{"scan, unknown %rbp", inRustMinidump, "x86_64", walk.TrustScan, 0x1040, scanned, named("rsp", 0x1000), named("rsp", 0x1040, "rip", 0x500)},
		{"leaf", inRustMinidump, "x86_64", walk.TrustLeaf, 0x1008, scanned, callee, named("rsp", 0x1040, "rip", 0x500)},
		{"rules", inRustMinidump, "x86_64", walk.TrustCFI, 0x1040, scanned, callee, scanned},
		{"STACK WIN", inRustMinidump, "x86", walk.TrustCFI, 0, named("eip", 1, "esp", 2, "esi", 3), named("ebx", 4, "esi", 5, "eax", 6), named("eip", 1, "esp", 2, "esi", 3, "ebx", 4)},
		{"Breakpad, leaf", inBreakpad, "x86_64", walk.TrustLeaf, 0x1008, scanned, callee, append(append([]walk.NamedRegister(nil), scanned...), named("rax", 9)...)},
		{"Breakpad, scan", inBreakpad, "x86_64", walk.TrustScan, 0x1008, scanned, callee, scanned},
		{"Breakpad, arm", inBreakpad, "arm", walk.TrustLeaf, 0x1008, scanned, callee, scanned},
	} {
		f := &walk.Frame{Trust: c.trust, SP: c.sp, Registers: c.registers}
		if got := c.show(c.cpu, f, c.callee); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
