package command

import (
	"io"
	"os"
)

// clearLine goes to the start of a terminal's line and erases it.
const clearLine = "\r\x1b[K"

// terminal reports whether w is a terminal that can erase a line, and how many
// columns it has.
func terminal(w io.Writer) (columns int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	return terminalColumns(f)
}
