//go:build !unix

package testfile

import "os"

// PeakMemory returns 0, because the system does not report the peak.
func PeakMemory(*os.ProcessState) int64 { return 0 }
