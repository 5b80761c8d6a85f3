package command

import (
	"errors"
	"io"
	"os"
)

// errClosed is the error of writing to standard output if the process was
// started without one.
var errClosed = errors.New("standard output is closed; to throw the output away, open /dev/null for writing only")

// closedOutput is a standard output that is closed.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, errClosed }

// standardOutput returns os.Stdout, or, if the process was started with
// standard output closed, a writer that always fails.
func standardOutput() io.Writer {
	if stdoutClosed() {
		return closedOutput{}
	}
	return os.Stdout
}
