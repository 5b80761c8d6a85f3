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

// maxFailed is how many failures a Finder keeps in memory. Tests change it.
var maxFailed = 4096

// spill holds failures in a file: the name and the text of each, which end in NUL.
type spill struct {
	file *os.File
	w    *bufio.Writer
	n    int
}

// failed keeps a failure.
func (f *Finder) failed(x Failure) {
	if len(f.Failed) >= maxFailed && f.spilled == nil {
		f.spilled = newSpill() // nil if there is no place for it
	}
	if f.spilled == nil || strings.Contains(x.Name, "\x00") || !f.spilled.add(x) {
		f.Failed = append(f.Failed, x)
	}
}

func newSpill() *spill {
	file, err := os.CreateTemp("", "dump_syms-*.failed")
	if err != nil {
		return nil
	}
	_ = os.Remove(file.Name()) // Windows removes no open file: Failures does
	return &spill{file: file, w: bufio.NewWriter(file)}
}

// add reports whether it has written the failure.
func (s *spill) add(x Failure) bool {
	_, err := s.w.WriteString(x.Name + "\x00" + strings.ReplaceAll(x.Err.Error(), "\x00", "") + "\x00")
	if err == nil {
		s.n++
	}
	return err == nil
}

// CountFailed returns the number of files that could not be read.
func (f *Finder) CountFailed() int {
	n := len(f.Failed)
	if f.spilled != nil {
		n += f.spilled.n
	}
	return n
}

// failures yields the files that could not be read, and forgets them. Of the files that are not in Failed, the
// error has the text alone. The last error is that of the temporary file.
func (f *Finder) failures() iter.Seq2[Failure, error] {
	return func(yield func(Failure, error) bool) {
		list, s := f.Failed, f.spilled
		f.Failed, f.spilled = nil, nil
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
				yield(Failure{}, err)
				return
			}
			if !yield(Failure{strings.TrimSuffix(name, "\x00"), errors.New(strings.TrimSuffix(text, "\x00"))}, nil) {
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
