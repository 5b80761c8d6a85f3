package command

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalColumns returns the width of the console's window. A status line needs a console
// that interprets escape sequences. Consoles of Windows 10 and later do so in a mode that
// terminalColumns sets.
func terminalColumns(f *os.File) (columns int, ok bool) {
	console := windows.Handle(f.Fd())
	var mode uint32
	err := windows.GetConsoleMode(console, &mode)
	if err != nil {
		return 0, false // a file or a pipe
	}
	err = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	if err != nil {
		return 0, false
	}

	var info windows.ConsoleScreenBufferInfo
	err = windows.GetConsoleScreenBufferInfo(console, &info)
	if err != nil {
		return 80, true
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
