//go:build !linux

package filecache

import "os"

// inMemory returns the reason: only Linux has files in memory.
func inMemory(reason error) (*os.File, error) { return nil, reason }
