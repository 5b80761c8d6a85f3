// Command stackwalk shows the stack of every thread of a crashed process. See
// README.md, or --help.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes beside 0 and kong's 80 for misuse (DESIGN.md, "Errors").
const (
	exitFailed = 1  // an input failed
	exitNone   = 2  // no thread could be walked beyond its first frame
	exitMisuse = 80 // the command line is wrong
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	c := cli{stdout: stdout, stderr: stderr}
	exited := false
	parser, err := kong.New(&c,
		kong.Name("stackwalk"),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { exited, code = true, status }),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the tags of cli are wrong
	}
	_, err = parser.Parse(args)
	if exited { // --help, --version
		return code
	}
	if err == nil {
		code, err = c.walk(ctx)
	} else {
		err = fmt.Errorf("%w; see stackwalk --help", err)
		code = exitMisuse
	}
	if err != nil {
		fmt.Fprintf(stderr, "stackwalk: error: %v\n", err)
		return max(code, exitFailed)
	}
	return code
}
