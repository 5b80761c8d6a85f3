//go:build !linux

package hugepage

// Advise does nothing here.
func Advise([]byte) {}
