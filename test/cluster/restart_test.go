package cluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestRestart: a run over packages that is killed and started again, 20 times in each of 20 rounds, has more in
// its store at the end of each half of a round, until it has everything. A run is killed once it has taken a tenth to
// seven tenths of the processor time of a whole one, so that other work on the machine does not matter.
func TestRestart(t *testing.T) {
	list := packages(t, 300)[:120]
	work := t.TempDir()
	whole := exec.Command(filepath.Join(programs(t), "dump_syms"), append([]string{"-s", filepath.Join(work, "whole")}, list...)...)
	out, err := whole.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := whole.ProcessState.UserTime() + whole.ProcessState.SystemTime()
	all := len(tree(t, filepath.Join(work, "whole")))

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
			killAfter(t, cmd, took/10+rand.N(took*6/10)) // a large source may take a third of the time
			stored, err := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, len(stored))
		}
		if counts[19] > all {
			t.Errorf("round %d: %d modules, more than there are", round, counts[19]) // of a debug file without its program
		}
		t.Logf("round %d, %v of processor time for all: %d of %d", round, took.Round(time.Second), counts, all)
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

// killAfter kills cmd, which has been started, once it has taken this much processor time, or waits until it has ended.
func killAfter(t *testing.T, cmd *exec.Cmd, limit time.Duration) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
		if processorTime(cmd.Process.Pid) >= limit {
			_ = cmd.Process.Kill()
			<-ended
			return
		}
	}
}

// processorTime returns the processor time of a process, by its fields utime and stime (proc_pid_stat(5)), which count
// hundredths of a second; 0 if it has ended.
func processorTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after) // from state, the third
	if len(fields) < 13 {
		return 0
	}
	var sum time.Duration
	for _, field := range fields[11:13] {
		ticks, _ := strconv.Atoi(field)
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}
