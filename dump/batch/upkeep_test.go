package batch_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"symkit/dump/batch"
	"symkit/dump/store"
)

// TestPrunedMeanwhile: a symbol file that was in the store, and that a prune removes before the ELF file is there, is
// written again.
func TestPrunedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	symbols, err := store.Open(dir, store.Options{Layout: store.Unified})
	if err != nil {
		t.Fatal(err)
	}
	defer symbols.Close()

	var removed []string
	status := func(opt batch.Options) batch.Status {
		var finder batch.Finder
		err := finder.Add(t.Context(), "../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
		if err != nil {
			t.Fatal(err)
		}
		var last batch.Status
		for result, err := range batch.Dump(t.Context(), &finder, symbols, opt) {
			if err != nil {
				t.Fatal(err)
			}
			last = result.Record.Status
		}
		return last
	}
	files := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if got := status(batch.Options{}); got != batch.Written || len(files()) != 1 {
		t.Fatalf("%s: %q", got, files())
	}
	prune := func(context.Context, func(io.Writer) error) error {
		if removed == nil {
			removed = files()
			return os.Remove(removed[0])
		}
		return nil
	}
	if got := status(batch.Options{ELF: true, Second: prune}); got != batch.Written || len(removed) != 1 || len(files()) != 2 {
		t.Errorf("%s: %q, after %q", got, files(), removed)
	}
}
