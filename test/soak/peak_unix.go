//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the largest resident size, in bytes, that a process had.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := int64(usage.Maxrss)
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" { // getrusage(2) there counts bytes
		return peak
	}
	return peak << 10
}
