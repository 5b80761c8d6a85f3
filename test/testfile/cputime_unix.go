//go:build unix

package testfile

import (
	"syscall"
	"time"
)

// CPUTime returns the time of processors that this process has used.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // no argument of it can be wrong
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
