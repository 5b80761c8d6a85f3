//go:build !windows

package atomicfile

import "os"

// renameAt renames a file below root and replaces the file that has the new name.
func renameAt(root *os.Root, from, to string) error { return root.Rename(from, to) }
