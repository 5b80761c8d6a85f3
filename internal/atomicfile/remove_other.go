//go:build !windows

package atomicfile

import "os"

// remove removes a file below root.
func remove(root *os.Root, name string) error { return root.Remove(name) }
