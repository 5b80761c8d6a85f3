package programtest

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"symkit/elfx"
)

// TombstoneFiles returns a directory of debug files, by build ids, with the programs that the tombstones below
// walk/tombstone/testdata have frames in. The test runs in a directory two below the module's.
func TombstoneFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"aarch64-gcc12-O2", "arm-gcc12-O2", "thumb-gcc12-O2", "x86_64-clang14-O2", "i686-gcc12-O2", "riscv64-gcc12-O2"} {
		path, err := filepath.Abs("../../testdata/elf/cxx-" + name + "-dw5.elf")
		if err != nil {
			t.Fatal(err)
		}
		f, err := elfx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		id := hex.EncodeToString(f.BuildID())
		f.Close()
		below := filepath.Join(dir, ".build-id", id[:2])
		err = errors.Join(os.MkdirAll(below, 0o777), os.Symlink(path, filepath.Join(below, id[2:])))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
