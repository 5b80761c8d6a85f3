//go:build !linux

package mem

// populate has no way to do so.
func populate([]byte) {}
