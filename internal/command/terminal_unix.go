//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalColumns returns the width of the terminal f, or 80 if the terminal driver has
// none.
func terminalColumns(f *os.File) (columns int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}

	if size.Col == 0 {
		return 80, true
	}
	return int(size.Col), true
}
