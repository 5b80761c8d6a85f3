package batch

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
)

// A list of --files-from may have millions of paths that do not exist. Their errors wait for the manifest,
// which is opened when all inputs are known, and most of them wait in a temporary file without a name.

// failure is a path that could not be read.
type failure struct {
	name string
	err  error // begins with the name
}

// maxFailed is how many failures are kept in memory. Tests change it.
var maxFailed = 4096

// spill holds failures in a file: the name and the text of each, which end in NUL.
type spill struct {
	file *os.File
	w    *bufio.Writer
	n    int
}

// failures are the files that could not be read.
type failures struct {
	list    []failure
	spilled *spill // further failures, or nil
}

// add keeps a failure.
func (f *failures) add(x failure) {
	if len(f.list) >= maxFailed && f.spilled == nil {
		f.spilled = newSpill() // nil if there is no place for it
	}
	if f.spilled == nil || strings.Contains(x.name, "\x00") || !f.spilled.add(x) {
		f.list = append(f.list, x)
	}
}

func newSpill() *spill {
	file, err := os.CreateTemp("", "dump_syms-*.failed")
	if err != nil {
		return nil
	}
	_ = os.Remove(file.Name()) // Windows removes no open file: failures does
	return &spill{file: file, w: bufio.NewWriter(file)}
}

// add reports whether it has written the failure.
func (s *spill) add(x failure) bool {
	_, err := s.w.WriteString(x.name + "\x00" + strings.ReplaceAll(x.err.Error(), "\x00", "") + "\x00")
	if err == nil {
		s.n++
	}
	return err == nil
}

// count returns the number of failures.
func (f *failures) count() int {
	n := len(f.list)
	if f.spilled != nil {
		n += f.spilled.n
	}
	return n
}

// take yields the failures and forgets them. Of those in the file, the error has the text alone. The last error is
// that of the temporary file.
func (f *failures) take() iter.Seq2[failure, error] {
	return func(yield func(failure, error) bool) {
		list, s := f.list, f.spilled
		*f = failures{}
		defer s.close()
		for _, x := range list {
			if !yield(x, nil) {
				return
			}
		}
		if s == nil {
			return
		}

		err := s.w.Flush()
		if err == nil {
			_, err = s.file.Seek(0, io.SeekStart)
		}
		r := bufio.NewReader(s.file)
		for range s.n {
			var name, text string
			if err == nil {
				name, err = r.ReadString(0)
			}
			if err == nil {
				text, err = r.ReadString(0)
			}
			if err != nil {
				yield(failure{}, err)
				return
			}
			if !yield(failure{strings.TrimSuffix(name, "\x00"), errors.New(strings.TrimSuffix(text, "\x00"))}, nil) {
				return
			}
		}
	}
}

// close removes the file.
func (s *spill) close() {
	if s != nil {
		_ = s.file.Close()           // it was read
		_ = os.Remove(s.file.Name()) // gone already, except on Windows
	}
}
