package download

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes of the volume that holds dir the user may still
// write, and how many the volume has.
func freeSpace(dir string) (free, size uint64, ok bool) {
	for {
		path, err := windows.UTF16PtrFromString(dir)
		if err != nil {
			return 0, 0, false
		}
		err = windows.GetDiskFreeSpaceEx(path, &free, &size, nil)
		if err == nil {
			return free, size, true
		}

		// A directory that has not been made yet will be on its parent's volume.
		parent := filepath.Dir(dir)
		if parent == dir {
			return 0, 0, false
		}
		dir = parent
	}
}
