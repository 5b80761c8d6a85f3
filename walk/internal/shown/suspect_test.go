package shown

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/walk"
)

// crashAt has one thread that crashed at an instruction given in hexadecimal.
func crashAt(t *testing.T, cpu, code string, crash walk.Crash, regs map[cfi.Reg]uint64, mappings ...walk.Mapping) *walk.Process {
	t.Helper()
	b, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	crash.HasAddress = true
	return &walk.Process{CPU: cpu, Memory: memoryMap{insnPC: b}, Crash: crash, Threads: []walk.Thread{{Regs: regsOf(insnPC, regs)}}, Mappings: mappings}
}

// TestBitFlips: rust-minidump's cases, and what speaks for and against.
func TestBitFlips(t *testing.T) {
	heap := walk.Mapping{Begin: 0x80000, End: 0x80008, Read: true, Write: true}
	segv := func(addr uint64) walk.Crash { return walk.Crash{Reason: "SIGSEGV", Address: addr} }
	for _, c := range []struct {
		name string
		p    *walk.Process
		want string
	}{
		{"one bit from a mapping", crashAt(t, "x86_64", "", segv(0x80400), nil, heap), "0x80000 0.25"},
		{"in a mapping", crashAt(t, "x86_64", "", segv(0x80004), nil, heap), ""},
		{"32 bits", crashAt(t, "x86", "", segv(0x80400), nil, heap), ""},
		{"arm64", crashAt(t, "arm64", "", segv(0x80400), nil, heap), ""},
		{"a small number, or a null pointer", crashAt(t, "x86_64", "", segv(0x400), nil, heap), "0x0 null low 0.4375"},
		{"a great number, or a null pointer", crashAt(t, "x86_64", "", segv(1<<40), nil, heap), "0x0 null 0.625"},
		{"an offset from a null pointer", crashAt(t, "x86_64", "8b8000040800", segv(0x80400), map[cfi.Reg]uint64{0: 0}, heap), ""},
		{"a register near", crashAt(t, "x86_64", "", segv(0x80400), map[cfi.Reg]uint64{3: 0x80100}, heap), "0x80000 near 1 0.625"},
		{"poison", crashAt(t, "x86_64", "", segv(0x80400), map[cfi.Reg]uint64{3: 0xe5e5e5e5e5e5e5e5}, heap), "0x80000 poison 0.125"},
		{"the register of the access", crashAt(t, "x86_64", "8b4004", segv(0x80404), map[cfi.Reg]uint64{0: 0x80400}, heap), "0x80004 near 1 0.625, rax 0x80000 near 1 0.625"},
		{"one too far", crashAt(t, "x86_64", "488b00", segv(0x80009), map[cfi.Reg]uint64{0: 0x80009}, heap), ""},
		{"across the end of a mapping", crashAt(t, "x86_64", "488b0424", segv(0x10000), map[cfi.Reg]uint64{7: 0xfff9}, walk.Mapping{Begin: 0, End: 0x10000, Read: true, Write: true}), ""},
		{"not canonical", crashAt(t, "x86_64", "8b00", walk.Crash{Reason: "SIGSEGV / SI_KERNEL"}, map[cfi.Reg]uint64{0: 1<<50 | 0x80000}, heap),
			"0x80000 non-canonical 0.92499995, rax 0x80000 non-canonical 0.92499995"},
		{"a write to where one may write", crashAt(t, "x86_64", "", walk.Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_WRITE", Address: 0x80400}, nil, heap), "0x80000 0.25"},
		{"code in what is none", crashAt(t, "x86_64", "", walk.Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_EXEC", Address: 0x80400}, nil, heap), ""},
	} {
		f := NewFault(c.p)
		var all []string
		for _, b := range f.BitFlips() {
			s := fmt.Sprintf("%s %#x", b.Register, b.Addr)
			if b.Null {
				s += " null"
			}
			if b.Low {
				s += " low"
			}
			if b.NonCanonical {
				s += " non-canonical"
			}
			if b.Nearby > 0 {
				s += fmt.Sprintf(" near %d", b.Nearby)
			}
			if b.Poison {
				s += " poison"
			}
			all = append(all, strings.TrimSpace(s+fmt.Sprintf(" %v", b.Confidence)))
		}
		if got := strings.Join(all, ", "); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

// TestInconsistencies: reasons, instructions and mappings that go together, and
// such that do not.
func TestInconsistencies(t *testing.T) {
	page := walk.Mapping{Begin: 0x5000, End: 0x6000, Read: true}
	read := func(addr uint64) walk.Crash {
		return walk.Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_READ", Address: addr}
	}
	for _, c := range []struct {
		name, code string
		crash      walk.Crash
		rax        uint64
		want       string
	}{
		{"a division", "f7f1", walk.Crash{Reason: "SIGFPE / FPE_INTDIV"}, 0, "[]"},
		{"no division", "01c8", walk.Crash{Reason: "SIGFPE / FPE_INTDIV"}, 0, "[int_div_by_zero_not_possible]"},
		{"no code", "", walk.Crash{Reason: "SIGFPE / FPE_INTDIV"}, 0, "[]"},
		{"hlt", "f4", walk.Crash{Reason: "EXCEPTION_PRIV_INSTRUCTION"}, 0, "[]"},
		{"wrmsr", "0f30", walk.Crash{Reason: "EXCEPTION_PRIV_INSTRUCTION"}, 0, "[]"},
		{"add", "01c8", walk.Crash{Reason: "EXCEPTION_PRIV_INSTRUCTION"}, 0, "[priv_instruction_crash_without_priv_instruction]"},
		{"what is read", "8b00", read(0x9002), 0x9000, "[]"},
		{"not what is read", "8b00", read(0x9004), 0x9000, "[crashing_access_not_found_in_memory_accesses]"},
		{"written, not read", "8900", read(0x9000), 0x9000, "[crashing_access_not_found_in_memory_accesses]"},
		{"readable", "8b00", read(0x5000), 0x5000, "[access_violation_when_access_allowed]"},
		{"not canonical", "8b00", read(^uint64(0)), 1 << 60, "[]"},
		{"canonical after all", "8b00", read(^uint64(0)), 0x9000, "[non_canonical_address_falsely_reported]"},
		{"unknown access", "c5fe6f00", read(0x9100), 0x9000, "[]"},
		{"not where it executes", "90", walk.Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_EXEC", Address: 0x9000}, 0, "[crashing_access_not_found_in_memory_accesses]"},
		{"where it executes", "90", walk.Crash{Reason: "EXCEPTION_ACCESS_VIOLATION_EXEC", Address: insnPC}, 0, "[]"},
		{"a push on a full stack", "50", walk.Crash{Reason: "EXCEPTION_STACK_OVERFLOW"}, 0, "[]"},
		{"no access at all", "90", walk.Crash{Reason: "EXCEPTION_STACK_OVERFLOW"}, 0, "[crashing_access_not_found_in_memory_accesses]"},
	} {
		p := crashAt(t, "x86_64", c.code, c.crash, map[cfi.Reg]uint64{0: c.rax, 7: 0x100}, page)
		f := NewFault(p)
		if got := fmt.Sprint(f.Inconsistencies()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
