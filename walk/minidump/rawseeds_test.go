package minidump

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

// everyStream has a stream of every type that package rawdump writes, and modules, handles and
// annotations of every kind.
const everyStream = `stream 0x8003 u32 1
stream 0x12345678 u32 1
stream FunctionTable u32 1
stream ThreadList u32 2
	7 1 0x20 8 u64 0x7ffde000 0x7fff0000 loc stack loc ctx
	u32 8 0 0 0 u64 0 0x7fff1000 u32 0 0 0 0
stream ThreadNames u32 3 8 rva64 name u32 7 rva64 other u32 9 rva64 odd
stream ModuleList u32 6
	u64 0x400000 u32 0x2000 0xabc 0x45d35f73 rva name
	u32 0xfeef04bd 0x10000 0x50001 0xa280000 0x50002 0xa290000 0x3f 1 0x40004 2 7 3 4 loc pdb70 loc pdb20 zero 16
	u64 0x500000 u32 0x1000 0 0 rva other zero 52 loc pdb20 u32 0 0 zero 16
	u64 0x600000 u32 0x1000 0 0 rva name zero 52 loc elf u32 0 0 zero 16
	u64 0x700000 u32 0x1000 0 0 rva name zero 52 loc noid u32 0 0 zero 16
	u64 0x800000 u32 0x1000 0 0 rva name zero 52 loc strange u32 0 0 zero 16
	u64 0x900000 u32 0x1000 0 0x10 rva name zero 52 u32 0 0 0 0 zero 16
stream UnloadedModuleList u32 12 24 1 u64 0xa00000 u32 0x3000 5 0x45d35f73 rva other
stream MemoryList u32 2 u64 0x7fff0000 loc stack u64 0x9000 u32 100 0xfffffff0
stream Memory64List u64 2 rva64 stack u64 0x7fff1000 0x20 0x7fff2000 7
stream MemoryInfoList u32 16 48 u64 1 0x400000 0x3ff000 u32 0xffffffff 0 u64 0x2000 u32 0xffffffff 0x104 0xffffffff 0
stream HandleData u32 16 40 2 0
	u64 4 rva name other u32 1 0x1f0003 2 3 rva info u32 0
	u64 8 u32 0 0 0 0 0 0 0 0
stream MiscInfo u32 1364 0x3f7 42 0x45d35f73 1 2 3000 2000 2500 1 2 8192 0x4d 1 2
	u32 0xffffffc4 units 32 "CET" u16 0 10 0 5 3 0 0 0 u32 0 units 32 "CEST" u16 2026 2 0 30 2 0 0 0 u32 0xffffffc4
	units 260 "22621.1.amd64fre" units 40 "dbgcore"
	u32 0x2d8 1232 u64 0x4000000000000205 u32 0 512 512 64 576 256 3 4 zero 480 u32 5 6 zero 8 u32 0xc00c1e
stream Exception u32 7 0 0xc0000005 0 u64 0 0x401000 u32 2 0 u64 1 0x45 zero 104 loc ctx
stream AssertionInfo units 128 "x > 0" units 128 "f" units 128 "a.c" u32 12 1
stream BreakpadInfo u32 1 8 7
stream CrashpadInfo u32 1 0x11223344 u16 0x5566 0x7788 u8 1 2 3 4 5 6 7 8 u32 0 0 0 9 loc simple loc links
block simple u32 2 rva kb va ka vb
block links u32 1 2 loc link
block link u32 1 loc texts loc simple loc objects
block texts u32 2 rva va vb
block objects u32 4 rva ka u16 1 0 rva va rva kb u16 0 0 u32 0 rva va u16 0x8001 0 rva va rva vb u16 7 0 rva va
ka: utf8 "alpha"
kb: utf8 "beta"
va: utf8 "one"
vb: utf8 "two"
stream MozMacosCrashInfoStream u32 0x4d7a0001 2 40 loc mac1 loc mac2 zero 144
block mac1 u64 0x4d7a0001 5 9 0x1f 0xabc bytes "/usr/lib/a.dylib\x00abort() called\x00\x00trace\x00more\x00"
block mac2 u64 0x4d7a0001 5 0 0 0 bytes "\x00\x00\x00\x00\x00"
stream MozMacosBootargsStream u32 0x4d7a0002 rva64 other
stream StabilityReportStream bytes "\x12\x17\x18\x2a\x22\x09\x0a\x07\x08\x01\x10\x02\x18\xac\x02\x3a\x08\x0a\x02\x08\x05\x12\x02\x08\x09\x12\x02\x18\x2b\x50\x07\x3a\x06\x0a\x04\x08\x63\x18\x07"
stream LinuxCmdLine bytes "/bin/a\x00-v\x00"
stream LinuxEnviron bytes "A=1\x00"
stream LinuxMaps bytes "400000-402000 r-xp 00000000 08:01 7 /lib/a.so\n"
stream MozSoftErrors bytes "[\"lost\"]"
block name str "C:\\a.dll"
other: str "n\x00\u00fc\U0001f600"
odd: u32 3 u8 1 2 3
block info u32 0 6 16
block pdb70 u32 0x53445352 0x5a9832e5 u16 0x2872 0x41c1 u8 1 2 3 4 5 6 7 8 u32 10 bytes "c:\\a.pdb\x00"
block pdb20 u32 0x3031424e 0 0x45d35f73 2 bytes "b.pdb\x00"
block elf u32 0x4270454c bytes "0123456789abcdef0123"
block noid u32 0x4270454c 0 0 0 0
block strange bytes "?!?!"
block stack u64 0x7fff0020 0x400100 0x7fff0030 0x400200 bytes "text, \x7f\x80" u8 0
block ctx u32 0x1007f`

// TestRawDumpSeeds: the dumps that the tests of package rawdump show, of both byte orders and of
// all CPUs that they know.
func TestRawDumpSeeds(t *testing.T) {
	const oneThread = "stream ThreadList u32 1 7 0 0 0 u64 0 0 u32 0 0 loc ctx\nstream Exception u32 7 0 11 1 u64 0 0x45 u32 0 0 zero 120 u32 0 0\nblock ctx "
	for _, c := range []struct {
		name string
		big  bool
		text string
	}{
		{"windows-x86.dmp", false, synth.System(mdmp.CPUX86, mdmp.OSWinNT) + everyStream + " 1 2 3 4 5 6" + synth.Sequence(0x27f, 7) + " zero 80 u32 9 1 2 3 4" + synth.Sequence(0x400000, 12) + " zero 510 u8 1 2"},
		{"mac-big-endian.dmp", true, synth.System(mdmp.CPUX86, mdmp.OSMac) + everyStream + " 1 2 3 4 5 6" + synth.Sequence(0x27f, 7) + " zero 80 u32 9 1 2 3 4" + synth.Sequence(0x400000, 12) + " zero 510 u8 1 2"},
		{"arm.dmp", false, synth.System(mdmp.CPUARM, mdmp.OSAndroid) + oneThread + "u32 0x40000006" + synth.Sequence(0x400000, 17) + " u64" + synth.Sequence(0, 33) + " u32" + synth.Sequence(7, 8)},
		{"arm64.dmp", false, synth.System(mdmp.CPUARM64, mdmp.OSMac) + oneThread + "u32 0x400007 0x60000000 u64" + synth.Sequence(0x400000, 33) + synth.Sequence(1, 64) + " u32 0 0" + synth.Sequence(3, 8) + " u64" + synth.Sequence(4, 8) + " u32 1 2 u64 3 4"},
		{"arm64-big-endian.dmp", true, synth.System(mdmp.CPUARM64Old, mdmp.OSLinux) + oneThread + "u64 0x80000007" + synth.Sequence(0x400000, 33) + " u32 0x60000000 1 2 u64" + synth.Sequence(0, 64)},
		{"mips-big-endian.dmp", true, synth.System(mdmp.CPUMIPS, mdmp.OSLinux) + oneThread + "u32 0x4000f 0 u64" + synth.Sequence(0x400000, 32) + " zero 336"},
		{"ppc.dmp", false, synth.System(mdmp.CPUPPC, mdmp.OSMac) + oneThread + "u32 0x20000001" + synth.Sequence(0x400000, 38) + " zero 848"},
		{"ppc64-big-endian.dmp", true, synth.System(mdmp.CPUPPC64, mdmp.OSMac) + oneThread + "u64 0x1000001" + synth.Sequence(0x400000, 38) + " zero 848"},
		{"sparc-big-endian.dmp", true, synth.System(mdmp.CPUSPARC, mdmp.OSSolaris) + oneThread + "u32 0x10000001 0 u64" + synth.Sequence(0x400000, 38) + " zero 272"},
	} {
		data := synth.Assemble(t, c.big, c.text).Data
		if _, err := New(data); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		path := filepath.Join("..", "peers", "rawdump", "testdata", c.name)
		if *update {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %v, or it differs: go test -update", c.name, err)
		}
	}
}
