package download

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Unnamed returns an open file that has no name: in the directory for temporary files or, where there
// can be none, in memory. The file is there until it is closed or the process ends.
func Unnamed() (file *os.File, memory bool, err error) {
	file, err = os.CreateTemp("", "symkit-*")
	if err != nil {
		file, memoryErr := inMemory()
		if memoryErr != nil {
			return nil, false, errors.Join(err, memoryErr)
		}
		return file, true, nil
	}
	err = os.Remove(file.Name())
	if err != nil { // a system that does not remove open files
		file.Close()
		os.Remove(file.Name())
		return nil, false, err
	}
	return file, false, nil
}

// PathOf returns a path by which this process can open an unnamed file.
func PathOf(file *os.File) string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	}
	return fmt.Sprintf("/dev/fd/%d", file.Fd())
}
