package cfi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Arch has the facts about one machine that unwinding needs. All callers share the values
// and must not change them.
type Arch struct {
	// Name is the architecture in a MODULE record.
	Name string
	// WordSize is the size in bytes of the stack's words, which `^` reads.
	WordSize int
	// SP is the stack pointer. PC is the name of the program counter in rules, or "" if
	// rules have no name for the program counter.
	SP Reg
	PC string
	// RA is the usual column of the return address. LinkRegister means that calls write
	// the return address into register RA: in a function that has not saved the register,
	// the return address is still there.
	RA           Reg
	LinkRegister bool
	// SPOffset is the distance from the CFA to the caller's stack pointer: CFA +
	// SPOffset.
	SPOffset int64
	// End is the constant that stands for `.ra` if the return address is undefined. Every
	// known stack walker stops at End, also those for MIPS, which subtract from the
	// address first.
	End int64
	// CalleeSaved are the registers that a call leaves unchanged, in ascending order,
	// without the stack pointer.
	CalleeSaved []Reg

	pc          Reg       // column of the program counter, or RA if the counter has no column
	once        sync.Once // of ready
	calleeSaved string    // see regs
	lists       []string  // see names
	names       []string
	order       []uint16 // rank of each name, byte order
}

// The register tables: DWARF numbers from each psABI, names from Breakpad's CPU contexts,
// as in the symbol files that Breakpad writes. A machine that Breakpad has no context for
// has the assembler's names.
//
// The tables differ from Breakpad's in two places on purpose. MIPS has the floating-point
// registers at 32–63 and hi, lo at 64, 65, as MIPS compilers number them. RISC-V's x0,
// which Breakpad calls pc, has no name, because a rule that reads x0 means zero.
var (
	x86 = Arch{
		Name: "x86", WordSize: 4, SP: 4, PC: "$eip", RA: 8, End: 1,
		calleeSaved: "3 5-7",
		lists: []string{"$eax $ecx $edx $ebx $esp $ebp $esi $edi $eip $eflags $unused1",
			"$st0-7 $unused2 $unused3 $xmm0-7 $mm0-7 $fcw $fsw $mxcsr",
			"$es $cs $ss $ds $fs $gs $unused4 $unused5 $tr $ldtr"},
	}
	x86_64 = Arch{
		Name: "x86_64", WordSize: 8, SP: 7, PC: "$rip", RA: 16, End: 1,
		calleeSaved: "3 6 12-15",
		lists: []string{"$rax $rdx $rcx $rbx $rsi $rdi $rbp $rsp $r8-15 $rip",
			"$xmm0-15 $st0-7 $mm0-7 $rflags $es $cs $ss $ds $fs $gs . .",
			"$fs.base $gs.base . . $tr $ldtr $mxcsr $fcw $fsw"},
	}
	arm = Arch{
		Name: "arm", WordSize: 4, SP: 13, PC: "pc", RA: 14, LinkRegister: true, End: 1,
		calleeSaved: "4-11",
		// The double-precision registers, 256 and up, are two words each.
		lists: []string{"r0-12 sp lr pc f0-7 fps cpsr", ".38", "s0-31 f0-7"},
	}
	arm64 = Arch{
		Name: "arm64", WordSize: 8, SP: 31, PC: "pc", RA: 30, LinkRegister: true, End: 1,
		calleeSaved: "19-29",
		lists:       []string{"x0-30 sp", ".32", "v0-31"},
	}
	// On PowerPC, 68–75 are the fields of cr, or the whole of cr in .eh_frame: cr is half
	// a word on ppc64, so these columns have no name there.
	ppc = Arch{
		Name: "ppc", WordSize: 4, SP: 1, PC: "srr0", RA: 65, LinkRegister: true, End: 1,
		calleeSaved: "14-31",
		lists:       []string{"r0-31 f0-31 cr lr ctr"},
	}
	ppc64 = Arch{
		Name: "ppc64", WordSize: 8, SP: 1, PC: "srr0", RA: 65, LinkRegister: true, End: 1,
		calleeSaved: "14-31",
		lists:       []string{"r0-31 f0-31 . lr ctr"},
	}
	mips = Arch{
		Name: "mips", WordSize: 4, SP: 29, PC: "$pc", RA: 31, LinkRegister: true, End: 16,
		calleeSaved: "16-23 28 30",
		lists:       mipsLists,
	}
	mips64 = Arch{
		Name: "mips64", WordSize: 8, SP: 29, PC: "$pc", RA: 31, LinkRegister: true, End: 16,
		calleeSaved: "16-23 28 30",
		lists:       mipsLists,
	}
	riscv = Arch{
		Name: "riscv", WordSize: 4, SP: 2, PC: "pc", RA: 1, LinkRegister: true, End: 1,
		calleeSaved: "8 9 18-27",
		lists:       riscvLists,
	}
	riscv64 = Arch{
		Name: "riscv64", WordSize: 8, SP: 2, PC: "pc", RA: 1, LinkRegister: true, End: 1,
		calleeSaved: "8 9 18-27",
		lists:       riscvLists,
	}
	s390 = Arch{
		Name: "s390", WordSize: 4, SP: 15, PC: "pswa", RA: 14, LinkRegister: true, SPOffset: -96, End: 1,
		calleeSaved: "6-13 18 19",
		lists:       s390Lists,
	}
	s390x = Arch{
		Name: "s390x", WordSize: 8, SP: 15, PC: "pswa", RA: 14, LinkRegister: true, SPOffset: -160, End: 1,
		calleeSaved: "6-13 24-31",
		lists:       s390Lists,
	}
	// On SPARC, column 15 (%o7) holds the address of the call: the return address is %o7 + 8,
	// and a stack walker adds the 8.
	sparc = Arch{
		Name: "sparc", WordSize: 4, SP: 14, PC: "pc", RA: 15, LinkRegister: true, End: 1,
		calleeSaved: "16-31",
		lists:       sparcLists,
	}
	sparcv9 = Arch{
		Name: "sparcv9", WordSize: 8, SP: 14, PC: "pc", RA: 15, LinkRegister: true, End: 1,
		calleeSaved: "16-31",
		lists:       sparcLists,
	}
	loongarch64 = Arch{
		Name: "loongarch64", WordSize: 8, SP: 3, PC: "pc", RA: 1, LinkRegister: true, End: 1,
		calleeSaved: "22-31",
		lists:       []string{"zero ra tp sp a0-7 t0-8 r21 fp s0-8 f0-31"},
	}
)

// The lists of architectures with two widths.
var (
	mipsLists  = []string{"$zero $at $v0 $v1 $a0-3 $t0-7 $s0-7 $t8 $t9 $k0 $k1 $gp $sp $fp $ra", "$f0-31 $hi $lo"}
	riscvLists = []string{". ra sp gp tp t0-2 s0 s1 a0-7 s2-11 t3-6 f0-31", ".32", "v0-31"}
	s390Lists  = []string{"r0-15 f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15", "cr0-15 a0-15 pswm pswa"}
	sparcLists = []string{"g0-7 o0-7 l0-7 i0-7 f0-31"}
)

var archs = []*Arch{&x86, &x86_64, &arm, &arm64, &ppc, &ppc64, &mips, &mips64,
	&riscv, &riscv64, &s390, &s390x, &sparc, &sparcv9, &loongarch64}

// ready expands the tables of a on the first use of a, and returns a.
func (a *Arch) ready() *Arch {
	a.once.Do(func() {
		a.CalleeSaved, a.names = regs(a.calleeSaved), names(a.lists...)
		a.order = ranks(a.names)

		// Without a column for the program counter, the return address stands for it.
		a.pc = a.RA
		if r, ok := a.Reg(a.PC); ok {
			a.pc = r
		}
	})
	return a
}

// names expands a table of names: "r0-12" stands for thirteen names, "." for a register
// without a name, ".32" for 32 of them.
func names(lists ...string) (out []string) {
	for w := range strings.FieldsSeq(strings.Join(lists, " ")) {
		first, last, ok := strings.Cut(w, "-")
		base := strings.TrimRight(first, "0123456789")
		switch {
		case w[0] == '.':
			n, _ := strconv.Atoi(w[1:])
			out = append(out, make([]string, max(n, 1))...)
		case !ok:
			out = append(out, w)
		default:
			// The number at the end of the first name starts the range.
			for _, r := range regs(first[len(base):] + "-" + last) {
				out = append(out, base+strconv.Itoa(int(r)))
			}
		}
	}
	return out
}

// regs expands a list of register numbers and ranges of numbers.
func regs(list string) (out []Reg) {
	for w := range strings.FieldsSeq(list) {
		first, last, ok := strings.Cut(w, "-")
		if !ok {
			last = first
		}
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		for r := from; r <= to; r++ {
			out = append(out, Reg(r))
		}
	}
	return out
}

// ranks returns for each name its position among all names in byte order.
func ranks(names []string) []uint16 {
	byName := make([]int, len(names))
	for i := range byName {
		byName[i] = i
	}

	// The sort is stable, so that registers without a name keep the order of their
	// numbers.
	slices.SortStableFunc(byName, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	out := make([]uint16, len(names))
	for rank, i := range byName {
		out[i] = uint16(rank)
	}
	return out
}

// RegName returns the name of register r in rules, or "" if rules have no name for r:
// parts of vector registers, pseudo registers.
func (a *Arch) RegName(r Reg) string {
	if uint64(r) < uint64(len(a.names)) {
		return a.names[r]
	}
	return ""
}

// Reg returns the register with a name in rules. If two registers have the name, Reg
// returns the one with the lower number.
func (a *Arch) Reg(name string) (Reg, bool) {
	for i, n := range a.names {
		if n == name && n != "" {
			return Reg(i), true
		}
	}
	return 0, false
}
