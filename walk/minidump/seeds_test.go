package minidump

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"symkit/walk/internal/mdmp"
	"symkit/walk/internal/mdmp/synth"
)

var update = flag.Bool("update", false, "rewrite the dumps that make soak damages")

// stackWalk is a thread with a context and a stack, the exception in it, a
// module, and memory.
const stackWalk = `stream ThreadList u32 1 7 0 0 0 u64 0 0x7fff0000 loc stack loc ctx
stream Exception u32 7 0 11 1 u64 0 0x45 u32 0 0 zero 120 loc ctx
stream ModuleList u32 1 u64 0x400000 u32 0x2000 0 0 rva name zero 52 loc cv u32 0 0 zero 16
stream UnloadedModuleList u32 12 24 1 u64 0x500000 u32 0x1000 0 0 rva name
stream MemoryList u32 1 u64 0x7fff0000 loc stack
stream MemoryInfoList u32 16 48 u64 1 0x400000 0x400000 u32 0x20 0 u64 0x2000 u32 0x1000 0x20 0x20000 0
stream ThreadNames u32 1 7 rva64 name
stream LinuxMaps bytes "400000-402000 r-xp 00000000 08:01 7 /lib/a.so\n7fff0000-7fff0100 rw-p 00000000 00:00 0 [stack]\n"
stream LinuxCpuInfo bytes "processor\t: 0\n"
stream LinuxLsbRelease bytes "DISTRIB_ID=Debian\n"
block name str "/lib/a.so"
block cv u32 0x4270454c bytes "0123456789abcdef0123"
block stack u64 0x7fff0020 0x400100 0x7fff0030 0x400200 0x7fff0040 0x400300 0 0 zero 192
block ctx `

// TestSoakSeeds: dumps of machines and of a byte order that no collection of
// dumps has, for the soak.
func TestSoakSeeds(t *testing.T) {
	for _, c := range []struct {
		name    string
		big     bool
		cpu     mdmp.CPU
		context string
	}{
		{"mips-big-endian.dmp", true, mdmp.CPUMIPS, "u32 0x4000f 0 u64" + synth.Sequence(0x400000, 29) + " 0x7fff0000 0x7fff0020 0x400100 1 2 zero 32 u64 0x400080 0 zero 272"},
		{"ppc64-big-endian.dmp", true, mdmp.CPUPPC64, "u64 0x1000001 0x400080 0 1 0x7fff0000" + synth.Sequence(0x400000, 30) + synth.Sequence(0x400000, 4) + " zero 848"},
		{"arm64.dmp", false, mdmp.CPUARM64, "u32 0x400007 0 u64" + synth.Sequence(0x400000, 29) + " 0x7fff0000 0x400100 0x7fff0000 0x400080 zero 640"},
		{"arm.dmp", false, mdmp.CPUARM, "u32 0x40000006" + synth.Sequence(0x400000, 13) + " 0x7fff0000 0x400100 0x400080 7 zero 296"},
	} {
		data := synth.Assemble(t, c.big, synth.System(c.cpu, mdmp.OSLinux)+stackWalk+c.context).Data
		d, err := New(data)
		if err != nil || d.file.Lost != 0 {
			t.Fatalf("%s: %v, %v", c.name, err, d)
		}
		p := d.Process()
		eq(t, fmt.Sprint(c.name, d.file.BigEndian, len(p.Threads), p.Crashed, len(d.file.Modules), len(d.file.UnloadedModules)), fmt.Sprint(c.name, c.big, 1, 0, 1, 1))
		path := filepath.Join("../../test/soak/testdata", c.name)
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
