//go:build oracle

package symaddr

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"symkit/test/programtest"
	"symkit/test/testfile"
)

// gimli returns the path of gimli's addr2line.
func gimli(t *testing.T) string {
	t.Helper()
	return programtest.Peer(t, "gimli-addr2line")
}

// TestOracleGimli is TestOracleGNU for gimli's addr2line.
func TestOracleGimli(t *testing.T) {
	theirs, ours, kinds := gimli(t), filepath.Join(links(t), "addr2line"), map[string]int{}
	for _, m := range slices.Concat(fixtures(t), built(t), small(t)) {
		t.Run(m.name, func(t *testing.T) {
			other := twin(t, &m)
			if other != "" {
				m.theirs = other
			}
			c := &gnuComparison{t: t, ours: ours, theirs: theirs, m: m, kinds: kinds}
			c.run()
		})
	}
	testfile.Documented(t, document, "gimli", slices.Collect(maps.Keys(kinds)))
}

// TestCorpusGimli is TestCorpusGNU for gimli's addr2line.
func TestCorpusGimli(t *testing.T) { compareLarge(t, "gimli", gimli(t), count(t, 20_000)) }
