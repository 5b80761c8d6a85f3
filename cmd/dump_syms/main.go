// Command dump_syms writes the Breakpad symbol file of an ELF program or
// library. See README.md, or --help.
package main

import (
	"context"
	"errors"
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
	exitLoss   = 2  // written, but with a loss and --strict
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
		kong.Name("dump_syms"),
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
		code, err = c.dump(ctx)
	} else {
		err = fmt.Errorf("%w; see dump_syms --help", err)
		code = exitMisuse
	}
	if err != nil {
		fmt.Fprintf(stderr, "dump_syms: error: %v\n", err)
		return max(code, exitFailed)
	}
	return code
}

var errSeveral = errors.New("several modules need --store")
