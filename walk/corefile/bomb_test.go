package corefile

import (
	"errors"
	"strings"
	"testing"

	"symkit/test/mutant"
)

// Parts of a core file that thousands of others refer to took minutes once.
func TestBombs(t *testing.T) {
	if _, err := New("bomb", mutant.Named("a core whose headers share notes"), Options{}); !errors.Is(err, errNoThreads) {
		t.Error(err)
	}
	c, err := New("bomb", mutant.Named("a core of files that share headers"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.tables <= maxTables || len(c.Process.Threads) != 1 {
		t.Errorf("%d headers read for %d threads", c.tables, len(c.Process.Threads))
	}
	c, err = New("bomb", mutant.Named("a core of threads that share a stack"), Options{})
	if err != nil || len(c.Process.Threads) != 10_000 {
		t.Error(err)
	}
	if warnings := strings.Join(c.Process.Warnings, "\n"); strings.Contains(warnings, "notes") {
		t.Error(warnings)
	}
}
