//go:build !unix && !windows

package command

import "os"

// terminalColumns does not know terminals here.
func terminalColumns(*os.File) (columns int, ok bool) { return 0, false }
