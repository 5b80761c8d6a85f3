// Package standin has the command lines of the walkers that stackwalk stands in for: called by the name of one of
// them, stackwalk takes its command line, prints its format and returns its exit codes. `make install` makes the links
// with these names.
package standin

import (
	"context"
	"io"
	"os"
	"time"

	"symkit/internal/command"
	"symkit/internal/usage"
	"symkit/walk"
)

// Request is the walk that a command line asks for. Of the process, the dump alone is known.
type Request struct {
	Dump    string
	Symbols []string // paths and URLs
	Cache   string
	MaxTime time.Duration // of a download; 0: that of the server
	// ELF takes symbols also from the files that the dump names.
	ELF                                    bool
	Registers, Contents, Pointers, Verbose bool
	Outputs                                []Output
	Messages                               *command.Messages // of a program with the name stackwalk
}

// Output is a report to write, with its destination and format.
type Output struct {
	Path  string // empty or -: standard output
	Print func(io.Writer, *walk.Result) error
}

// Walk does what a request asks for, as stackwalk, whose exit code it returns.
type Walk func(ctx context.Context, r *Request, stdout io.Writer) (code int, err error)

// Program runs another walker's command line and returns its exit code. name is the name by which it was called.
type Program func(ctx context.Context, name string, args []string, stdout, stderr io.Writer, walk Walk) int

// Programs are the programs by name.
var Programs = map[string]Program{
	"minidump_stackwalk":  minidumpCommand.run,
	"microdump_stackwalk": microdumpCommand.run,
	"minidump-stackwalk":  rustMinidump,
}

// Usages returns the command lines of all programs.
func Usages() []usage.Program {
	// Nothing is written, so there is nothing to write to.
	rust := rustProgram(context.Background(), io.Discard, command.NewMessages("stackwalk", io.Discard)).Model(new(rustFlags))
	return []usage.Program{minidumpCommand.usage, microdumpCommand.usage, rust}
}

// existing returns the paths that exist, and warns of the others. Other programs ignore symbol stores that do not
// exist.
func existing(messages *command.Messages, paths []string) (out []string) {
	for _, path := range paths {
		_, err := os.Stat(path)
		if err != nil {
			command.Line(messages, "stackwalk: warning: %s: no such file or directory", path)
			continue
		}
		out = append(out, path)
	}
	return out
}
