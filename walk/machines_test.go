package walk

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/limits"
	"symkit/walk/internal/cpu"
)

// bigName returns the name of a machine without "/be", and whether it is big-endian.
func bigName(name string) (string, bool) {
	n := len(name) - len("/be")
	if n > 0 && name[n:] == "/be" {
		return name[:n], true
	}
	return name, name == "s390x" || name == "sparc"
}

// machineOf is a machine by name, big-endian with "/be" behind.
func machineOf(name string) *cpu.CPU {
	name, big := bigName(name)
	return (&Process{CPU: name, BigEndian: big}).cpu()
}

// bigEndian turns words around.
func bigEndian(s span, size int) span {
	for i := 0; i+size <= len(s.data); i += size {
		if size == 4 {
			binary.BigEndian.PutUint32(s.data[i:], binary.LittleEndian.Uint32(s.data[i:]))
		} else {
			binary.BigEndian.PutUint64(s.data[i:], binary.LittleEndian.Uint64(s.data[i:]))
		}
	}
	return s
}

// TestTrampolineReturn: no call is before a trampoline that a handler returns
// to, and the PC of the frame that it interrupted is exact.
func TestTrampolineReturn(t *testing.T) {
	stack := make([]uint64, 40)
	stack[0], stack[1] = 0x8100, 0x401400       // the handler's frame record
	stack[2+20], stack[2+21] = 0x9000, 0x401100 // rsp, rip: the first instruction of middle
	code := append(bytes.Repeat([]byte{0x90}, 8), 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05)
	p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000, 6: 0x8000}),
		words(0x8000, 8, stack...), words(0x9000, 8, 1), span{0x401400 - 8, code})
	text := strings.Replace(symbolsText, "__restore_rt", "anything", 1)
	if got := stackOf(t, p, text); got != "inner@context anything!@frame_pointer middle@signal_frame" {
		t.Error(got)
	}
}

// TestBackChains: SysV psABIs of PowerPC and SPARC, "The Stack Frame"; ELFv2
// §2.2.3. The frame of _start has no caller.
func TestBackChains(t *testing.T) {
	const ret1, ret2 = 0x401150, 0x401350 // in middle, in _start
	window := make([]uint64, 0x40)
	window[16+14], window[16+15] = 0x8080, ret2-8 // at 0x8040: %i6, %i7 of middle
	for _, test := range []struct {
		cpu, os string
		regs    map[cfi.Reg]uint64
		stack   []uint64
	}{
		{"ppc/be", "Linux", map[cfi.Reg]uint64{1: 0x8000}, []uint64{0x8008, 0, 0x8010, ret1, 0, ret2}},
		{"ppc/be", "Mac OS X", map[cfi.Reg]uint64{1: 0x8000}, []uint64{0x800c, 0, 0, 0x8018, 0, ret1, 0, 0, ret2}},
		{"ppc64", "Linux", map[cfi.Reg]uint64{1: 0x8000}, []uint64{0x8010, 0, 0x8020, 0, ret1, 0, ret2}},
		{"ppc64/be", "Linux", map[cfi.Reg]uint64{1: 0x8000}, []uint64{0x8010, 0, 0x8020, 0, ret1, 0, ret2}},
		{"sparc", "Solaris", map[cfi.Reg]uint64{14: 0x8000, 30: 0x8040, 31: ret1 - 8}, window},
	} {
		name, big := bigName(test.cpu)
		p := process(name, regsOf(0x401050, test.regs))
		p.OS, p.BigEndian = test.os, big
		mem := words(0x8000, p.WordSize(), test.stack...)
		if big {
			mem = bigEndian(mem, p.WordSize())
		}
		p.Memory = spans{mem}
		want := "inner@context middle@frame_pointer _start@frame_pointer end"
		if got := stackOf(t, p, symbolsText); got != want {
			t.Errorf("%s, %s:\n got %s\nwant %s", test.cpu, test.os, got, want)
		}
	}
	// The chain ends in 0.
	p := process("ppc64", regsOf(0x401050, map[cfi.Reg]uint64{1: 0x8000}), words(0x8000, 8, 0x8010, 0, 0, 0, ret1))
	if got := stackOf(t, p, symbolsText); got != "inner@context middle@frame_pointer" {
		t.Error(got)
	}
}

// TestFrameRecordsOfSystems: what is another system's frame record.
func TestFrameRecordsOfSystems(t *testing.T) {
	const ret1, ret2 = 0x401150, 0x401350
	for _, test := range []struct {
		name, cpu, os string
		regs          map[cfi.Reg]uint64
		stack         []uint64
		want          string
	}{
		{"iOS: r7 only", "arm", "iOS", map[cfi.Reg]uint64{13: 0x8000, 7: 0x8000, 11: 0x8004},
			[]uint64{0x8008, ret1, 0x8010, ret2}, "inner@context middle@frame_pointer _start@frame_pointer end"},
		{"Linux: r11 first", "arm", "Linux", map[cfi.Reg]uint64{13: 0x8000, 7: 0x8000, 11: 0x8008},
			[]uint64{0x8008, ret1, 0x8020, ret2}, "inner@context _start@frame_pointer end"},
		{"Windows: the pair is 32 bytes above %rbp", "x86_64", "Windows NT", map[cfi.Reg]uint64{7: 0x8000, 6: 0x8008},
			[]uint64{1, 2, 3, 4, 5, 0x8040, ret2, 6, 7}, "inner@context _start@frame_pointer end"},
		{"Windows: nothing but the top of the stack", "x86_64", "Windows NT", map[cfi.Reg]uint64{7: 0x8000, 6: 1},
			[]uint64{ret2, 1}, "inner@context _start@leaf end"},
		{"Linux: the top of the stack is no better than others", "x86_64", "Linux", map[cfi.Reg]uint64{7: 0x8000, 6: 1},
			[]uint64{ret2, 1}, "inner@context _start@scan end"},
		{"zeros end a chain", "arm64", "iOS", map[cfi.Reg]uint64{31: 0x8000, 29: 0x8000},
			[]uint64{0x8010, ret1, 0, 0, ret2}, "inner@context middle@frame_pointer"},
		{"zeros that %rbp points to by chance", "x86_64", "Linux", map[cfi.Reg]uint64{7: 0x8000, 6: 0x8000},
			[]uint64{0, 0, ret2}, "inner@context _start@scan end"},
	} {
		p := process(test.cpu, regsOf(0x401050, test.regs))
		p.OS = test.os
		p.Memory = spans{words(0x8000, p.WordSize(), test.stack...)}
		if got := stackOf(t, p, symbolsText); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestLookup: a return address is looked up by its call, which is before the
// instruction in its delay slot where there is one.
func TestLookup(t *testing.T) {
	for name, want := range map[string]uint64{"x86": 1, "x86_64": 1, "arm": 2, "arm64": 4, "mips": 8, "mips64": 8,
		"ppc": 4, "ppc64": 4, "riscv": 2, "riscv64": 2, "s390x": 2, "sparc": 8} {
		f := Frame{PC: 0x1000, call: (&Process{CPU: name}).cpu().Call}
		if got := 0x1000 - f.Lookup(); got != want {
			t.Errorf("%s: %d bytes before", name, got)
		}
	}
}

// TestWinAllocates: a step by STACK WIN allocates nothing once its addresses
// have been looked up.
func TestWinAllocates(t *testing.T) {
	p := process("x86", regsOf(0x401050, map[cfi.Reg]uint64{4: 0x8000, 5: 0x8008}), words(0x8000, 4, 1, 2, 0x8010, 0x401150, 3, 4))
	const program = "STACK WIN 4 1000 200 0 0 0 4 8 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + = $ebp $ebp ^ =\n"
	v := newView(lookup{ctx: t.Context(), p: p, syms: newSymbolizer(p, fixed(symbolsText+program), limits.Limits{}, nil)}, false)
	regs := p.Threads[0].Regs.all()
	c := callee{Frame: &Frame{PC: 0x401050, Exact: true, Module: p.Modules[0], Place: noPlace}, regs: &regs, called: &Frame{}}
	step := func() {
		if out, result, err := byWin(v, &c); result != found || out.PC != 0x401150 {
			t.Fatal(result, err, out.PC)
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
