//go:build !race

package testfile

// Race: the race detector is off.
const Race = false
