//go:build !unix

package main

import (
	"io/fs"
	"os"
)

// mapFile is for systems with mmap.
func mapFile(*os.File, fs.FileInfo) ([]byte, bool) { return nil, false }

func (d *symData) close() {}
