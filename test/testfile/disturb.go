package testfile

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Disturbances are changes to a file while a program reads it.
var Disturbances = []struct {
	Name string
	Do   func(path string, data []byte) error
}{
	{"truncated to nothing", func(path string, _ []byte) error { return os.Truncate(path, 0) }},
	{"truncated to half", func(path string, data []byte) error { return os.Truncate(path, int64(len(data)/2)) }},
	{"overwritten with ff", func(path string, data []byte) error { return overwrite(path, bytes.Repeat([]byte{0xff}, len(data))) }},
	{"overwritten by halves of itself", func(path string, data []byte) error {
		return overwrite(path, append(bytes.Clone(data[len(data)/2:]), data[:len(data)/2]...))
	}},
}

// overwrite writes into an existing file, which keeps its inode.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return cmp.Or(err, f.Close())
}

// rounds is how often Disturbed begins again if no run met a change: on a machine with other
// work, all changes of a round may come too late.
const rounds = 20

// Disturbed calls run once with the file at path as it is. Then, for each of the
// Disturbances, it calls run n times, and disturbs the file at a random moment of the run:
// within the time that the undisturbed run took. It restores the file before each run. run
// reports whether it met the change. If no run did, Disturbed begins again, and fails after
// a bounded number of rounds.
func Disturbed(path string, n int, run func(disturbance string) (met bool)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}

	for range rounds {
		met, err := disturbed(path, data, n, run)
		if err != nil {
			return err
		}

		// The caller gets the file back as it was.
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return err
		}
		if met {
			return nil
		}
	}
	return fmt.Errorf("no run met the change of %s, in %d rounds", path, rounds)
}

// disturbed is one round of Disturbed.
func disturbed(path string, data []byte, n int, run func(disturbance string) (met bool)) (met bool, err error) {
	// The undisturbed run shows how long a run takes.
	start := time.Now()
	run("")
	took := time.Since(start)
	for _, d := range Disturbances {
		for range n {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				return false, err
			}
			// The time of the last change distinguishes versions; some file systems have few of them
			// in a second.
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, past, past); err != nil {
				return false, err
			}

			// The change comes while run is at work.
			var failed error
			var done sync.WaitGroup
			done.Go(func() {
				time.Sleep(rand.N(took))
				failed = d.Do(path, data)
			})
			if run(d.Name) {
				met = true
			}
			done.Wait()
			if failed != nil {
				return false, failed
			}
		}
	}
	return met, nil
}
