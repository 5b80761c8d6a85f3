//go:build oracle

package dump_test

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symkit/dump"
	"symkit/elfx"
)

// BenchmarkCorpus dumps the large files that scripts/bench.sh times. scripts/pgo.sh
// makes its profile the one that dump_syms is built with.
func BenchmarkCorpus(b *testing.B) {
	for _, file := range []struct{ name, paths string }{
		{"python3.11d", "python3.11-dbg/usr/bin/python3.11d"},
		{"vmlinux", "linux-image-*-dbg/usr/lib/debug/boot/vmlinux-*"},
		{"libjvm", "openjdk-17-dbg/usr/lib/debug/.build-id/*/*.debug"},
		{"ceph-osd", "ceph-osd-dbg/usr/lib/debug/.build-id/*/*.debug"},
	} {
		path := largest(b, filepath.Join(os.Getenv("SYMKIT_CORPUS"), file.paths))
		for name, inlines := range map[string]bool{"plain": false, "inlines": true} {
			b.Run(file.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					dumpOnce(b, path, dump.Options{Name: file.name, Inlines: inlines})
				}
			})
		}
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

// dumpOnce opens a file and writes its symbols.
func dumpOnce(b *testing.B, path string, opt dump.Options) {
	f, err := elfx.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.SetBytes(int64(f.Size()))
	m, err := dump.Dump(b.Context(), &elfx.Image{Main: f}, opt)
	if err == nil {
		err = m.Write(io.Discard)
	}
	if err != nil {
		b.Fatal(err)
	}
}
