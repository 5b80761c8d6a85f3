package walk

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"symkit/cfi"
)

// codeAt is code in the module of process, at an offset.
func codeAt(t *testing.T, offset uint64, text string) span {
	t.Helper()
	code, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return span{0x400000 + offset, code}
}

// TestLeafCalledDirectly: the innermost function is a leaf without a frame
// record; the one at the frame pointer is its caller's.
func TestLeafCalledDirectly(t *testing.T) {
	// inner is at 0x401000; the calls of middle and outer return to 0x401150 and 0x401250.
	stack := words(0x8000, 8, 0x401150, 0, 0x8030, 0x401250, 0, 0, 0, 0x401350)
	regs := regsOf(0x401003, map[cfi.Reg]uint64{7: 0x8000, 6: 0x8010})
	const (
		call    = "909090e8b0feffff"   // before 0x401150, to 0x401000
		toPLT   = "909090e8b00e0000"   // before 0x401150, to 0x402000
		another = "909090e8b8feffff"   // to 0x401008
		load    = "8b0783c001c3"       // mov (%rdi),%eax; add $1,%eax; ret
		pushes  = "534889e5ffe0"       // push %rbx; mov %rsp,%rbp; jmp *%rax: not up to 0x401003
		plt     = "f30f1efaf2ff25f50f" // endbr64; bnd jmp *0xff5(%rip): the word at 0x403000
		passing = "909090e830ffffff"   // before 0x401150, to 0x401080
	)
	leaf := codeAt(t, 0x1000, load[4:]+load)
	for _, test := range []struct {
		name, want string
		mem        []span
	}{
		{"without code: the frame record", "inner@context outer@frame_pointer", nil},
		{"the function's code leads to the instruction: nothing has moved", "inner@context middle@leaf outer@frame_pointer",
			[]span{codeAt(t, 0x1000, load[4:]+load)}},
		{"a call of this very function", "inner@context middle@leaf outer@frame_pointer", []span{codeAt(t, 0x1148, call)}},
		{"a call of another one", "inner@context outer@frame_pointer", []span{codeAt(t, 0x1148, another)}},
		{"which is why its code is not believed first", "inner@context outer@frame_pointer",
			[]span{codeAt(t, 0x1148, another), codeAt(t, 0x1000, load[4:]+load)}},
		{"through the linkage table", "inner@context middle@leaf outer@frame_pointer",
			[]span{codeAt(t, 0x1148, toPLT), codeAt(t, 0x2000, plt+"0000"), words(0x403000, 8, 0x401000)}},
		{"through the linkage table, to another function", "inner@context outer@frame_pointer",
			[]span{codeAt(t, 0x1148, toPLT), codeAt(t, 0x2000, plt+"0000"), words(0x403000, 8, 0x401100)}},
		{"a call of one that ends in a jump to this one", "inner@context middle@leaf outer@frame_pointer",
			[]span{leaf, codeAt(t, 0x1148, passing), codeAt(t, 0x1080, "53e8000000005be974ffffff")}},
		{"through the linkage table, to one that does", "inner@context middle@leaf outer@frame_pointer",
			[]span{leaf, codeAt(t, 0x1148, toPLT), codeAt(t, 0x2000, plt+"0000"), words(0x403000, 8, 0x401080), codeAt(t, 0x1080, "e97bffffff")}},
		{"to one that ends in a jump to a pointer", "inner@context middle@leaf outer@frame_pointer",
			[]span{leaf, codeAt(t, 0x1148, passing), codeAt(t, 0x1080, "ffe0")}},
		{"that jumps before it gives its frame back", "inner@context outer@frame_pointer",
			[]span{leaf, codeAt(t, 0x1148, passing), codeAt(t, 0x1080, "53e97affffff")}},
		{"that ends in a jump to another", "inner@context outer@frame_pointer",
			[]span{leaf, codeAt(t, 0x1148, passing), codeAt(t, 0x1080, "e97cffffff")}},
		{"the code cannot be followed", "inner@context outer@frame_pointer", []span{codeAt(t, 0x1000, pushes)}},
	} {
		p := process("x86_64", regs, append(test.mem, stack)...)
		if got := stackOf(t, p, symbolsText+"STACK CFI INIT 1200 100 .cfa: 1 .ra: 0\n"); got != test.want+" end" {
			t.Errorf("%s:\n got %s\nwant %s end", test.name, got, test.want)
		}
	}
}

// TestPrologue: neither rules nor a frame record; the scan alone would take a
// stale word.
func TestPrologue(t *testing.T) {
	stack := words(0x8000, 8, 0x401350, 1, 2, 3, 0x8888, 0x401150)
	regs := regsOf(0x401050, map[cfi.Reg]uint64{7: 0x8000, 6: 5})
	for _, test := range []struct{ name, code, want string }{
		{"no code", "", "inner@context _start@scan end"},
		{"push %rbp; sub $32,%rsp; jmp *%rax", "554883ec20ffe0", "inner@context middle@code"},
		{"bytes that are no code", "0606", "inner@context _start@scan end"},
		{"no prologue", "ffe0", "inner@context _start@scan end"},
	} {
		p := process("x86_64", regs, stack, codeAt(t, 0x1000, test.code))
		res, err := Walk(t.Context(), p, fixed(symbolsText), Options{MaxFrames: 2, Registers: true})
		if err != nil {
			t.Fatal(err)
		}
		f := &res.Stacks[0].Frames[1]
		if got := "inner@context " + f.Place.Func + "@" + f.Trust.Key(); got != test.want && got+" end" != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		for _, r := range f.Registers {
			if r.Name == "rbp" && f.Trust == TrustCode && r.Value != 0x8888 {
				t.Errorf("%s: rbp %#x", test.name, r.Value)
			}
		}
	}
}

// TestCodeAfterRecord: a frame record has the caller's frame pointer; on arm64 the record does
// not show where the callee's frame ends. The stack pointer follows from the caller's code
// and its frame pointer, so that a function without a record can follow.
func TestCodeAfterRecord(t *testing.T) {
	stack := words(0x8000, 8, 0, 0, 0x8040, 0x40110c, 0, 0, 0, 0, // inner: a record, and 32 bytes above it
		0x8100, 0x401208, 0, 0, 0, 0, 0, 0, // middle: a record at 0x8040
		0x401350, 0, 0, 0, 0) // outer: at 0x8080, without a record
	p := process("arm64", regsOf(0x401050, map[cfi.Reg]uint64{31: 0x8000, 29: 0x8010}), stack,
		codeAt(t, 0x1100, "fd7bbca9fd03009101000094"), // stp x29,x30,[sp,#-64]!; mov x29,sp; bl
		codeAt(t, 0x1200, "fe0f1ef801000094"))         // str x30,[sp,#-32]!; bl
	want := "inner@context middle@frame_pointer outer@code _start@code end"
	if got := stackOf(t, p, strings.Replace(symbolsText, "x86_64", "arm64", 1)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCantUnwind: ARM functions whose table entry says that nothing is thrown
// through them. The link register is believed after a call of the function,
// also through a linkage table, and where the dump cannot tell.
func TestCantUnwind(t *testing.T) {
	const rules = "STACK CFI INIT 1000 100 .cfa: sp .ra: 1\n"
	arm := func(insns ...uint32) (b []byte) {
		for _, i := range insns {
			b = binary.LittleEndian.AppendUint32(b, i)
		}
		return b
	}
	library := Module{Path: "/lib/libc.so.6", Name: "libc.so.6", Base: 0x500000, End: 0x510000}
	plt := span{0x402000, arm(0xe28fc600, 0xe28cca01, 0xe5bcfff8)} // the word at 0x404000
	callPLT := span{0x401150, arm(0xeb0003aa)}                     // bl 0x402000
	for _, test := range []struct {
		name, want string
		lr         uint64
		mem        []span
	}{
		{"a call of another function", "0x501040@context", 0x401154, []span{{0x401150, arm(0xeb000000, 0, 0xe12fff1e)}}},
		{"a call through the linkage table", "0x501040@context 0x401154@leaf", 0x401154, []span{callPLT, plt, words(0x404000, 4, 0x501001)}},
		{"the linkage table has another function", "0x501040@context", 0x401154, []span{callPLT, plt, words(0x404000, 4, 0x4ffff0)}},
		{"the linkage table's word is not in the dump", "0x501040@context 0x401154@leaf", 0x401154, []span{callPLT, plt}},
		{"no code in the dump", "0x501040@context 0x401154@leaf", 0x401154, nil},
		{"no code in the dump, and the same module", "0x501040@context", 0x509000, nil},
		{"the link register is no code", "0x501040@context", 0x12345678, nil},
	} {
		p := process("arm", regsOf(0x501040, map[cfi.Reg]uint64{13: 0x8000, 14: test.lr}), append(test.mem, words(0x8000, 4, 0, 0, 0, 0))...)
		p.Modules = append(p.Modules, &library)
		if got := stackOf(t, p, "MODULE Linux arm 0 x\n"+rules); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestJumpTable: the code of a function that its table entry says cannot be unwound leads
// to a jump table, which may be skipped: the state before it is that of the frame.
func TestJumpTable(t *testing.T) {
	code := "10402de9" + "00f18f90" + "1eff2fe1" + strings.Repeat("0000a0e1", 16) // push {r4,lr}; addls pc,pc,r0,lsl #2; bx lr; nop
	p := process("arm", regsOf(0x401020, map[cfi.Reg]uint64{13: 0x8000}), codeAt(t, 0x1000, code), words(0x8000, 4, 1, 0x401350, 2, 3))
	text := strings.Replace(symbolsText, "x86_64", "arm", 1) + "STACK CFI INIT 1000 100 .cfa: sp .ra: 1\n"
	if got, want := stackOf(t, p, text), "inner@context _start@code end"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestReturnToEntry: a function of makecontext returns to a function that no call precedes.
func TestReturnToEntry(t *testing.T) {
	for _, test := range []struct{ name, symbols, want string }{
		{"by name", "FUNC 1500 10 0 __start_context\n", "inner@context __start_context@leaf end"},
		{"by the start of its rules", "STACK CFI INIT 1500 10 .cfa: $rsp .ra: 0\n", "inner@context 0x401500@leaf end"},
		{"in the middle of its rules", "STACK CFI INIT 14f0 20 .cfa: $rsp .ra: 0\n", "inner@context end"},
		{"another function", "FUNC 1500 10 0 main\n", "inner@context end"},
	} {
		p := process("x86_64", regsOf(0x401000, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, 0x401500, 0, 0),
			codeAt(t, 0x1000, "9090"), codeAt(t, 0x14f0, strings.Repeat("90", 64)))
		res, err := Walk(t.Context(), p, fixed(symbolsText+test.symbols), Options{NoScan: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range res.Stacks[0].Frames {
			name := f.Place.Func
			if name == "" || f.PC == 0x401500 && f.Place.FuncAddr != f.PC {
				name = fmt.Sprintf("%#x", f.PC)
			}
			got = append(got, name+"@"+f.Trust.Key())
		}
		if text := strings.Join(got, " ") + " end"; text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
}

// TestThumbBit: the instruction set of a function that was called is that of the return
// address, whatever its bytes look like.
func TestThumbBit(t *testing.T) {
	const start = 0x401000
	// ARM code: five instructions of its eight words are unconditional.
	literals := codeAt(t, 0x1000, "640050e3"+"1eff2fc1"+"1c309fe5"+"2a20a0e3"+"10402de9"+"2805"+"00fa"+"0c230500"+"00210500")
	p := process("arm", regsOf(start, nil), literals)
	w := newWalker(t.Context(), p, newSymbolizer(p, nil, &Options{}), 1)
	place := &Place{FuncAddr: start}
	for _, test := range []struct {
		f    Frame
		want stepper
	}{
		{Frame{Place: place, Saved: start + 0x18}, armCode{}},
		{Frame{Place: place, Saved: start + 0x19}, thumbCode{}},
		{Frame{Place: place, Saved: start + 0x18, Exact: true}, thumbCode{}}, // a guess
	} {
		if got := w.stepperOf(&test.f); got != test.want {
			t.Errorf("%#x: %T, want %T", test.f.Saved, got, test.want)
		}
	}
}

// TestStubs: entries of linkage tables of each machine.
func TestStubs(t *testing.T) {
	for _, test := range []struct {
		name, cpu, code string
		pc, want        uint64
	}{
		{"x86-64", "x86_64", "ff25e22f0000", 0x1020, 0x4008},
		{"x86-64 with endbr64", "x86_64", "f30f1efaff25d62f0000", 0x1060, 0x4040},
		{"x86-64 with endbr64 and bnd", "x86_64", "f30f1efaf2ff25d52f0000", 0x1060, 0x4040},
		{"i386", "x86", "ff250c400408", 0x8049030, 0x804400c},
		{"i386 of a library", "x86", "ffa30c000000", 0x1030, 0},
		{"arm64", "arm64", "b00000b0110240f910020091", 0x5f0, 0x15000},
		{"arm64 with bti", "arm64", "5f2403d5b00000b0110a40f9", 0x5f0, 0x15010},
		{"arm", "arm", "00c68fe210ca8ce2d4fbbce5", 0x3f4, 0x10fd0},
		{"arm, called by Thumb code", "arm", "7847c04600c68fe210ca8ce2d4fbbce5", 0x3f0, 0x10fd0},
		{"arm, far", "arm", "04c09fe50fc08ce000f09ce510200000", 0x400, 0x241c},
		{"arm: other code", "arm", "00c68fe200000000", 0x400, 0},
		{"nothing", "arm64", "", 0, 0},
	} {
		code, _ := hex.DecodeString(test.code)
		got, ok := cpus[test.cpu].machine.(linker).stub(code, test.pc)
		if got != test.want || ok != (test.want != 0) {
			t.Errorf("%s: %#x %v, want %#x", test.name, got, ok, test.want)
		}
	}
}
