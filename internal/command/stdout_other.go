//go:build !unix

package command

// stdoutClosed returns false: here a closed standard output fails when it is
// written to.
func stdoutClosed() bool { return false }
