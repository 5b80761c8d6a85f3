//go:build !linux

package mem

// populate does nothing: other systems have no such call.
func populate([]byte) {}
