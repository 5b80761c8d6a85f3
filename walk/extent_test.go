package walk

import (
	"fmt"
	"strings"
	"testing"

	"symkit/cfi"
)

// TestLostReturn: the rules give the CFA, and the dump lacks the return address, as where a stack
// is cut. The words below it that lead to code are variables of the frame: no caller.
func TestLostReturn(t *testing.T) {
	for _, machine := range []string{"x86", "x86_64", "arm", "arm64", "mips", "mips64/be", "ppc64", "riscv64", "riscv", "s390x", "sparc"} {
		c := machineOf(machine)
		size := c.Arch.WordSize
		var vals []uint64
		for range 7 {
			vals = append(vals, 0x401150)
		}
		stack := words(0x8000, size, vals...)
		name, big := bigName(machine)
		if big {
			stack = bigEndian(stack, size)
		}
		sp := c.Arch.RegName(c.Arch.SP)
		for _, rule := range []string{
			fmt.Sprintf(".cfa: %s %d + .ra: .cfa -%d + ^", sp, 8*size, size),
			fmt.Sprintf(".cfa: %s %d + ^ .ra: .cfa -%d + ^", sp, 7*size, size), // as after a realignment
		} {
			regs := regsOf(0x401050, map[cfi.Reg]uint64{c.Arch.SP: 0x8000, c.FP: 0x9000})
			p := process(name, regs, stack)
			p.BigEndian = big
			text := symbolsText + "STACK CFI INIT 1000 100 " + rule + "\n"
			if got, want := stackOf(t, p, text), "inner@context"; got != want {
				t.Errorf("%s: %s: %s, want %s", machine, rule, got, want)
			}
			// Without the rules the words are all there is, but where every frame has a record.
			chained := strings.HasPrefix(machine, "ppc") || machine == "sparc"
			if got := stackOf(t, p, symbolsText); !chained && !strings.Contains(got, "middle") {
				t.Errorf("%s without rules: %s", machine, got)
			}
		}
	}
}

// TestLostReturnOf: the same where other means than the rules show the end of the frame.
func TestLostReturnOf(t *testing.T) {
	const sp64 = 7
	var stale [40]uint64
	for i := range stale {
		stale[i] = 0x401150
	}
	stack := words(0x8000, 8, stale[:4]...)
	push := codeAt(t, 0x1000, strings.Repeat("4883ec08", 20)) // sub $8,%rsp
	chain := words(0x8000, 8, 0x8040, 0x401150, 0x401150, 0x401150)
	window := bigEndian(words(0x8000, 4, stale[:16]...), 4)
	for _, test := range []struct {
		name, cpu, symbols, want string
		regs                     Registers
		mem                      []span
	}{
		{"machine code", "x86_64", symbolsText, "inner@context", regsOf(0x401010, map[cfi.Reg]uint64{sp64: 0x8000}), []span{stack, push}},
		{"the back chain", "ppc64", symbolsText, "inner@context", regsOf(0x401050, map[cfi.Reg]uint64{1: 0x8000}), []span{chain}},
		{"the register window", "sparc", symbolsText, "inner@context", regsOf(0x401050, map[cfi.Reg]uint64{14: 0x8000, 30: 0x8040, 31: 0x401150}), []span{window}},
		{"STACK WIN", "x86", symbolsText + "STACK WIN 4 1000 100 0 0 0 0 20 0 1 $eip $esp 32 + ^ = $esp $esp 36 + =\n", "inner@context",
			regsOf(0x401050, map[cfi.Reg]uint64{4: 0x8000, 5: 0x9000}), []span{words(0x8000, 4, stale[:8]...)}},
		{"STACK WIN without a program", "x86", symbolsText + "STACK WIN 0 1000 100 0 0 0 0 20 0 0 0\n", "inner@context",
			regsOf(0x401050, map[cfi.Reg]uint64{4: 0x8000, 5: 0x9000}), []span{words(0x8000, 4, stale[:8]...)}},
		{"a signal frame", "x86_64", symbolsText, "__restore_rt!@context", regsOf(0x401400, map[cfi.Reg]uint64{sp64: 0x8000}), []span{words(0x8000, 8, stale[:20]...)}},
		{"a signal frame without some registers", "x86_64", symbolsText + "STACK CFI INIT 1300 100 .cfa: $rsp 8 + .ra: 1\n", "__restore_rt!@context _start@signal_frame end",
			regsOf(0x401400, map[cfi.Reg]uint64{sp64: 0x8000}), []span{words(0x80a0, 8, 0x9000, 0x401310)}},
		// The frame that a scan found has an unknown frame pointer, so that its end is unknown.
		{"after a scan", "x86_64", symbolsText + "STACK CFI INIT 1100 100 .cfa: $rbp 16 + .ra: .cfa -8 + ^\n", "inner@context middle@scan middle@scan middle@scan middle@scan",
			regsOf(0x401050, map[cfi.Reg]uint64{sp64: 0x8000, 6: 0x8100}), []span{stack}},
		// The return address was overwritten.
		{"overwritten", "x86_64", symbolsText + "STACK CFI INIT 1000 100 .cfa: $rsp 24 + .ra: .cfa -8 + ^\nSTACK CFI INIT 1300 100 .cfa: $rsp 8 + .ra: 1\n",
			"inner@context _start@scan end", regsOf(0x401050, map[cfi.Reg]uint64{sp64: 0x8000}), []span{words(0x8000, 8, 0x401150, 0x401250, 0x4141414141414141, 7, 0x401350)}},
		// The caller's stack pointer follows from the CFA, where the word that has it is lost.
		{"the stack pointer is lost", "s390x", symbolsText + "STACK CFI INIT 1000 100 .cfa: r15 320 + .ra: .cfa -312 + ^ r15: .cfa -40 + ^\nSTACK CFI INIT 1100 100 .cfa: r15 168 + .ra: .cfa -160 + ^\nSTACK CFI INIT 1300 100 .cfa: r15 .ra: 1\n",
			"inner@context middle@cfi _start@cfi end", regsOf(0x401050, map[cfi.Reg]uint64{15: 0x8000}), []span{words(0x8008, 8, 0x401150), words(0x80a8, 8, 0x401350)}},
		// A frame pointer of nonsense says nothing about the frame.
		{"a frame pointer far away", "x86_64", symbolsText + "STACK CFI INIT 1000 100 .cfa: $rbp 16 + .ra: .cfa -8 + ^\n",
			"inner@context middle@scan middle@scan middle@scan middle@scan", regsOf(0x401050, map[cfi.Reg]uint64{sp64: 0x8000, 6: 0x4141414141414141}), []span{stack}},
	} {
		p := process(test.cpu, test.regs, test.mem...)
		p.BigEndian = test.cpu == "sparc"
		if got := stackOf(t, p, test.symbols); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestLossy: the dump lacks a part of the stack. A word that leads to code is then a return address
// only if it follows a call of the frame's own function.
func TestLossy(t *testing.T) {
	const (
		sp, bp = 7, 6
		rules  = symbolsText + "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\n" +
			"STACK CFI INIT 1100 100 .cfa: $rbp 16 + .ra: .cfa -8 + ^\n"
	)
	// Calls of inner, before 0x401150, and of middle, before 0x401250.
	calls := []span{codeAt(t, 0x1148, "909090e8b0feffff"), codeAt(t, 0x1248, "909090e8b0feffff")}

	// stack returns the stack at 0x8000 without the word at an address.
	stack := func(hole uint64, vals ...uint64) []span {
		vals = append(vals, make([]uint64, 0x200-len(vals))...)
		n := (hole - 0x8000) / 8
		return append([]span{words(0x8000, 8, vals[:n]...), words(hole+8, 8, vals[n+1:]...)}, calls...)
	}
	for _, test := range []struct {
		name, symbols, want string
		mem                 []span
	}{
		{"another call is nearer", symbolsText, "inner@context middle@scan outer@scan", stack(0x8ff8, 1, 0x401250, 2, 0x401150, 0x401250)},
		{"the window of the scan has a hole", symbolsText, "inner@context middle@scan", stack(0x8080, 1, 0x401250, 2, 0x401150)},
		{"the return address is lost", symbolsText, "inner@context", stack(0x8018, 1, 0x401250, 2, 0x401150)},
		{"a register is lost", rules, "inner@context middle@cfi", stack(0x8000, 0, 0x401150, 2, 0x401350)},
		{"no register is lost", rules, "inner@context middle@cfi _start@cfi end", stack(0x8ff8, 0x8018, 0x401150, 2, 0, 0x401350)},
	} {
		p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{sp: 0x8000, bp: 0x9100}), test.mem...)
		p.Mappings = []Mapping{{Begin: 0x8000, End: 0x9000, Read: true, Write: true}, {Begin: 0x400000, End: 0x410000, Read: true, Execute: true}}
		if got := stackOf(t, p, test.symbols); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
