package minidump

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"symkit/walk"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// TestProcess: the thread that wrote the dump marked, a thread without
// registers kept, names, mappings that overlap, the end of the address space.
func TestProcess(t *testing.T) {
	amd64 := "zero 48 u32 0x10001f 0 zero 64 u64" + synth.Sequence(100, 17) + " zero 976\n"
	decoded(t, `stream ThreadList u32 3 7 0 0 0 u64 0 0 u32 0 0 loc c u32 8 0 0 0 u64 0 0 u32 0 0 loc c u32 9 0 0 0 u64 0 0 u32 0 0 0 0
stream ThreadNames u32 1 8 rva64 n block n str "worker"
stream BreakpadInfo u32 1 7 0
stream Exception u32 8 0 11 1 u64 0 0x45 u32 0 0 zero 120 loc c
stream ModuleList u32 2 0 u64 0xfffffffffffff000 u32 0x1000 0 0 rva n zero 52 u32 0 0 0 0 zero 16 u64 0x1000 u32 0x1000 0 0 rva n zero 52 loc cv u32 0 0 zero 16
block cv u32 0x4270454c zero 20
stream LinuxMaps bytes "1000-3000 r-xp 0 0:0 0\n2000-4000 rw-p 0 0:0 0\n"
stream LinuxProcStatus bytes "Pid: 77\n" stream LinuxCmdLine bytes "a\x00b c\x00"
stream CrashpadInfo u32 1 zero 32 u32 0 0 0 0 0 u64 0xff00000000000000
block c `+amd64, func(t *testing.T, d *Dump) {
		p := d.Process()
		eq(t, []any{len(p.Threads), p.Threads[0].ID, p.Threads[0].Writer, p.Crashed, p.Threads[1].ID, p.Threads[1].Name, p.Threads[1].Regs.PC, p.Threads[2].ID, p.Threads[2].NoRegs}, []any{3, 7, true, 1, 8, "worker", 116, 9, true})
		rsp, ok := p.Threads[1].Regs.Get(7)
		eq(t, []any{rsp, ok, p.PID, p.Args, p.CPU, p.PACMask}, []any{104, true, 77, "a b c", "x86_64", uint64(0xff << 56)})
		eq(t, p.Crash, walk.Crash{Reason: "SIGSEGV / SEGV_MAPERR", Breakpad: "SIGSEGV /SEGV_MAPERR", Signal: 11, Code: 1, Address: 0x45, HasAddress: true, Parameters: []uint64{}})
		eq(t, p.Mappings, "[{4096 8192 true false true} {8192 16384 true true false}]")
		eq(t, []any{p.Main.Base, p.Main.End, p.Modules[0].Base, p.Modules[0].DebugID, len(p.Modules[0].BuildID)}, []any{uint64(0xfffffffffffff000), ^uint64(0), 0x1000, "", 0})
		eq(t, []any{len(p.Warnings), strings.HasPrefix(p.Warnings[0], "thread 9: registers: minidump+0x")}, []any{1, true})
	})
}

// TestProcessPages: mappings from Windows' list of pages.
func TestProcessPages(t *testing.T) {
	decoded(t, "stream MemoryInfoList u32 16 48 u64 2 0x1000 0x1000 u32 4 0 u64 0x1000 u32 0x1000 0x20 0 0 u64 0x2000 0 u32 0 0 u64 0x1000 u32 0x10000 1 0 0", func(t *testing.T, d *Dump) {
		eq(t, d.Process().Mappings, "[{4096 8192 true false true}]")
	})
}

// TestProcessStrings: records that share one long string do not make as many
// copies of it.
func TestProcessStrings(t *testing.T) {
	var text strings.Builder
	text.WriteString(synth.System(mdmp.CPUAMD64, mdmp.OSLinux) + "stream ThreadList u32 1000\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "u32 %d 0 0 0 u64 0 0 u32 0 0 0 0\n", i)
	}
	text.WriteString("stream ThreadNames u32 1000\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "u32 %d rva64 n\n", i)
	}
	text.WriteString("block n u32 60000 zero 60000")
	s := synth.Assemble(t, false, text.String())
	d, err := New(s.Data)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	p := d.Process()
	for _, th := range p.Threads {
		total += len(th.Name)
	}
	if total == 0 || total > 4*len(s.Data) {
		t.Errorf("%d bytes of names from a dump of %d", total, len(s.Data))
	}
	if len(p.Warnings) > mdmp.MaxLosses {
		t.Errorf("%d warnings", len(p.Warnings))
	}
}

// TestProcessFileNames: the name of a file that no file system can have is elided in the middle, in a
// path and of debug information.
func TestProcessFileNames(t *testing.T) {
	for _, test := range []struct {
		n    int
		want string
	}{
		{1022, strings.Repeat("n", 1022) + "zz"},
		{30_000, strings.Repeat("n", 510) + "..." + strings.Repeat("n", 508) + "zz"},
	} {
		text := "stream ModuleList u32 1 u64 0x400000 u32 1 0 0 rva s zero 52 loc cv u32 0 0 zero 16\n" +
			"block cv u32 0x4270454c 1 2 3 4 block s str \"/a/" + strings.Repeat("n", test.n) + "zz\""
		decoded(t, text, func(t *testing.T, d *Dump) {
			m := d.Process().Modules[0]
			eq(t, m.Path, "/a/"+test.want)
			eq(t, m.DebugFile, test.want)
		})
	}
}

// TestProcessWarnings: a bounded number of warnings names the lost records, and one says that
// the exception has no registers.
func TestProcessWarnings(t *testing.T) {
	text := synth.Base + "stream ThreadNames u32 150" + strings.Repeat(" u32 1 u64 0x10000000", 150) +
		"\nstream Exception u32 1 0 11 1 u64 0 0x45 u32 0 0 zero 120 loc c\nblock c zero 8"
	text = strings.Replace(text, "u32 150 u32 1", "u32 150 1", 1)
	d, err := New(synth.Assemble(t, false, text).Data)
	if err != nil {
		t.Fatal(err)
	}
	w := d.Process().Warnings
	eq(t, []any{d.file.Lost, len(d.file.Losses), len(w)}, []any{150, 100, 102})
	eq(t, w[100], "50 more parts of the dump are damaged")
	eq(t, strings.HasPrefix(w[101], "registers of the exception: minidump+0x"), true)
}

// TestProcessReal: real dumps are walked.
func TestProcessReal(t *testing.T) {
	for _, c := range []struct {
		name, want string
		frames     int // at least, of the first thread
	}{
		{"minidump2", `Windows NT|5.1.2600 Service Pack 2|x86|3932|test_app.exe|2|0|EXCEPTION_ACCESS_VIOLATION_WRITE|0x45|true|13|c:\test_app.exe|test_app.pdb|5A9832E5287241C1838ED98914E9B7FF1|0`, 4},
		{"linux-mini", `Linux|4.9.60-linuxkit-aufs #1 SMP Mon Nov 6 16:00:12 UTC 2017|x86_64|1304|crash|1|0|SIGSEGV|0x45|true|8|/work/linux/build/crash|crash|C0BCC3F19827FE653058404B2831D9E60|35`, 4},
		{"tiny-exe-with-cet-xsave", `Windows NT|10.0.22000 282|x86_64|15444|tiny.exe|1|-1||0x0|false|25|C:\src\crashpad\tiny.exe|tiny.exe.pdb|C25CD79F212F335C4C4C44205044422E1|363`, 4},
	} {
		p := open(t, c.name).Process()
		m := p.Main
		got := fmt.Sprintf("%s|%s|%s|%d|%s|%d|%d|%s|%#x|%v|%d|%s|%s|%s|%d", p.OS, p.OSVersion, p.CPU, p.PID, p.Name, len(p.Threads), p.Crashed,
			p.Crash.Reason, p.Crash.Address, p.Crash.HasAddress, len(p.Modules), m.Path, m.Name, m.DebugID, len(p.Mappings))
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		res, err := walk.Walk(context.Background(), p, nil, walk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(res.Stacks[0].Frames); n < c.frames {
			t.Errorf("%s: %d frames", c.name, n)
		}
	}
}
