//go:build !amd64

package inflate

// chooseLoops keeps the loops in Go.
func chooseLoops() {}
