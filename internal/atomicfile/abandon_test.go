package atomicfile

import (
	"errors"
	"io"
	"os"
	"testing"
)

// TestAbandon checks that files that are being written are gone after Abandon, that their
// writers fail, and that complete files stay.
func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	t.Cleanup(func() { unfinished.ended = false })
	err = publishNamed(root, "whole", false, func(io.Writer) error { return nil })
	if err != nil {
		t.Fatal(err)
	}

	// Two writers are in the middle of their files: one would succeed, one fail.
	begun, goOn, results := make(chan bool), make(chan bool), make(chan error)
	for name, fail := range map[string]error{"a": nil, "sub/b": errors.New("no space")} {
		go func() {
			results <- publishNamed(root, name, true, func(w io.Writer) error {
				_, err := io.WriteString(w, "half")
				begun <- true
				<-goOn
				return errors.Join(err, fail)
			})
		}()
		<-begun
	}
	Abandon()
	close(goOn)
	for range 2 {
		err := <-results
		if !errors.Is(err, ErrAbandoned) {
			t.Errorf("a file that was abandoned: %v", err)
		}
	}

	err = publishNamed(root, "late", false, func(io.Writer) error { return nil })
	if !errors.Is(err, ErrAbandoned) {
		t.Errorf("a file that is begun after Abandon: %v", err)
	}
	for path, want := range map[string]int{".": 2, "sub": 0} {
		entries, err := os.ReadDir(dir + "/" + path)
		if err != nil || len(entries) != want {
			t.Errorf("%s has %v, %v", path, entries, err)
		}
	}
}
