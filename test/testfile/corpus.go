package testfile

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// LargeFiles are the large files of the corpus that scripts/bench.sh times and profiles are made of.
// Paths is a pattern below the corpus.
var LargeFiles = []struct{ Name, Paths string }{
	{"python3.11d", "python3.11-dbg/usr/bin/python3.11d"},
	{"vmlinux", "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*"},
	{"libjvm", "openjdk-17-dbg/usr/lib/debug/.build-id/*/*.debug"},
	{"ceph-osd", "ceph-osd-dbg/usr/lib/debug/.build-id/*/*.debug"},
}

// Largest returns the largest of the files of the corpus that match a pattern.
func Largest(b *testing.B, pattern string) string {
	b.Helper()
	paths, err := filepath.Glob(filepath.Join(os.Getenv("SYMKIT_CORPUS"), pattern))
	if err != nil || len(paths) == 0 {
		b.Fatalf("no %s (%v): run scripts/corpus.sh, and set SYMKIT_CORPUS", pattern, err)
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		return info.Size()
	}
	return slices.MaxFunc(paths, func(x, y string) int { return cmp.Compare(size(x), size(y)) })
}
