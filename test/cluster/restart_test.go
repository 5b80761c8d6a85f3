package cluster

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRestart: a run over packages that is killed and started again, 20 times in each of 20 rounds, has more in
// its store at the end of each half of a round, until it has everything.
func TestRestart(t *testing.T) {
	list := packages(t, 300)[:120]
	work := t.TempDir()
	began := time.Now()
	if out, err := dump(t, os.Environ(), append([]string{"-s", filepath.Join(work, "whole")}, list...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took, all := time.Since(began), len(tree(t, filepath.Join(work, "whole")))

	for round := range 20 {
		store, done := filepath.Join(work, "store"), filepath.Join(work, "done")
		args := append([]string{"-s", store, "--done", done}, list...)
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(done) // of the round before
		var counts []int
		for range 20 {
			cmd := exec.Command(filepath.Join(programs(t), "dump_syms"), args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(took/10 + rand.N(took*6/10)) // a large source may take a third of the time
			_ = cmd.Process.Kill()                  // it may have ended
			_ = cmd.Wait()
			stored, err := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, len(stored))
		}
		if counts[19] > all {
			t.Errorf("round %d: %d modules, more than there are", round, counts[19]) // of a debug file without its program
		}
		t.Logf("round %d, %v for all: %d of %d", round, took.Round(time.Second), counts, all)
		for i, half := range []int{counts[9], counts[19]} {
			before := 0
			if i > 0 {
				before = counts[9]
			}
			if half <= before && half < all {
				t.Errorf("round %d: %d of %d modules after %d kills, %d before", round, half, all, 10*(i+1), before)
			}
		}
	}
	for name := range tree(t, filepath.Join(work, "store")) {
		if strings.HasSuffix(name, ".tmp") {
			t.Error(name)
		}
	}
}
