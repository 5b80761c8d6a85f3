package command

import (
	"fmt"
	"io"
	"time"
)

// Variables of the environment that debuginfod's clients read.
const (
	CachePath         = "DEBUGINFOD_CACHE_PATH"
	DebuginfodTimeout = "DEBUGINFOD_TIMEOUT"
)

// Waiting writes that a server has sent nothing for some time, and after which time the program gives
// up, which a variable of the environment sets; empty: none does.
func Waiting(w io.Writer, program, server string, waited, timeout time.Duration, variable string) {
	limit := "as long as it takes"
	if timeout > 0 {
		limit = "at most " + timeout.String()
	}
	if variable != "" {
		limit = fmt.Sprintf("%s (%s)", limit, variable)
	}
	Line(w, "%s: waiting for %s, %.3g s so far, %s", program, server, waited.Seconds(), limit)
}
