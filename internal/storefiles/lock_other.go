//go:build !unix || solaris || aix

package storefiles

import "os"

// lockFile does nothing: the system has no locks that end with the process.
func lockFile(*os.File) error { return nil }
