package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long renameAt waits for programs that have a file open.
const patience = time.Second

// renameAt renames a file below root and replaces the file that has the new name. Windows
// denies that while another program has one of the files open. Programs that scan new files
// have them open for a moment, so renameAt tries again until patience ends.
func renameAt(root *os.Root, from, to string) error {
	began := time.Now()
	for pause := time.Millisecond; ; pause *= 2 {
		err := root.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		if time.Since(began) > patience {
			if e, ok := errors.AsType[*os.LinkError](err); ok {
				err = e.Err
			}
			return fmt.Errorf("%w; close the program that has the file open, or give another path", err)
		}
		time.Sleep(pause)
	}
}
