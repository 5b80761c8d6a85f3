package atomicfile

import (
	"io"
	"os"
	"sync"
	"testing"
)

// TestEmptied: a file is published although another process keeps removing its empty directory.
func TestEmptied(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	end := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				_ = root.Remove("a/b")
				_ = root.Remove("a")
			}
		}
	})
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	}
	for range 300 {
		made, err := Publish(root, []string{"a/b/c"}, false, write)
		if err == nil {
			err = root.Remove("a/b/c")
		}
		if err != nil || !made {
			t.Error(made, err)
		}
		err = publishNamed(root, "a/b/c", true, write)
		if err == nil {
			err = root.Remove("a/b/c")
		}
		if err != nil {
			t.Error(err)
		}
	}
	close(end)
	other.Wait()
}
