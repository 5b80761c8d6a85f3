package mdmp_test

import (
	"fmt"
	"strings"
	"testing"

	"symkit/cfi"
	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// contexts are written field by field in the order of the structures, so that
// the tables of offsets are compared with the structures.
var contexts = []struct {
	name string
	cpu  mdmp.CPU
	text string
	want string // NAME=VALUE/DWARF
	pc   uint64
}{
	{"CONTEXT_X86", mdmp.CPUX86, "u32 0x1003f zero 24 zero 112 u32" + synth.Sequence(1, 4) + synth.Sequence(10, 6) + synth.Sequence(20, 6) + " zero 512",
		"edi=10/7 esi=11/6 ebx=12/3 edx=13/2 ecx=14/1 eax=15/0 ebp=20/5 eip=21/8 eflags=23/9 esp=24/4", 21},
	{"CONTEXT_X86 without extended registers", mdmp.CPUX86, "u32 0x10007 zero 136 u32" + synth.Sequence(1, 4) + synth.Sequence(10, 6) + synth.Sequence(20, 6),
		"eip=21/8", 21},
	{"CONTEXT_X86 with XSAVE", mdmp.CPUX86Win64, "u32 0x1007f zero 136 u32" + synth.Sequence(1, 4) + synth.Sequence(10, 6) + synth.Sequence(20, 6) + " zero 600",
		"eip=21/8", 21},
	{"CONTEXT_AMD64", mdmp.CPUAMD64, "zero 48 u32 0x10001f 0x1f80 u16" + synth.Sequence(1, 6) + " u32 7 zero 48 u64" + synth.Sequence(100, 17) + " zero 976",
		"eflags=7/49 rax=100/0 rcx=101/2 rdx=102/1 rbx=103/3 rsp=104/7 rbp=105/6 rsi=106/4 rdi=107/5 r8=108/8 r15=115/15 rip=116/16", 116},
	{"CONTEXT_AMD64 with XSAVE and what Windows adds to the flags", mdmp.CPUAMD64, "zero 48 u32 0xd810005f 0 zero 16 zero 48 u64" + synth.Sequence(100, 17) + " zero 976 zero 832",
		"rip=116/16", 116},
	{"CONTEXT_ARM", mdmp.CPUARM, "u32 0x40000006" + synth.Sequence(100, 16) + " 7 zero 296",
		"r0=100/0 r10=110/10 fp=111/11 r12=112/12 sp=113/13 lr=114/14 pc=115/15", 115},
	{"CONTEXT_ARM of Windows", mdmp.CPUARM, "u32 0x20000f" + synth.Sequence(100, 16) + " 7 zero 344", "pc=115/15", 115},
	{"CONTEXT_ARM64", mdmp.CPUARM64, "u32 0x400007 0x80000007 u64" + synth.Sequence(100, 33) + " zero 640",
		"x0=100/0 x28=128/28 fp=129/29 lr=130/30 sp=131/31 pc=132/32", 132},
	{"CONTEXT_ARM64 of Windows", mdmp.CPUARM64, "u32 0xc8400007 0 u64" + synth.Sequence(100, 33) + " zero 640", "pc=132/32", 132},
	{"MDRawContextARM64_Old", mdmp.CPUARM64Old, "u64 0x80000006" + synth.Sequence(100, 33) + " u32 7 zero 520",
		"x0=100/0 fp=129/29 pc=132/32", 132},
	{"MDRawContextMIPS", mdmp.CPUMIPS, "u32 0x4000f 0 u64" + synth.Sequence(100, 32) + " 140 141 zero 32 u64 150 0 zero 272",
		"zero=100/0 at=101/1 gp=128/28 sp=129/29 fp=130/30 ra=131/31 hi=140/64 lo=141/65", 150},
	{"MDRawContextMIPS, 64 bits", mdmp.CPUMIPS64, "u32 0x8000f 0 u64" + synth.Sequence(100, 32) + " 140 141 zero 32 u64 150 0 zero 272", "s0=116/16", 150},
	{"MDRawContextPPC", mdmp.CPUPPC, "u32 0x20000001 50 51" + synth.Sequence(100, 32) + synth.Sequence(60, 4) + " zero 848",
		"r0=100/0 r31=131/31 cr=60/64 lr=62/65 ctr=63/66", 50},
	{"MDRawContextPPC64", mdmp.CPUPPC64, "u64 0x1000001 50 51" + synth.Sequence(100, 32) + synth.Sequence(60, 4) + " zero 848",
		"r0=100/0 r31=131/31 lr=62/65 ctr=63/66", 50},
	{"MDRawContextSPARC", mdmp.CPUSPARC, "u32 0x10000003 0 u64" + synth.Sequence(100, 32) + synth.Sequence(60, 6) + " zero 272",
		"g0=100/0 o6=114/14 l0=116/16 i7=131/31", 61},
	{"MDRawContextRISCV", mdmp.CPURISCV, "u32 0x800003 1" + synth.Sequence(100, 32) + " zero 132",
		"ra=101/1 sp=102/2 gp=103/3 tp=104/4 t0=105/5 s0=108/8 a0=110/10 a7=117/17 s2=118/18 t3=128/28 t6=131/31", 100},
	{"MDRawContextRISCV64", mdmp.CPURISCV64, "u32 0x8000003 1 u64" + synth.Sequence(100, 32) + " zero 264",
		"ra=101/1 sp=102/2 s1=109/9 t6=131/31", 100},
	{"flags that tell no CPU", mdmp.CPUAMD64, "zero 48 u32 0x1f 0 zero 64 u64" + synth.Sequence(100, 17) + " zero 976", "rip=116/16", 116},
}

// contextDump has one thread with a context.
func contextDump(t testing.TB, big bool, cpu mdmp.CPU, context string) (synth.Dump, *mdmp.Dump) {
	s := synth.Assemble(t, big, synth.System(cpu, mdmp.OSLinux)+"stream ThreadList u32 1 7 0 0 0 u64 0 0 u32 0 0 at: loc ctx\nblock ctx "+context)
	d, err := readAll(s.Data)
	if err != nil || d.Lost != 0 {
		t.Fatal(err, d)
	}
	return s, d
}

func TestContexts(t *testing.T) {
	for _, c := range contexts {
		for _, big := range []bool{false, true} {
			_, d := contextDump(t, big, c.cpu, c.text)
			x, err := d.ThreadContext(&d.Threads[0])
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if x.PC != c.pc {
				t.Errorf("%s: pc %d", c.name, x.PC)
			}
			for w := range strings.FieldsSeq(c.want) {
				var value, number uint64
				_, rest, _ := strings.Cut(w, "=")
				_, err := fmt.Sscanf(rest, "%d/%d", &value, &number)
				if got, ok := x.Get(cfi.Reg(number)); err != nil || !ok || got != value {
					t.Errorf("%s: %d, %v, want %s", c.name, got, err, w)
				}
			}
		}
	}
}

func TestRejectedContexts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		cpu        mdmp.CPU
		err        error
		at         string
	}{
		{"of another CPU", "zero 48 mark: u32 0x10007 zero 1180", mdmp.CPUAMD64, mdmp.ErrContext, "mark"},
		{"of another CPU, flags at the start", "u32 0x100007 zero 712", mdmp.CPUX86, mdmp.ErrContext, "ctx"},
		{"cut", "zero 48 u32 0x100007 zero 1179", mdmp.CPUAMD64, wire.ErrTruncated, "ctx"},
		{"cut before the flags", "zero 48 mark: u16 0", mdmp.CPUAMD64, wire.ErrTruncated, "mark"},
		{"arm64 cut in the flags", "u16 0", mdmp.CPUARM64, wire.ErrTruncated, "ctx"},
		{"of a CPU that is not known", "zero 100", 6, mdmp.ErrCPU, "ctx"},
	} {
		for _, big := range []bool{false, true} {
			s, d := contextDump(t, big, c.cpu, c.text)
			_, err := d.ThreadContext(&d.Threads[0])
			located(t, s, c.name, err, c.err, c.at)
		}
	}
	s, d := contextDump(t, false, mdmp.CPUAMD64, "zero 8")
	l := d.Threads[0].Context
	l.RVA = 1 << 30
	_, err := d.Context(l)
	located(t, s, "outside", err, wire.ErrOffset, "at")
}

// TestExceptionContext: the exception's context stands for the thread's own,
// unless it cannot be read.
func TestExceptionContext(t *testing.T) {
	context := "zero 48 u32 0x10001f 0 zero 64 u64%s zero 976\n"
	text := synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 2 7 0 0 0 u64 0 0 u32 0 0 loc a 8 0 0 0 u64 0 0 u32 0 0 loc a\n" +
		"stream Exception u32 8 0 11 1 u64 0 0x45 u32 0 0 zero 120 loc %s\n" +
		"block a " + fmt.Sprintf(context, synth.Sequence(100, 17)) + "block b " + fmt.Sprintf(context, synth.Sequence(200, 17)) + "block c zero 8"
	for _, c := range []struct {
		context string
		pcs     [2]uint64
	}{{"b", [2]uint64{116, 216}}, {"c", [2]uint64{116, 116}}} {
		text := strings.Replace(fmt.Sprintf(text, c.context), "loc a 8", "loc a u32 8", 1)
		d, err := readAll(synth.Assemble(t, false, text).Data)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.pcs {
			if x, err := d.ThreadContext(&d.Threads[i]); err != nil || x.PC != want {
				t.Errorf("context %s, thread %d: %d, %v", c.context, i, x.PC, err)
			}
		}
		if d.RequestingThread() != 1 || d.Exception.Address != 0x45 {
			t.Error(d.RequestingThread(), d.Exception.Address)
		}
	}
}

// TestContextAllocs: registers are read without allocating.
func TestContextAllocs(t *testing.T) {
	_, d := contextDump(t, false, contexts[3].cpu, contexts[3].text)
	var sum uint64
	n := testing.AllocsPerRun(100, func() {
		x, err := d.ThreadContext(&d.Threads[0])
		if err != nil {
			t.Fatal(err)
		}
		sum += x.PC
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var errSink error

func BenchmarkContext(b *testing.B) {
	_, d := contextDump(b, false, contexts[3].cpu, contexts[3].text)
	for b.Loop() {
		x, err := d.ThreadContext(&d.Threads[0])
		errSink = err
		if x.PC != 116 {
			b.Fatal(x.PC)
		}
	}
}
