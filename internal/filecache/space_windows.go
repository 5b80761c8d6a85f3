package filecache

import "golang.org/x/sys/windows"

// statfs returns how many bytes of the volume that holds dir the user may still write, and how many the volume has.
func statfs(dir string) (free, size uint64, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(path, &free, &size, nil)
	}
	return free, size, err
}
