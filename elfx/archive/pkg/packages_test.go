//go:build unix

package pkg

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// BenchmarkPackages reads all ELF files of the packages in the directory SYMKIT_PACKAGES, and reports the user
// time: what decompression costs a run of dump_syms on these packages. scripts/cluster-packages.sh fetches some.
func BenchmarkPackages(b *testing.B) {
	paths, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_PACKAGES"), "*.deb"))
	if err != nil || len(paths) == 0 {
		b.Skipf("SYMKIT_PACKAGES=%s: no packages (%v)", os.Getenv("SYMKIT_PACKAGES"), err)
	}
	var before, after syscall.Rusage
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	if err != nil {
		b.Fatal(err)
	}
	var size int64
	for b.Loop() {
		size = 0
		for _, path := range paths {
			size += readAll(b, path)
		}
	}
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano())/1e9/float64(b.N), "user-s/op")
}

// readAll reads the ELF files of a package and returns their size.
func readAll(b *testing.B, path string) (size int64) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	err = Walk(f, info.Size(), Visitor{File: func(_ Member, r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		size += n
		return err
	}})
	if err != nil {
		b.Fatalf("%s: %v", path, err)
	}
	return size
}
