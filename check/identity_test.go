package check

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx"
	"symkit/test/mutant"
)

// TestCompressedTables checks a file of 50 kB in which a section that a library reads unasked
// claims a gigabyte. Reading the file must not inflate that section: debug/elf, which was used for
// the build id, took 2.7 GB.
func TestCompressedTables(t *testing.T) {
	const most = 32 << 20
	sym := []byte("MODULE Linux x86_64 626D6F626F62626D00000000000000000 f\nINFO CODE_ID 626F6D62626F6D62\nFUNC 1000 10 0 f\n")
	made := 0
	for _, bomb := range mutant.All["elf"] {
		name, how, ok := strings.Cut(bomb.Name, " of a gigabyte, compressed by ")
		if !ok || how != "zstd" && name != ".shstrtab" {
			continue
		}
		made++
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, bomb.Make(), 0o666); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := elfx.Open(path)
		if err != nil {
			t.Errorf("%s: %v", bomb.Name, err)
			continue
		}
		rep := mustCheck(t, &elfx.Image{Main: f}, sym, Options{})
		runtime.ReadMemStats(&after)
		f.Close()
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d bytes allocated", bomb.Name, n)
		}
		if k := checkNamed(rep, checks.Module); name != ".note.gnu.build-id" && (k.Compared != 5 || k.Wrong > 0 || k.Missing > 0 || k.Unverified > 0) {
			t.Errorf("%s: %+v", bomb.Name, rep.Findings)
		}
	}
	if made < 30 {
		t.Errorf("%d bombs", made)
	}
}

// checkNamed is the result of one check.
func checkNamed(r *report.Report, name string) report.Check {
	for _, k := range r.Checks {
		if k.Name == name {
			return k
		}
	}
	return report.Check{}
}
