package testfile

import (
	"os"
	"testing"
)

// Unwritable returns files that nothing can be written to, with the errors of a write: a
// full device, and a pipe without a reader. It needs Linux.
func Unwritable(t *testing.T) map[*os.File]string {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}

	// Without a reader, a write to the pipe fails.
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}

	r.Close()
	t.Cleanup(func() {
		full.Close()
		pipe.Close()
	})
	return map[*os.File]string{full: "no space left on device", pipe: "broken pipe"}
}
