package walk

import (
	"fmt"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/walk/internal/cpu"
)

// TestInjected: the caller of Go's runtime.sigpanic and its like was interrupted, not called: it is
// looked up at its PC itself, here the first instruction of a line, and of a function. Where there is
// a link register, the handler pushed it.
func TestInjected(t *testing.T) {
	const lines = `MODULE Linux x86_64 0 app
FILE 0 a.go
FUNC 1000 100 0 %s
FUNC 1100 80 0 before
FUNC 1180 80 0 middle
1180 20 7 0
11a0 60 8 0
FUNC 1200 100 0 _start
STACK CFI INIT 1000 100 .cfa: %[2]s %[3]d + .ra: .cfa -%[4]d + ^
STACK CFI INIT 1180 80 .cfa: %[2]s %[5]d + .ra: %[6]s
STACK CFI 11a0 .cfa: %[2]s %[3]d + .ra: .cfa -%[4]d + ^
STACK CFI INIT 1200 100 .cfa: %[2]s .ra: 1
`
	for _, test := range []struct {
		cpu    string
		pushed int // bytes for the link register; 0: there is none
		leaf   string
	}{
		{"x86_64", 0, ".cfa -8 + ^"}, {"x86", 0, ".cfa -4 + ^"}, {"arm64", 16, "x30"}, {"arm", 4, "lr"}, {"mips64", 8, "$ra"},
		{"mips/be", 4, "$ra"}, {"ppc64", 32, "lr"}, {"riscv64", 8, "ra"}, {"s390x", 8, "r14"},
	} {
		c := machineOf(test.cpu)
		word := c.Arch.WordSize
		entry := 0 // bytes of the frame at a function's first instruction
		if test.pushed == 0 {
			entry = word
		}
		for _, fn := range []string{"runtime.sigpanic", "runtime.asyncPreempt", "runtime.asyncPreempt.abi0", "runtime.debugCallV2"} {
			for _, pc := range []uint64{0x401180, 0x4011a0} {
				stack := make([]uint64, 64)
				at := 0x8000 + 2*word
				put := func(v uint64) { stack[(at-0x8000)/word] = v; at += word }
				at -= word
				put(pc) // sigpanic's return address
				if test.pushed > 0 {
					put(0x401250)
					at += test.pushed - word
				}
				if pc == 0x4011a0 {
					at += word
				}
				if pc == 0x4011a0 || test.pushed == 0 {
					put(0x401250)
				}
				name, big := bigName(test.cpu)
				mem := words(0x8000, word, stack...)
				if big {
					mem = bigEndian(mem, word)
				}
				p := process(name, regsOf(0x401050, map[cfi.Reg]uint64{c.Arch.SP: 0x8000}), mem)
				p.BigEndian = big
				above := -int(c.Arch.SPOffset) // of the CFA, above the caller's stack pointer
				text := fmt.Sprintf(lines, fn, c.Arch.RegName(c.Arch.SP), 2*word+above, word+above, entry+above, test.leaf)
				got, want := stackOf(t, p, text), fn+"@context middle@cfi _start@cfi end"
				if got != want {
					t.Errorf("%s, %#x: %s, want %s", test.cpu, pc, got, want)
					continue
				}
				res, err := Walk(t.Context(), p, fixed(text), Options{})
				if err != nil {
					t.Fatal(err)
				}
				if f := &res.Stacks[0].Frames[1]; !f.Exact || f.Place.Line != uint32(7+(pc-0x401180)/0x20) {
					t.Errorf("%s, %#x: exact: %v, line %d", test.cpu, pc, f.Exact, f.Place.Line)
				}
			}
		}
	}
}

// TestGoHandler: Go's signal handler is called by the trampoline, though its rules know no caller.
// Without a trampoline it ends the stack.
func TestGoHandler(t *testing.T) {
	for _, machine := range []string{"x86_64", "x86", "arm64", "arm", "mips64", "mips/be", "riscv64", "s390x"} {
		c := machineOf(machine)
		word := c.Arch.WordSize
		for ra, want := range map[uint64]string{
			0x401400: "runtime.sigtramp@context __restore_rt!@cfi _start@signal_frame",
			0x401050: "runtime.sigtramp@context",
			0:        "runtime.sigtramp@context",
		} {
			stack := make([]uint64, 1024)
			if c.LR == cpu.RegPC {
				stack[64/word-1] = ra
			} else {
				stack[0] = ra
			}
			places, _, _ := (&cpu.Stack{CPU: c, Memory: addresses(word)}).Load(c.Handler(true), 0)
			for reg := range cpu.RegPC {
				if off, ok := places.Get(reg); ok {
					stack[(64+int(off))/word] = 0x9800
				}
			}
			stack[(64+int(places.PC))/word] = 0x401310
			name, big := bigName(machine)
			mem := words(0x8000, word, stack...)
			if big {
				mem = bigEndian(mem, word)
			}
			p := process(name, regsOf(0x401050, map[cfi.Reg]uint64{c.Arch.SP: 0x8000}), mem)
			p.BigEndian = big
			sp := c.Arch.RegName(c.Arch.SP)
			text := strings.Replace(symbolsText, "inner", "runtime.sigtramp", 1) + fmt.Sprintf("STACK CFI INIT 1000 100 .cfa: %s 64 + .ra: 0 %[1]s: .cfa\n", sp)
			if got := stackOf(t, p, text); got != want {
				t.Errorf("%s, %#x: %s, want %s", machine, ra, got, want)
			}
		}
	}
}

// TestGoexit: on MIPS, Go's goroutines return to an address in goexit that no call and delay slot fits
// before.
func TestGoexit(t *testing.T) {
	p := process("mips/be", regsOf(0x401050, map[cfi.Reg]uint64{29: 0x8000, 31: 0x401204}), bigEndian(words(0x8000, 4, 0, 0), 4))
	p.CPU, p.BigEndian = "mips", true
	text := strings.Replace(symbolsText, "outer", "runtime.goexit", 1) + "STACK CFI INIT 1000 100 .cfa: $sp .ra: $ra\n"
	if got, want := stackOf(t, p, text), "inner@context runtime.goexit@cfi end"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestInjectedWithoutRules: a Go program without DWARF (-ldflags=-w) has frame pointers, and return
// addresses that no call is before: what sigpanic interrupted, and the one in goexit.
func TestInjectedWithoutRules(t *testing.T) {
	nops := strings.Repeat("90", 32)
	for fn, want := range map[string]string{
		"runtime.sigpanic":          "runtime.sigpanic@context middle@frame_pointer runtime.goexit.abi0@frame_pointer end",
		"runtime.asyncPreempt.abi0": "runtime.asyncPreempt.abi0@context middle@frame_pointer runtime.goexit.abi0@frame_pointer end",
		"main.called":               "main.called@context",
	} {
		stack := words(0x8000, 8, 0x8010, 0x401184, 0x8020, 0x401201, 0, 0)
		p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x7ff0, 6: 0x8000}), words(0x7ff0, 8, 0, 0), stack,
			codeAt(t, 0x1040, nops), codeAt(t, 0x1170, nops), codeAt(t, 0x11f8, nops))
		text := strings.NewReplacer("inner", fn, "outer", "runtime.goexit.abi0").Replace(symbolsText)
		if got := stackOf(t, p, text); got != want {
			t.Errorf("%s: %s, want %s", fn, got, want)
		}
	}
}

// addresses is memory in which each word holds its address.
type addresses int

func (size addresses) Bytes(addr, n uint64) []byte {
	return words(addr, int(size), addr).Bytes(addr, n)
}
