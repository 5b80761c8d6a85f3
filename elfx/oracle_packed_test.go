//go:build oracle

package elfx

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"symkit/test/elftest"
)

// TestOracleXZ decompresses what the xz program writes with each of its options.
func TestOracleXZ(t *testing.T) {
	path := filepath.Join(fixtureDir, "cxx-x86_64-gcc12-O2-dw5.elf")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-0"}, {"-9e"}, {"--block-size=4096"}, {"-T2", "--block-size=5000"}, {"--check=sha256"}, {"--check=crc32"}, {"--check=none"},
		{"--lzma2=dict=1536MiB,mode=fast,mf=hc3"}, {"--lzma2=preset=6,lc=0,lp=4,pb=0"}} {
		packed := []byte(run(t, "xz", append(args, "-c", path)...))
		if got, err := unpack(packed); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%q: %d bytes, %v", args, len(got), err)
		}
	}
	_, err = unpack([]byte(run(t, "xz", "--x86", "--lzma2", "-c", path)))
	elftest.WantError(t, err, ErrXZ, ".x", xzEnds)
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
		mini, err := openFile(t, at("stripped.so")).DebugData()
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
