//go:build oracle

package dump_test

import (
	"io"
	"testing"

	"symkit/dump"
	"symkit/elfx"
	"symkit/test/testfile"
)

// BenchmarkCorpus dumps the large files that scripts/bench.sh times. scripts/pgo.sh
// makes its profile the one that dump_syms is built with.
func BenchmarkCorpus(b *testing.B) {
	for _, file := range testfile.LargeFiles {
		path := testfile.Largest(b, file.Paths)
		for name, inlines := range map[string]bool{"plain": false, "inlines": true} {
			b.Run(file.Name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					dumpOnce(b, path, dump.Options{Name: file.Name, Inlines: inlines})
				}
			})
		}
	}
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
