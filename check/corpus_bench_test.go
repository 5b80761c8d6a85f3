//go:build oracle

package check

import (
	"testing"

	"symkit/elfx"
	"symkit/test/testfile"
)

// BenchmarkCorpus checks the symbol files of the large files that scripts/bench.sh times.
// scripts/pgo.sh makes its profile the one that symcheck is built with, and a part of dump_syms'.
func BenchmarkCorpus(b *testing.B) {
	for _, file := range testfile.LargeFiles {
		b.Run(file.Name, func(b *testing.B) {
			path := testfile.Largest(b, file.Paths)
			f, err := elfx.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			sym := dumped(b, "--inlines", path)
			b.SetBytes(int64(len(sym)))
			for b.Loop() {
				rep, err := File(b.Context(), &elfx.Image{Main: f}, sym, Options{})
				if err != nil || rep.Total() > 0 {
					b.Fatal(rep, err)
				}
			}
		})
	}
}
