package walk

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
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

// TestReadCodeOfStack: all frames of a stack together read a bounded amount of
// code.
func TestReadCodeOfStack(t *testing.T) {
	const start, calls = 0x401000, 3000
	code := append(slices.Repeat([]byte{0x90}, 10000), slices.Repeat([]byte{0xe8, 1, 0, 0, 0}, calls)...)
	var stack []uint64
	for i := range uint64(calls) {
		stack = append(stack, start+10000+5*(i+1))
	}
	p := process("x86_64", regsOf(start+10000, map[cfi.Reg]uint64{7: 0x8000}), words(0x8000, 8, stack...), span{start, code})
	res, err := Walk(t.Context(), p, fixed("MODULE Linux x86_64 0 app\nFUNC 1000 f000 0 f\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	frames := res.Stacks[0].Frames
	if last := frames[len(frames)-1]; len(frames) < calls/3 || last.Trust == TrustCode {
		t.Errorf("%d frames, the last one by %v", len(frames), last.Trust)
	}
}
