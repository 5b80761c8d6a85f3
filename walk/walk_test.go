package walk

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/elfx"
	"symkit/emit"
	"symkit/walk/internal/cpu"
)

// fixed supplies the same text for every module; if it is empty, no symbols.
type fixed string

func (f fixed) Symbols(context.Context, *Module) *Symbols {
	if f == "" {
		return &Symbols{}
	}
	return &Symbols{Index: emit.NewIndex([]byte(f)), From: "text"}
}

// spans is memory of several ranges.
type spans []span

func (s spans) Bytes(addr, n uint64) []byte {
	for _, s := range s {
		if b := s.Bytes(addr, n); b != nil {
			return b
		}
	}
	return nil
}

// process has one thread, a module at 0x400000 (0x10000 bytes, no code bytes)
// and a stack of words at 0x8000.
func process(cpuName string, regs Registers, mem ...span) *Process {
	m := &Module{Path: "/bin/app", Name: "app", Base: 0x400000, End: 0x410000}
	p := &Process{OS: "Linux", CPU: cpuName, BigEndian: cpuName == "s390x", Crashed: 0,
		Threads: []Thread{{ID: 1, Regs: regs}}, Modules: []*Module{m}, Memory: spans(mem)}
	return p
}

// stackOf walks the only thread: "function@trust" of each frame, then the end.
func stackOf(t *testing.T, p *Process, symbols string) string {
	t.Helper()
	res, err := Walk(context.Background(), p, fixed(symbols), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range res.Stacks[0].Frames {
		name := f.Place.Func
		if name == "" {
			name = fmt.Sprintf("%#x", f.PC)
		}
		if f.Signal {
			name += "!"
		}
		out = append(out, name+"@"+f.Trust.Key())
	}
	if res.Stacks[0].Complete {
		out = append(out, "end")
	}
	return strings.Join(out, " ")
}

const symbolsText = `MODULE Linux x86_64 0 app
FUNC 1000 100 0 inner
FUNC 1100 100 0 middle
FUNC 1200 100 0 outer
FUNC 1300 100 0 _start
FUNC 1400 10 0 __restore_rt
`

func regsOf(pc uint64, set map[cfi.Reg]uint64) (r Registers) {
	r.PC = pc
	for reg, v := range set {
		r.Set(reg, v)
	}
	return r
}

// TestOrder: which technique is tried, and that an implausible result of one
// leads to the next.
func TestOrder(t *testing.T) {
	amd64Stack := words(0x8000, 8, 0x401150, 0x8020, 0x401250, 7, 0x8040, 0x401250, 0, 0, 0, 0x401350)
	for _, test := range []struct {
		name, cfi string
		regs      map[cfi.Reg]uint64
		want      string
	}{
		{"CFI to the end", `STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 1100 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^
STACK CFI INIT 1200 100 .cfa: $rsp 8 + .ra: 1
`, nil, "inner@context middle@cfi outer@cfi end"},
		{"PC rule instead of .ra", "STACK CFI INIT 1000 100 .cfa: $rsp 8 + $rip: .cfa -8 + ^\nSTACK CFI INIT 1100 100 .cfa: 1 .ra: 0\n", nil,
			"inner@context middle@cfi end"},
		{"undefined return address goes on", "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .undef\nSTACK CFI INIT 1100 100 .cfa: 1 .ra: 0\n", nil,
			"inner@context middle@scan end"},
		{"CFI result is no code: frame pointer", "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: 123456789\nSTACK CFI INIT 1200 100 .cfa: 1 .ra: 0\n",
			map[cfi.Reg]uint64{6: 0x8008}, "inner@context outer@frame_pointer end"},
		{"CFI result goes down the stack: scan", "STACK CFI INIT 1000 100 .cfa: $rsp 8 - .ra: 4198736\nSTACK CFI INIT 1100 100 .cfa: 1 .ra: 0\n",
			nil, "inner@context middle@scan end"},
		{"CFA at an odd address: scan", "STACK CFI INIT 1000 100 .cfa: $rsp 9 + .ra: 4198736\nSTACK CFI INIT 1100 100 .cfa: 1 .ra: 0\n",
			nil, "inner@context middle@scan end"},
		{"scan to _start, which nothing calls", "", nil, "inner@context middle@scan outer@scan outer@scan _start@scan end"},
	} {
		regs := regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000})
		for r, v := range test.regs {
			regs.Set(r, v)
		}
		if got := stackOf(t, process("x86_64", regs, amd64Stack), symbolsText+test.cfi); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestFramePointers: each machine's frame record.
func TestFramePointers(t *testing.T) {
	const ret1, ret2 = 0x401150, 0x401350 // in middle, in _start
	be := func(s span) span {
		for i := 0; i+8 <= len(s.data); i += 8 {
			binary.BigEndian.PutUint64(s.data[i:], binary.LittleEndian.Uint64(s.data[i:]))
		}
		return s
	}
	backchain := make([]uint64, 80)
	backchain[0], backchain[20+14] = 0x80a0, ret1
	backchain[20], backchain[40+14] = 0x8140, ret2
	for _, test := range []struct {
		cpu  string
		regs map[cfi.Reg]uint64
		mem  span
	}{
		{"x86_64", map[cfi.Reg]uint64{7: 0x8000, 6: 0x8010}, words(0x8000, 8, 1, 2, 0x8020, ret1, 0x8040, ret2)},
		{"x86", map[cfi.Reg]uint64{4: 0x8000, 5: 0x8008}, words(0x8000, 4, 1, 2, 0x8010, ret1, 0x8040, ret2)},
		{"arm64", map[cfi.Reg]uint64{31: 0x8000, 29: 0x8010}, words(0x8000, 8, 1, 2, 0x8020, ret1, 0x8040, ret2)},
		{"arm", map[cfi.Reg]uint64{13: 0x8000, 11: 0x8004}, words(0x8000, 4, 0x800c, ret1, 0x8020, ret2, 5)},
		{"arm", map[cfi.Reg]uint64{13: 0x8000, 7: 0x8000}, words(0x8000, 4, 0x8008, ret1, 0x8020, ret2, 5)},
		{"riscv64", map[cfi.Reg]uint64{2: 0x8000, 8: 0x8020}, words(0x8000, 8, 1, 2, 0x8040, ret1, 3, 4, 0x8100, ret2, 5)},
		{"s390x", map[cfi.Reg]uint64{15: 0x8000}, be(words(0x8000, 8, backchain...))},
	} {
		want := "inner@context middle@frame_pointer _start@frame_pointer end"
		if got := stackOf(t, process(test.cpu, regsOf(0x401050, test.regs), test.mem), symbolsText); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.cpu, got, want)
		}
	}
}

// TestLeaf: the link register is the return address unless it was used since.
func TestLeaf(t *testing.T) {
	none := words(0x8000, 8, 3, 3, 3, 3)
	beforeReturn := map[string]uint64{"sparc": 8} // a call saves its own address
	for cpuName, regs := range map[string][2]cfi.Reg{"arm64": {30, 31}, "arm": {14, 13}, "riscv64": {1, 2}, "s390x": {14, 15},
		"mips": {31, 29}, "mips64": {31, 29}, "ppc": {65, 1}, "ppc64": {65, 1}, "riscv": {1, 2}, "sparc": {15, 14}} {
		for lr, want := range map[uint64]string{
			0x401350: "inner@context _start@leaf end",
			0x401060: "inner@context", // back into inner: used for a call
			0x701350: "inner@context", // no code
		} {
			r := regsOf(0x401050, map[cfi.Reg]uint64{regs[0]: lr - beforeReturn[cpuName], regs[1]: 0x8000})
			if got := stackOf(t, process(cpuName, r, none), symbolsText); got != want {
				t.Errorf("%s, lr %#x:\n got %s\nwant %s", cpuName, lr, got, want)
			}
		}
	}
	// A call through a null pointer: the caller is in lr, or on the stack.
	r := regsOf(0, map[cfi.Reg]uint64{7: 0x8000})
	if got := stackOf(t, process("x86_64", r, words(0x8000, 8, 0x401350)), symbolsText); got != "0x0@context _start@leaf end" {
		t.Error(got)
	}
	r = regsOf(0, map[cfi.Reg]uint64{30: 0x401350, 31: 0x8000})
	if got := stackOf(t, process("arm64", r, none), symbolsText); got != "0x0@context _start@leaf end" {
		t.Error(got)
	}
}

// TestPAC: signed return addresses lose the bits that the mask has.
func TestPAC(t *testing.T) {
	r := regsOf(0x401050, map[cfi.Reg]uint64{30: 0x25_0000_0040_1350, 31: 0x8000})
	p := process("arm64", r, words(0x8000, 8, 0, 0))
	if got := stackOf(t, p, symbolsText); got != "inner@context _start@leaf end" {
		t.Errorf("guessed mask: %s", got)
	}
	p.PACMask = 0x7f << 48
	if got := stackOf(t, p, symbolsText); got != "inner@context _start@leaf end" {
		t.Errorf("mask: %s", got)
	}
	p.PACMask = 1 << 55
	if got := stackOf(t, p, symbolsText); got != "inner@context" {
		t.Errorf("other mask: %s", got)
	}
}

// TestSignal: the interrupted registers, on another stack; the PC is exact.
func TestSignal(t *testing.T) {
	frame := make([]uint64, 30)
	frame[20], frame[21] = 0x9000, 0x401100 // rsp, rip: the first instruction of middle
	stack := words(0x8000, 8, append([]uint64{0x401400}, frame...)...)
	p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000}), stack, words(0x7000, 8, 9), words(0x9000, 8, 0x401350))
	const rules = "STACK CFI INIT 1000 200 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	if got := stackOf(t, p, symbolsText+rules); got != "inner@context __restore_rt!@cfi middle@signal_frame _start@cfi end" {
		t.Error(got)
	}
	const marked = `INFO SIGNAL_FRAME 1400 10
STACK CFI INIT 1400 10 .cfa: $rsp 160 + ^ .ra: $rsp 168 + ^
`
	text := strings.Replace(symbolsText, "__restore_rt", "anything", 1) + rules + marked
	if got := stackOf(t, p, text); got != "inner@context anything!@cfi middle@cfi _start@cfi end" {
		t.Error(got)
	}
	// A ring of signal frames: the trampoline was interrupted itself.
	frame[20], frame[21] = 0x8008, 0x401400
	p.Memory = spans{words(0x8000, 8, append([]uint64{0x401400}, frame...)...)}
	if got := stackOf(t, p, symbolsText+rules); strings.Count(got, " ") > 4 {
		t.Errorf("ring: %s", got)
	}
}

// TestEntries: what nothing calls ends the stack, however its name was found.
func TestEntries(t *testing.T) {
	const rules = "STACK CFI INIT 1000 400 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for _, test := range []struct {
		name, symbols, want string
		ret                 uint64
	}{
		{"a return address that makecontext made", "FUNC 1000 100 0 inner\nFUNC 1100 100 0 __start_context\n", "inner@context __start_context@cfi end", 0x401100},
		{"inside of it", "FUNC 1000 100 0 inner\nFUNC 1100 100 0 __start_context\n", "inner@context __start_context@cfi end", 0x401108},
		{"a symbol near", "FUNC 1000 100 0 inner\nPUBLIC 1100 0 _start\n", "inner@context _start@cfi end", 0x401120},
		{"a symbol far below", "FUNC 1000 100 0 inner\nPUBLIC 1100 0 _start\n", "inner@context _start@cfi _start@cfi end", 0x401250},
	} {
		symbols := test.symbols + rules
		p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, test.ret, 0x401101))
		if got := stackOf(t, p, symbols); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestProven: where rules know no caller on arm (EXIDX_CANTUNWIND), and in a
// new thread before clone has returned, a return address must follow a
// direct call of the function.
func TestProven(t *testing.T) {
	code := make([]byte, 0x400)            // of 0x401000
	copy(code[0x14c:], "\xab\xff\xff\xeb") // at 0x40114c in middle: bl 0x401000
	regs := map[cfi.Reg]uint64{13: 0x8000, 14: 0x401350}
	const rules = "STACK CFI INIT 1000 100 .cfa: sp .ra: 1\nSTACK CFI INIT 1100 200 .cfa: sp .ra: 1\n"
	for _, test := range []struct {
		name, symbols, want string
		stack               []uint64
	}{
		{"called", symbolsText + rules, "inner@context middle@scan", []uint64{5, 0x401250, 0x401150, 0x401150}},
		{"not called", symbolsText + rules, "inner@context", []uint64{5, 0x401250, 0x401254}},
		{"clone, called", strings.Replace(symbolsText, "inner", "clone", 1) + "STACK CFI INIT 1100 200 .cfa: sp .ra: 1\n",
			"clone@context middle@scan", []uint64{5, 0x401250, 0x401150, 0x401150}},
		{"clone, not called", strings.Replace(symbolsText, "inner", "clone", 1), "clone@context", []uint64{5, 0x401250, 0x401254}},
	} {
		p := process("arm", regsOf(0x401050, regs), words(0x8000, 4, test.stack...), span{0x401000, code})
		if got := stackOf(t, p, test.symbols); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestSegments: code is what a module's program headers call so, though the
// program took the permission away; a PUBLIC names no data above it.
func TestSegments(t *testing.T) {
	const rules = "STACK CFI INIT 1000 400 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nPUBLIC 1400 0 last\n"
	p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, 0x401150, 0x401350))
	p.Mappings = []Mapping{{Begin: 0x400000, End: 0x410000, Read: true}}
	if got := stackOf(t, p, symbolsText+rules); got != "inner@context" {
		t.Errorf("no permission: %s", got)
	}
	p.Modules[0].Segments = []elfx.Segment{{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Vaddr: 0x1000, Memsz: 0x1000}}
	p.Modules[0].Bias = 0x400000
	if got := stackOf(t, p, symbolsText+rules); got != "inner@context middle@cfi _start@cfi end" {
		t.Errorf("segments: %s", got)
	}
	p.Threads[0].Regs.PC = 0x402000
	if got := stackOf(t, p, symbolsText+rules); got != "0x402000@context middle@leaf _start@cfi end" {
		t.Errorf("data: %s", got)
	}
}

// TestEnds: memory, limits and cancellation end a walk, not the program.
func TestEnds(t *testing.T) {
	loop := "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: 4198481\n" // calls itself for ever
	p := process("x86_64", regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000}))
	res, err := Walk(context.Background(), p, fixed(symbolsText+loop), Options{MaxFrames: 100})
	if err != nil || len(res.Stacks[0].Frames) != 100 || res.Stacks[0].Complete {
		t.Errorf("%d frames, %v", len(res.Stacks[0].Frames), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Walk(ctx, p, fixed(symbolsText+loop), Options{}); err == nil {
		t.Error("cancelled: no error")
	}
	p.CPU = "ia64"
	if got := stackOf(t, p, symbolsText); got != "inner@context" {
		t.Error(got)
	}
	res, err = Walk(context.Background(), &Process{Crashed: -1}, nil, Options{})
	if err != nil || len(res.Stacks) != 0 {
		t.Error(res, err)
	}
}

// FuzzWalk walks hostile stacks with hostile symbols, on every machine and on
// the systems that differ.
func FuzzWalk(f *testing.F) {
	seed := func(symbols, stack string, system uint8) {
		f.Add([]byte(symbols), []byte(stack), uint64(0x401050), uint64(0x8000), uint64(0x8008), system)
	}
	const stack = "\x50\x11\x40\x00\x00\x00\x00\x00\x10\x80\x00\x00\x00\x00\x00\x00\x50\x12\x40\x00\x00\x00\x00\x00"
	seed(symbolsText+"STACK CFI INIT 1000 300 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rsp: 4\nINFO SIGNAL_FRAME 1000 400\n", stack, 0)
	seed("", "\x08\x80\x00\x00\x50\x11\x40\x00\x10\x80\x00\x00\x50\x11\x40\x00", 2)
	seed("", "\x00\x00\x80\x10\x00\x40\x11\x50\x00\x00\x80\x20\x00\x40\x11\x50\x00\x40\x11\x50", 0)
	for _, record := range []string{
		"0 1000 100 0 0 0 4 8 0 0 0", "0 1000 100 0 0 ffffffff ffffffff ffffffff 0 0 1",
		"4 1000 100 0 0 0 4 8 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =",
		"4 1000 100 0 0 8 fffffff8 0 0 1 $eip 12345678 = $esp $esp 8 @ =",
	} {
		seed(symbolsText+"STACK WIN "+record+"\n", stack, 1)
	}
	systems := [...]string{"Linux", "Windows NT", "iOS"}
	f.Fuzz(func(t *testing.T, symbols, stack []byte, pc, sp, fp uint64, system uint8) {
		for _, name := range cpu.Names() {
			for _, big := range [...]bool{false, true} {
				p := process(name, Registers{}, span{0x8000, stack}, span{0x401000, stack}) // the stack holds code as well
				p.OS, p.BigEndian = systems[int(system)%len(systems)], big
				c := p.cpu()
				regs := regsOf(pc, map[cfi.Reg]uint64{c.Arch.SP: sp, c.Arch.RA: fp, 31: fp})
				regs.Set(c.FP, fp)
				p.Threads[0].Regs = regs
				walkHostile(t, p, symbols)
			}
		}
	})
}

// walkHostile walks two like threads, alone and side by side.
func walkHostile(t *testing.T, p *Process, symbols []byte) {
	p.Threads = append(p.Threads, p.Threads[0])
	const limit = 2000
	var all [2]*Result
	for i := range all {
		res, err := Walk(context.Background(), p, fixed(symbols), Options{MaxFrames: limit, Jobs: i + 1, Registers: i > 0})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range res.Stacks {
			checkStack(t, p.cpu(), &s, limit)
		}
		all[i] = res
	}
	if !slices.EqualFunc(all[0].Stacks, all[1].Stacks, func(a, b Stack) bool {
		return a.End == b.End && len(a.Frames) == len(b.Frames)
	}) {
		t.Fatalf("%s: the result depends on the number of goroutines", p.CPU)
	}
}

// checkStack holds what every stack must be like.
func checkStack(t *testing.T, c *cpu.CPU, s *Stack, limit int) {
	if len(s.Frames) == 0 || len(s.Frames) > limit || s.End == "" {
		t.Fatalf("%d frames, end %q", len(s.Frames), s.End)
	}
	for i := 1; i < len(s.Frames); i++ {
		a, b := &s.Frames[i-1], &s.Frames[i]
		if b.PC != c.Narrow(b.PC) {
			t.Fatalf("PC %#x", b.PC)
		}
		if !a.Signal && (b.SP < a.SP || b.SP == a.SP && !a.Exact || b.PC < lowestPC) {
			t.Fatalf("frame %d: pc %#x sp %#x after sp %#x", i, b.PC, b.SP, a.SP)
		}
	}
}
