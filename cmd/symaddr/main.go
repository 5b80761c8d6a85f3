// Command symaddr says what is at an address: functions, source files, lines. See docs/symaddr.md, or --help.
package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"symkit/internal/command"
	"symkit/internal/usage"
)

// symaddr can replace other programs. Called by the name of such a program, symaddr takes the program's command
// line, speaks its protocol and returns its exit codes. `make install` makes the links with these names.

// program runs one program and returns its exit code. name is the name by which the program was called.
type program func(ctx context.Context, name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// personality returns the program of a name, such as x86_64-linux-gnu-addr2line or llvm-symbolizer-14.
func personality(name string) program {
	switch {
	case strings.Contains(name, "llvm-symbolizer"), strings.Contains(name, "llvm-addr2line"):
		return runLLVM
	case strings.Contains(name, "addr2line"):
		return runGNU
	}
	return nil
}

func main() {
	name := command.ProgramName(os.Args[0])
	other := personality(name)
	if other == nil {
		command.Main("symaddr", func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
			return run(ctx, args, os.Stdin, stdout, stderr)
		})
	}
	command.Main(name, func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return other(ctx, name, args, os.Stdin, stdout, stderr)
	})
}

// run is the program symaddr. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	// The name of a subcommand; a file of this name is ./profile.
	if len(args) > 0 && args[0] == "profile" {
		return runProfile(ctx, args[1:], stdin, stdout, stderr)
	}

	messages := command.NewMessages("symaddr", stderr)
	c := cli{stdin: stdin, stdout: stdout, stderr: messages}
	p := command.Program{Name: "symaddr", Description: description, Context: ctx, Others: others,
		Variables: []usage.Variable{command.Debuginfod},
		Examples:  map[string]string{"": "symaddr ./app 0x1149"}, Stdout: stdout, Stderr: messages}
	return p.Run(&c, args, func(*kong.Context) (int, error) {
		if c.Verbose {
			messages.ShowAll()
		}
		defer command.UseProcessors(c.Jobs)()
		return c.work(ctx)
	})
}
