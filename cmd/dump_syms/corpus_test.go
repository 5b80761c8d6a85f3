//go:build oracle && linux

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"symkit/test/testfile"
)

// batchInputs are the large debug files of the corpus: ceph-osd, openjdk, libc,
// and all modules of a kernel.
func batchInputs(t *testing.T) []string {
	t.Helper()
	corpus := os.Getenv("SYMKIT_CORPUS")
	if corpus == "" {
		t.Fatal("SYMKIT_CORPUS is not set; see scripts/corpus.sh")
	}
	var dirs []string
	for _, pattern := range []string{"ceph-osd-dbg", "openjdk-17-dbg", "libc6-dbg", "linux-image-*-dbg/usr/lib/debug/lib/modules"} {
		found, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %d of them in the corpus, want 1 (%v)", pattern, len(found), err)
		}
		dirs = append(dirs, found[0])
	}
	return dirs
}

// measured is what a run took.
type measured struct {
	wall, cpu time.Duration
	peak      int64 // resident, bytes
}

func runBatch(t *testing.T, store string, args ...string) measured {
	t.Helper()
	if err := testfile.ForgetPeak(); err != nil { // other tests dump large files in this process
		t.Fatal(err)
	}
	cmd := exec.Command("dump_syms", append([]string{"-s", store, "-R"}, args...)...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%.2000s", args, err, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return measured{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), int64(usage.Maxrss) << 10}
}

// TestCorpusBatch dumps some 1,470 files in one batch: the store is the same
// for any number of processors, and memory stays within the budget.
func TestCorpusBatch(t *testing.T) {
	inputs := batchInputs(t)
	var table strings.Builder
	var want map[string]string
	for _, args := range []string{"-j 1", "-j 2", "-j 8", "-j 2 --memory 1G", "-j 8 --memory 1G", "-j 2 --inlines --memory 1200M"} {
		store := filepath.Join(t.TempDir(), "store")
		m := runBatch(t, store, append(strings.Fields(args), inputs...)...)
		sums := checksums(t, store)
		fmt.Fprintf(&table, "%-30s %4d files, %6.2f s, %6.2f s of CPU, %5d MiB\n", args, len(sums), m.wall.Seconds(), m.cpu.Seconds(), m.peak>>20)
		switch {
		case strings.Contains(args, "--inlines"):
		case want == nil:
			want = sums
		default:
			if diff := cmp.Diff(want, sums); diff != "" {
				t.Errorf("%s: another store than with -j 1:\n%s", args, diff)
			}
		}
		if len(sums) < 1400 {
			t.Errorf("%s: only %d symbol files", args, len(sums))
		}
		if _, size, ok := strings.Cut(args, "--memory "); ok {
			limit := map[string]int64{"1G": 1 << 30, "1200M": 1200 << 20}[size]
			if m.peak > limit {
				t.Errorf("%s: %d MiB resident", args, m.peak>>20)
			}
		}
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d processors\n%s", runtime.NumCPU(), &table)
}

// checksums returns the checksum of every file below dir.
func checksums(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		sums[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%x", sum.Sum(nil))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
