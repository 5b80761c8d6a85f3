//go:build !race

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"symkit/test/mutant"
	"symkit/test/programtest"
	"symkit/test/testfile"
)

// TestTenfoldBombs: what asks for as much as a file can does not take more than a minute of processor time, which
// is a hundred times what the slowest bomb takes. test/soak bounds its memory, too.
func TestTenfoldBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of one goroutine under the race detector")
	}
	done := map[string]bool{}
	for _, test := range tenfolds {
		if done[test.bomb] {
			continue
		}
		done[test.bomb] = true
		t.Run(test.bomb, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "bomb")
			programtest.Write(t, file, mutant.Named(test.bomb))
			ctx, stop := testfile.CPULimit(t.Context(), time.Minute)
			defer stop()
			var stdout, stderr bytes.Buffer
			run(ctx, []string{"--inlines", "--check", "-o", filepath.Join(dir, "bomb.sym"), file}, &stdout, &stderr)
			if ctx.Err() != nil {
				t.Errorf("%v: %.2000s", context.Cause(ctx), &stderr)
			}
		})
	}
}
