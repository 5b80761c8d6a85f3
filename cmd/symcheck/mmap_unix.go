//go:build unix

package main

import (
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a regular file. Empty ones cannot be mapped, and are read.
func mapFile(f *os.File, info fs.FileInfo) ([]byte, bool) {
	n := info.Size()
	if !info.Mode().IsRegular() || n == 0 || n > math.MaxInt {
		return nil, false
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(n), unix.PROT_READ, unix.MAP_PRIVATE)
	return data, err == nil
}

func (d *symData) close() {
	if d.mapped {
		_ = unix.Munmap(d.bytes) // nothing can be done about it
	}
}
