package mdmp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// decoded assembles and decodes a dump without losses, and checks it in both
// byte orders.
func decoded(t *testing.T, text string, check func(t *testing.T, d *mdmp.Dump)) {
	t.Helper()
	for _, big := range []bool{false, true} {
		d, err := readAll(synth.Assemble(t, big, synth.Whole(text)).Data)
		if err != nil {
			t.Fatal(err)
		}
		if d.Lost != 0 {
			t.Errorf("%v", d.Losses)
		}
		if d.BigEndian != big {
			t.Error("byte order")
		}
		check(t, d)
	}
}

// eq compares two values as they are printed.
func eq(t *testing.T, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
}

// readAll reads a dump that has the required streams.
func readAll(data []byte) (*mdmp.Dump, error) {
	d, err := mdmp.Read(data)
	if err == nil {
		err = d.Required()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func TestHeader(t *testing.T) {
	decoded(t, "stream 0xdead bytes \"abc\" stream Unused stream Token zero 4\nheader 0x504d444d 0x5128a793 5", func(t *testing.T, d *mdmp.Dump) {
		eq(t, []any{d.Header.Version, d.Header.Time, len(d.Directory)}, []any{0x5128a793, 0x45d35f73, 5})
	})
}

func TestSystemInfo(t *testing.T) {
	for _, c := range []struct {
		cpu                   mdmp.CPU
		os                    mdmp.OS
		name, system          string
		info, version, vendor string
	}{
		{mdmp.CPUX86, mdmp.OSWinNT, "x86", "Windows NT", "GenuineIntel family 6 model 13 stepping 8", "5.1.2600 SP 2", "GenuineIntel"},
		{mdmp.CPUX86Win64, mdmp.OSWindows, "x86", "Windows", "GenuineIntel family 6 model 13 stepping 8", "5.1.2600 SP 2", "GenuineIntel"},
		{mdmp.CPUAMD64, mdmp.OSMac, "amd64", "Mac OS X", "family 6 model 13 stepping 8", "5.1.2600 SP 2", ""},
		{mdmp.CPUARM64Old, mdmp.OSIOS, "arm64", "iOS", "", "5.1.2600 SP 2", ""},
		{mdmp.CPURISCV64, mdmp.OSFuchsia, "riscv64", "Fuchsia", "", "5.1.2600 SP 2", ""},
		{6, 9, "0x0006", "0x00000009", "", "5.1.2600 SP 2", ""},
	} {
		decoded(t, synth.System(c.cpu, c.os)+"stream ThreadList u32 0", func(t *testing.T, d *mdmp.Dump) {
			s := &d.System
			eq(t, []any{s.CPU, s.OS, s.CPUInfo(), s.Version(), s.Vendor(), s.Processors, s.SuiteMask},
				[]any{c.name, c.system, c.info, c.version, c.vendor, 4, 0x100})
		})
	}
	decoded(t, "stream SystemInfo u16 0 6 0 u8 1 1 u32 0 0 0 2 0 0 zero 24\nstream ThreadList u32 0", func(t *testing.T, d *mdmp.Dump) {
		eq(t, d.System.CPUInfo(), "family 6 model 0 stepping 0")
	})
	arm := "stream SystemInfo u16 5 7 0 u8 4 1 u32 0 0 0 0x8201 0 0 %s zero 16\nstream ThreadList u32 0"
	for regs, want := range map[string]string{
		"0x4100c09f 0x1002": "ARMv7 ARM Cortex-A9 features: half,neon",
		"0x420012f0 0":      "ARMv7 vendor(0x42) part(0x420012f0)",
		"0 0x80000000":      "ARMv7",
	} {
		decoded(t, fmt.Sprintf(arm, regs), func(t *testing.T, d *mdmp.Dump) { eq(t, d.System.CPUInfo(), want) })
	}
}

// TestVersionBuild: uname's output taken apart.
func TestVersionBuild(t *testing.T) {
	system := "stream SystemInfo u16 9 6 0 u8 4 1 u32 %s %d rva s u32 0 zero 24\nstream ThreadList u32 0 block s str %q"
	for _, c := range []struct {
		numbers       string
		os            mdmp.OS
		text          string
		version, rest string
	}{
		{"0 0 0", mdmp.OSLinux, "Linux 3.3.8 #1 SMP May x86_64", "3.3.8", "#1 SMP May"},
		{"0 0 0", mdmp.OSLinux, "Linux 3.3.8 #1 SMP x86_64 Linux/GNU", "3.3.8", "#1 SMP"},
		{"0 0 0", mdmp.OSLinux, "Linux 3.3.8 Linux/GNU", "3.3.8", ""},
		{"0 0 0", mdmp.OSLinux, "Linux 0.0.0 #1", "0.0.0", "Linux 0.0.0 #1"},
		{"0 0 0", mdmp.OSLinux, "Linux", "0.0.0", "Linux"},
		{"5 10 0", mdmp.OSLinux, " b ", "5.10.0", "b"},
		{"0 0 0", mdmp.OSMac, "21A559", "0.0.0", "21A559"},
	} {
		decoded(t, fmt.Sprintf(system, c.numbers, c.os, c.text), func(t *testing.T, d *mdmp.Dump) {
			v, b := d.System.VersionBuild()
			eq(t, []string{v, b}, []string{c.version, c.rest})
		})
	}
}

// TestServicePackOutside: an unreadable name costs only itself.
func TestServicePackOutside(t *testing.T) {
	s := synth.Assemble(t, false, "stream SystemInfo u16 9 6 0 u8 4 1 u32 0 0 0 2 at: u32 0x1000000 0 zero 24\nstream ThreadList u32 0")
	d, err := readAll(s.Data)
	if err != nil || d.Lost != 1 {
		t.Fatal(err, d)
	}
	if d.System.CPU != mdmp.CPUAMD64 || d.Losses[0].Err.Offset != s.Labels["at"] {
		t.Error(d.System, d.Losses)
	}
}

// TestThreads: MINIDUMP_THREAD_LIST with and without padding, names, infos.
func TestThreads(t *testing.T) {
	for _, pad := range []string{"", "0"} {
		decoded(t, "stream ThreadList u32 1 "+pad+" 7 1 2 3 u64 0x7ffdf000 0x12f31c loc s loc s\nblock s bytes \"stack\"", func(t *testing.T, d *mdmp.Dump) {
			th := d.Threads[0]
			stack := d.Stack(&th)
			eq(t, []any{th.ID, th.SuspendCount, th.PriorityClass, th.Priority, th.TEB, stack.Base, string(stack.Data), stack.End(), th.Context.Size},
				[]any{7, 1, 2, 3, 0x7ffdf000, 0x12f31c, "stack", 0x12f321, 5})
			eq(t, string(d.Memory.Bytes(0x12f31d, 3)), "tac")
			eq(t, []any{d.ThreadByID(7), d.ThreadByID(8), d.RequestingThread()}, []any{0, -1, -1})
		})
	}
	decoded(t, "stream ThreadNames u32 2 0 5 rva64 s u32 6 rva64 s2\nblock s str \"a\" block s2 str \"\\u00e9\\U0001F600\"", func(t *testing.T, d *mdmp.Dump) {
		eq(t, []any{d.ThreadNames[0].ID, d.ThreadNames[0].Name, d.ThreadNames[1].ID, d.ThreadNames[1].Name}, []any{5, "a", 6, "é😀"})
	})
	decoded(t, "stream ThreadInfoList u32 16 72 2 99 1 2 3 4 u64 5 6 7 8 9 10 11 u32 1 2 3 4 u64 5 6 7 8 9 10 11", func(t *testing.T, d *mdmp.Dump) {
		eq(t, d.Has(mdmp.ThreadInfoListStream), true)
	})
}

// TestDumpThread: the thread that wrote the dump (MDRawBreakpadInfo).
func TestDumpThread(t *testing.T) {
	text := "stream ThreadList u32 2 7 zero 44 u32 8 zero 44\nstream BreakpadInfo u32 %d 7 8"
	for valid, want := range []string{"-1 false", "-1 true", "1 false", "1 true"} {
		decoded(t, fmt.Sprintf(text, valid), func(t *testing.T, d *mdmp.Dump) {
			eq(t, fmt.Sprint(d.RequestingThread(), d.WroteDump(&d.Threads[0])), want)
			eq(t, d.WroteDump(&d.Threads[1]), false)
		})
	}
	decoded(t, "stream AssertionInfo units 128 \"x > 0\" units 128 \"f\" units 128 \"a.c\" u32 12 1", func(t *testing.T, d *mdmp.Dump) {
		a := d.Assertion
		eq(t, []any{mdmp.TextOf(a.Expression[:]), mdmp.TextOf(a.Function[:]), mdmp.TextOf(a.File[:]), a.Line, a.Type}, "[x > 0 f a.c 12 1]")
	})
}

// TestModules: identifiers, by format of the CodeView record and system.
func TestModules(t *testing.T) {
	guid := "0x11223344 u16 0x5566 0x7788 u8 1 2 3 4 5 6 7 8 u32 "
	for _, c := range []struct {
		name, cv             string
		os                   mdmp.OS
		file, debug, code, v string
		kind                 uint32
		identified           bool
	}{
		{"none, Windows", "", mdmp.OSWinNT, "", "", "45D35F6C2d000", "1.2.3.4", 0, false},
		{"none, Linux", "", mdmp.OSLinux, "", "", "", "65538.196612.327686.458760", 0, false},
		{"PDB 7.0", "u32 0x53445352 " + guid + "10 bytes \"c:\\\\a.pdb\\x00junk\"", mdmp.OSWinNT, `c:\a.pdb`, "11223344556677880102030405060708a", "45D35F6C2d000", "1.2.3.4", mdmp.SignaturePDB70, true},
		{"PDB 7.0 without NUL, macOS", "u32 0x53445352 " + guid + "0 bytes \"a\"", mdmp.OSMac, "a", "112233445566778801020304050607080", "11223344556677880102030405060708", "1.2.3.4", mdmp.SignaturePDB70, true},
		{"PDB 2.0", "u32 0x3031424e 0 0xa1b2c3d4 11 bytes \"b.pdb\"", mdmp.OSWinNT, "b.pdb", "A1B2C3D4b", "45D35F6C2d000", "1.2.3.4", mdmp.SignaturePDB20, true},
		{"unknown", "u32 0x3930424e", mdmp.OSWinNT, "", "", "", "1.2.3.4", 0x3930424e, false},
		{"no build id", "u32 0x4270454c zero 20", mdmp.OSLinux, "/m", "000000000000000000000000000000000", "", "65538.196612.327686.458760", mdmp.SignatureELF, false},
		{"empty build id", "u32 0x4270454c", mdmp.OSLinux, "/m", "000000000000000000000000000000000", "", "65538.196612.327686.458760", mdmp.SignatureELF, false},
	} {
		loc, block := "loc cv", "\nblock cv "+c.cv
		if c.cv == "" {
			loc, block = "u32 0 0", ""
		}
		text := synth.System(mdmp.CPUAMD64, c.os) + "stream ThreadList u32 0\nstream ModuleList u32 1 u64 0x400000 u32 0x2d000 1 0x45d35f6c rva s u32 0xfeef04bd 0x10000 0x10002 0x30004 0x50006 0x70008 zero 28 " +
			loc + " u32 0 0 zero 16\nblock s str \"/m\"" + block
		decoded(t, text, func(t *testing.T, d *mdmp.Dump) {
			m := &d.Modules[0]
			got := []any{m.Name, m.Base, m.End(), m.DebugFile(), d.DebugID(m), d.CodeID(m), d.Version(m), m.CodeView.Signature, m.CodeView.Identified()}
			eq(t, got, []any{"/m", 0x400000, 0x42d000, c.file, c.debug, c.code, c.v, c.kind, c.identified})
		})
	}
}

// TestBuildID: an ELF's build id is a GUID in the byte order of the dump.
func TestBuildID(t *testing.T) {
	text := synth.Base + "stream ModuleList u32 1 u64 0x400000 u32 1 0 0 rva s zero 52 loc cv u32 0 0 zero 16\nblock s str \"/m\" block cv u32 0x4270454c bytes \"\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\\x09\\x0a\\x0b\\x0c\\x0d\\x0e\\x0f\\x10\\x11\\x12\""
	for big, want := range map[bool]string{false: "0403020106050807090A0B0C0D0E0F100", true: "0102030405060708090A0B0C0D0E0F100"} {
		d, err := readAll(synth.Assemble(t, big, text).Data)
		if err != nil {
			t.Fatal(err)
		}
		eq(t, d.DebugID(&d.Modules[0]), want)
		eq(t, d.CodeID(&d.Modules[0]), "0102030405060708090a0b0c0d0e0f101112")
	}
}

// TestDebugMisc: IMAGE_DEBUG_MISC in both of its forms.
func TestDebugMisc(t *testing.T) {
	text := "stream ModuleList u32 1 u64 0x400000 u32 1 0 0 rva s zero 52 u32 0 0 loc m zero 16\nblock s str \"m\" block m u32 1 %s"
	for _, m := range []string{`18 u8 0 0 0 0 bytes "a.dbg\x00"`, `24 u8 1 0 0 0 units 6 "a.dbg"`} {
		decoded(t, fmt.Sprintf(text, m), func(t *testing.T, d *mdmp.Dump) { eq(t, d.Modules[0].DebugFile(), "a.dbg") })
	}
}

func TestUnloadedModules(t *testing.T) {
	decoded(t, "stream UnloadedModuleList u32 12 24 1 u64 0x1000 u32 0x2000 3 0x45d35f6c rva s\nblock s str \"old.dll\"", func(t *testing.T, d *mdmp.Dump) {
		m := &d.UnloadedModules[0]
		eq(t, []any{m.Base, m.End(), m.Checksum, m.Name, m.CodeID()}, []any{0x1000, 0x3000, 3, "old.dll", "45D35F6C2000"})
	})
}

// TestMiscInfo: each version of MINIDUMP_MISC_INFO, and one larger than all.
func TestMiscInfo(t *testing.T) {
	parts := []string{" 0x3ff 1 2 3 4", " 5 6 7 8 9",
		" 10 11 12 13 0xffffffc4 units 32 \"CET\" u16 1 2 3 4 5 6 7 8 u32 14 units 32 \"CEST\" u16 1 2 3 4 5 6 7 8 u32 15",
		" units 260 \"build\" units 40 \"dbg\"", " u32 528 99 u64 5 u32 1 2 zero 504 u32 16", " zero 8"}
	for i, size := range []int{24, 44, 232, 832, 1364, 1372} {
		decoded(t, fmt.Sprintf("stream MiscInfo u32 %d%s", size, strings.Join(parts[:i+1], "")), func(t *testing.T, d *mdmp.Dump) {
			m := d.Misc
			eq(t, []any{m.Flags, m.ProcessID, m.CreateTime, m.UserTime, m.KernelTime}, []any{0x3ff, 1, 2, 3, 4})
			eq(t, []any{m.MaxMHz, m.CurrentMHz, m.MHzLimit, m.MaxIdleState, m.CurrentIdleState}, from(i >= 1, 5, 6, 7, 8, 9))
			z := m.TimeZone
			eq(t, []any{m.IntegrityLevel, m.ExecuteFlags, m.ProtectedProcess, m.TimeZoneID, z.Standard.Bias, z.Daylight.Bias}, from(i >= 2, 10, 11, 12, 13, 14, 15))
			if i >= 2 {
				eq(t, []any{z.Bias, mdmp.TextOf(z.Standard.Name[:]), mdmp.TextOf(z.Daylight.Name[:]), z.Daylight.Date}, []any{-60, "CET", "CEST", "{1 2 3 4 5 6 7 8}"})
			}
			if i >= 3 {
				eq(t, []any{mdmp.TextOf(m.BuildString[:]), mdmp.TextOf(m.DebugBuildString[:])}, []any{"build", "dbg"})
			}
			eq(t, []any{m.XState.Size, m.XState.ContextSize, m.XState.Enabled, m.XState.Features[0].Size, m.Cookie.Value}, from(i >= 4, 528, 99, 5, 2, 16))
		})
	}
}

// from is the values, or as many zeros.
func from(ok bool, values ...any) []any {
	if !ok {
		values = slices.Repeat([]any{0}, len(values))
	}
	return values
}

func TestHandles(t *testing.T) {
	decoded(t, "stream HandleData u32 16 40 2 0 u64 0x44 rva s u32 0 1 2 3 4 rva i u32 0 u64 0x48 u32 0 rva s u32 0 0 0 0 0 0\n"+
		"block s str \"File\" block i rva i2 u32 1 4 bytes \"abcd\" block i2 u32 0 7 0", func(t *testing.T, d *mdmp.Dump) {
		h := d.Handles[0]
		eq(t, []any{h.Handle, h.Type, h.Name, h.Attributes, h.GrantedAccess, h.HandleCount, h.PointerCount, len(h.Info), h.Info[0].Type, h.Info[0].Size, h.Info[1].Type},
			[]any{0x44, "File", "", 1, 2, 3, 4, 2, 1, 4, 7})
		eq(t, []any{d.Handles[1].Type, d.Handles[1].Name, len(d.Handles[1].Info)}, []any{"", "File", 0})
	})
	decoded(t, "stream HandleData u32 16 32 1 0 u64 0x44 zero 24", func(t *testing.T, d *mdmp.Dump) { eq(t, len(d.Handles), 1) })
}

func TestCrashpad(t *testing.T) {
	text := `stream CrashpadInfo u32 1 0x11223344 u16 0x5566 0x7788 u8 1 2 3 4 5 6 7 8 zero 16 loc d loc links %s
block d u32 1 rva k v
block links u32 1 5 loc m
block m u32 1 loc l loc d loc o
block l u32 2 rva k v
block o u32 2 rva k u16 1 0 rva v k u16 0x8001 0 u32 0
block k utf8 "ver" block v utf8 "1.0"`
	for _, mask := range []string{"", "u32 0 u64 0xff00000000000000"} {
		decoded(t, fmt.Sprintf(text, mask), func(t *testing.T, d *mdmp.Dump) {
			c := d.Crashpad
			want := uint64(0)
			if mask != "" {
				want = 0xff << 56
			}
			eq(t, fmt.Sprintf("%d %X %s %#x", c.Version, c.ReportID.Bytes(), c.Annotations, c.AddressMask), fmt.Sprintf("1 11223344556677880102030405060708 [{ver 1.0}] %#x", want))
			m := c.Modules[0]
			eq(t, fmt.Sprintf("%d %d %s %s %s", m.Module, m.Version, m.List, m.Simple, m.Objects[0].Value), "5 1 [ver 1.0] [{ver 1.0}] 1.0")
			eq(t, []any{m.Objects[0].Type, m.Objects[1].Type, m.Objects[1].Value == nil}, []any{mdmp.AnnotationString, 0x8001, true})
		})
	}
}

func TestLinux(t *testing.T) {
	decoded(t, `stream LinuxProcStatus bytes "Name:\tsh\nPid:\t7\nnothing\n"
stream LinuxLsbRelease bytes "DISTRIB_ID = \"Debian\"\nX="
stream LinuxCpuInfo bytes "c" stream LinuxCmdLine bytes "sh\x00" stream LinuxEnviron bytes "A=b\x00"
stream MozLinuxLimits bytes "l" stream MozSoftErrors bytes "[]"
stream LinuxAuxv u64 6 4096 33 0x7fff00000000 0 0 9 9
stream LinuxMaps bytes "1000-2000 r-xp 00000010 08:01 5 /a b\n\n2000-3000 rw-s 0 0:0 0\nffffffffff600000-ffffffffff601000 r-xp 0 00:00 0   [vsyscall]"`, func(t *testing.T, d *mdmp.Dump) {
		eq(t, fmt.Sprintf("%s%s%s%s%s", d.File(mdmp.LinuxCPUInfoStream), d.File(mdmp.LinuxCmdLineStream), d.File(mdmp.LinuxEnvironStream), d.File(mdmp.LinuxLimitsStream), d.File(mdmp.SoftErrorsStream)), "csh\x00A=b\x00l[]")
		var fields []string
		for k, v := range mdmp.Fields(d.File(mdmp.LinuxProcStatusStream), ':') {
			fields = append(fields, k+"|"+v)
		}
		for k, v := range mdmp.Fields(d.File(mdmp.LinuxLsbReleaseStream), '=') {
			fields = append(fields, k+"|"+v)
		}
		for range mdmp.Fields(d.File(mdmp.LinuxProcStatusStream), ':') {
			break
		}
		eq(t, fields, "[Name|sh Pid|7 DISTRIB_ID|Debian X|]")
		var aux []uint64
		for k, v := range d.AuxV() {
			aux = append(aux, k, v)
		}
		for range d.AuxV() {
			break
		}
		eq(t, aux, []uint64{6, 4096, 33, 0x7fff00000000})
		eq(t, fmt.Sprintf("%+v", d.Maps[0]), "{Begin:4096 End:8192 Read:true Write:false Execute:true Private:true Offset:16 Major:8 Minor:1 Inode:5 Path:[47 97 32 98]}")
		eq(t, fmt.Sprintf("%v %s", d.Maps[1], d.Maps[2].Path), "{8192 12288 true true false false 0 0 0 0 []} [vsyscall]")
	})
	decoded(t, synth.System(mdmp.CPUX86, mdmp.OSLinux)+"stream ThreadList u32 0 stream LinuxAuxv u32 6 4096 9", func(t *testing.T, d *mdmp.Dump) {
		for k, v := range d.AuxV() {
			eq(t, []uint64{k, v}, []uint64{6, 4096})
		}
	})
}

func TestMac(t *testing.T) {
	decoded(t, `stream MozMacosCrashInfo u32 0 3 48 loc a b c
block a u64 0 5 1 2 3 zero 8 bytes "/m\x00msg\x00sig\x00bt\x00msg2\x00"
block b u64 0 4 1 2 zero 16 bytes "\x00\x00\x00\x00\x00" block c u64 0 1
stream MozMacosBootargs u32 0 rva64 s block s str "-v"`, func(t *testing.T, d *mdmp.Dump) {
		m := d.MacCrashInfo[0]
		eq(t, fmt.Sprintf("%d %d %d %d %s %s %s %s %s", m.Version, m.Thread, m.DialogMode, m.AbortCause, m.ModulePath, m.Message, m.Signature, m.Backtrace, m.Message2), "5 1 2 3 /m msg sig bt msg2")
		eq(t, []any{d.MacCrashInfo[1].Thread, d.MacCrashInfo[2].Version, d.MacBootArgs}, []any{1, 1, "-v"})
	})
}
