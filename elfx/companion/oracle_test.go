//go:build oracle

package companion

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"symkit/elfx"
)

// TestOracleCorpusPairs joins a stripped library with its debug file.
func TestOracleCorpusPairs(t *testing.T) {
	root := os.Getenv("SYMKIT_CORPUS")
	pairs := 0
	for _, names := range [][2]string{{"libc6", "libc6-dbg"}, {"valgrind", "valgrind-dbg"}} {
		dir := filepath.Join(root, names[1], "usr", "lib", "debug")
		filepath.WalkDir(filepath.Join(root, names[0]), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := elfx.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			debug, probes := (&Search{DebugDirs: []string{dir}}).FindDebug(t.Context(), f)
			if debug == nil {
				for _, p := range probes {
					if p.Rejected() {
						t.Errorf("%s: rejected %s: %v", path, p.Path, p.Err)
					}
				}
				return nil
			}
			defer debug.Close()
			if m, err := elfx.Join(debug, f); err != nil || m.Main != f {
				t.Errorf("%s: %v", path, err)
			}
			pairs++
			return nil
		})
	}
	if pairs == 0 {
		t.Error("no pair found")
	}
	t.Logf("%d pairs", pairs)
}
