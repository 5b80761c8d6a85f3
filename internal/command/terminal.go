package command

import (
	"io"
	"os"
)

// clearLine goes to the start of a terminal's line and erases it.
const clearLine = "\r\x1b[K"

// helpColumns returns the width of the longest line of --help, which is written to w. kong
// asks terminals for their width, but not the consoles of Windows.
func helpColumns(w io.Writer) int {
	const readable = 100
	columns, ok := terminal(w)
	if !ok {
		return readable
	}
	return min(columns, readable)
}

// terminal reports whether w is a terminal that can erase a line, and how many
// columns it has.
func terminal(w io.Writer) (columns int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return 0, false
	}
	return terminalColumns(f)
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	_, ok := terminal(f)
	return ok
}
