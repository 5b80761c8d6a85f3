package testfile

import (
	"testing"
	"time"
)

// longest bounds the times that Patiently tries.
const longest = 20 * time.Second

// Patiently calls try with a time after which the code under test gives something up. On a
// busy machine that time can pass before anything happens, so Patiently doubles it until
// try is content, and reports the last complaint if try never is.
func Patiently(t *testing.T, first time.Duration, try func(timeout time.Duration) (complaint string)) {
	t.Helper()
	for timeout := first; ; timeout *= 2 {
		complaint := try(timeout)
		if complaint == "" {
			return
		}
		if timeout > longest {
			t.Error(complaint)
			return
		}
	}
}
