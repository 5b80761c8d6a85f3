//go:build oracle

package elfx

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"testing"

	"symkit/test/elftest"
)

// TestOracleXZ decompresses what the xz program writes with each of its options.
func TestOracleXZ(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mini")
	want := elftest.Plain(elf.ELFCLASS64, false).Build()
	elftest.Write(t, path, want)
	for _, args := range [][]string{{"-0"}, {"-9e"}, {"--block-size=4096"}, {"-T2", "--block-size=5000"}, {"--check=sha256"}, {"--check=crc32"}, {"--check=none"},
		{"--lzma2=dict=64MiB,mode=fast,mf=hc3"}, {"--lzma2=preset=6,lc=0,lp=4,pb=0"}, {"--x86", "--lzma2"}} {
		s := elftest.Plain(elf.ELFCLASS64, false)
		s.Sections = append(s.Sections, elftest.Sec{Name: debugDataName, Kind: elf.SHT_PROGBITS, Data: []byte(run(t, "xz", append(args, "-c", path)...))})
		mini, err := DebugData(mustFile(t, s.Build()))
		if err != nil || !bytes.Equal(mini.data, want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestOracleMiniDebugInfo packs the functions of each toolchain's library as
// Fedora does (GDB manual, "MiniDebugInfo").
func TestOracleMiniDebugInfo(t *testing.T) {
	for _, c := range compilers {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		elftest.Write(t, at("a.c"), []byte(oracleSource))
		run(t, c.prefix+"gcc", "-g", "-O1", "-fPIC", "-shared", "-Wl,--build-id", "-o", at("a.so"), at("a.c"))
		run(t, c.prefix+"objcopy", "--only-keep-debug", at("a.so"), at("a.debug"))
		run(t, c.prefix+"objcopy", "-S", "--remove-section=.gdb_index", "--remove-section=.comment", "--keep-symbol=visible", at("a.debug"), at("mini"))
		run(t, "xz", at("mini"))
		run(t, c.prefix+"objcopy", "--strip-all", "--add-section", ".gnu_debugdata="+at("mini.xz"), at("a.so"), at("stripped.so"))
		mini, err := DebugData(openFile(t, at("stripped.so")))
		if err != nil {
			t.Fatal(err)
		}
		defer mini.Close()
		table, err := mini.Symtab()
		if err != nil || table == nil {
			t.Fatalf("%s: %v, %v", c.arch, table, err)
		}
		if got := functions(table); got != "visible " {
			t.Errorf("%s: functions %q", c.arch, got)
		}
	}
}
