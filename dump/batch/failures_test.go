package batch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailures: of many paths that do not exist most wait in a file. All have their errors, in order.
func TestFailures(t *testing.T) {
	defer func(n int) { maxFailed = n }(maxFailed)
	dir := t.TempDir()
	for _, most := range []int{0, 3, 100} {
		maxFailed = most
		for _, place := range []string{dir, filepath.Join(dir, "none")} { // for temporary files
			t.Setenv("TMPDIR", place)
			t.Setenv("TMP", place)
			f := &Finder{}
			var want []string
			for i := range 10 {
				name := filepath.Join(dir, fmt.Sprintf("no\n\xff%d", i))
				want = append(want, name)
				if err := f.Add(context.Background(), name); err != nil {
					t.Fatal(err)
				}
			}
			if place == dir && len(f.failures.list) > max(most, 0) && most < 10 || f.failures.count() != 10 {
				t.Errorf("%d in memory, %d in all, of at most %d", len(f.failures.list), f.failures.count(), most)
			}

			var got []string
			for x, err := range f.failures.take() {
				if err != nil || x.err.Error() != x.name+": no such file or directory" && !strings.HasPrefix(x.err.Error(), x.name+": ") {
					t.Errorf("%v, %v", x, err)
				}
				got = append(got, x.name)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || f.failures.count() != 0 {
				t.Errorf("%q", got)
			}
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
