//go:build !unix && !windows

package command

import "os"

// terminalColumns returns false: terminals are not supported on this system.
func terminalColumns(*os.File) (columns int, ok bool) { return 0, false }
