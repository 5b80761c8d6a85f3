//go:build unix

package testfile

import (
	"os"
	"runtime"
	"syscall"
)

// PeakMemory returns the largest resident size, in bytes, that a process had.
func PeakMemory(p *os.ProcessState) int64 {
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
