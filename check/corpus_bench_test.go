//go:build oracle

package check

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symkit/elfx"
)

// BenchmarkCorpus checks the symbol files of the large files that scripts/bench.sh times.
// scripts/pgo.sh makes its profile the one that symcheck is built with, and a part of dump_syms'.
func BenchmarkCorpus(b *testing.B) {
	for _, file := range []struct{ name, paths string }{
		{"python3.11d", "python3.11-dbg/usr/bin/python3.11d"},
		{"vmlinux", "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*"},
		{"libjvm", "openjdk-17-dbg/usr/lib/debug/.build-id/*/*.debug"},
		{"ceph-osd", "ceph-osd-dbg/usr/lib/debug/.build-id/*/*.debug"},
	} {
		b.Run(file.name, func(b *testing.B) {
			path := largest(b, filepath.Join(os.Getenv("SYMKIT_CORPUS"), file.paths))
			f, err := elfx.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			sym := dumped(b, "--inlines", path)
			b.SetBytes(int64(len(sym)))
			for b.Loop() {
				rep, err := Replay(b.Context(), &elfx.Image{Main: f}, sym, Options{})
				if err != nil || rep.Total() > 0 {
					b.Fatal(rep, err)
				}
			}
		})
	}
}

// largest is the largest of the files that match a pattern.
func largest(b *testing.B, pattern string) string {
	paths, err := filepath.Glob(pattern)
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
