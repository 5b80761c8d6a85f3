//go:build !unix

package main

import "os"

// peakMemory returns 0, because the system does not report the peak.
func peakMemory(*os.ProcessState) int64 { return 0 }
