//go:build !unix

package testfile

import "time"

var start = time.Now()

// CPUTime returns the time since the start of this process: an upper bound on one processor.
func CPUTime() time.Duration { return time.Since(start) }
