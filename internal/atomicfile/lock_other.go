//go:build !unix || solaris || aix

package atomicfile

import (
	"os"
	"time"
)

// hold does nothing: the system has no locks that end with the process.
func hold(*os.File) {}

// abandoned reports whether the last write to f is so long ago that no process can still be
// writing f.
func abandoned(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > 24*time.Hour
}

// keepLock does nothing: the lock ends when f is closed, and an open file cannot be renamed.
func keepLock(*os.File) (unlock func()) { return func() {} }
