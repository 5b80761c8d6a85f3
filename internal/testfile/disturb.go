package testfile

import (
	"bytes"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Disturbances are what may happen to a file while a program reads it.
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

// overwrite writes into a file that stays what it is.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Disturbed calls run once with the file at path as it is, then n times for each
// of the Disturbances, which happens at a random moment of the run: within the
// time that the first one took. What is done to the file is undone before the
// next.
func Disturbed(path string, n int, run func(disturbance string)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	start := time.Now()
	run("")
	took := time.Since(start)
	for _, d := range Disturbances {
		for range n {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				return err
			}
			// The time of the last change tells versions apart; some file systems
			// have few of them in a second.
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, past, past); err != nil {
				return err
			}
			var failed error
			var done sync.WaitGroup
			done.Go(func() {
				time.Sleep(rand.N(took))
				failed = d.Do(path, data)
			})
			run(d.Name)
			if done.Wait(); failed != nil {
				return failed
			}
		}
	}
	return os.WriteFile(path, data, 0o666)
}
