// Command symcheck tells whether a Breakpad symbol file is right. See
// docs/symcheck.md, or --help.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"symkit/check"
)

// Exit codes beside 0 and kong's 80 for misuse (DESIGN.md, "Errors").
const (
	exitFailed   = 1  // an input failed
	exitFindings = 2  // findings, or a requirement or threshold that is not met
	exitMisuse   = 80 // the command line is wrong
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	c := cli{env: env{ctx: ctx, stdout: stdout, stderr: stderr}}
	exited := false
	parser, err := kong.New(&c,
		kong.Name("symcheck"),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { exited, code = true, status }),
		kong.Vars{"checks": strings.Join(check.Names(), ", ")},
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the tags of cli are wrong
	}
	command, err := parser.Parse(args)
	if exited { // --help, --version
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "symcheck: error: %v; see symcheck --help\n", err)
		return exitMisuse
	}
	if err := command.Run(&c.env, &c.Output); err != nil {
		fmt.Fprintf(stderr, "symcheck: error: %v\n", err)
		return exitFailed
	}
	if c.env.bad {
		return exitFindings
	}
	return 0
}
