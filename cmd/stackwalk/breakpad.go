package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"symkit/internal/command"
	"symkit/walk"
	"symkit/walk/report"
)

// breakpadUsage is the help of minidump_stackwalk, microUsage that of microdump_stackwalk.
const (
	breakpadUsage = `Usage: %s [options] <minidump-file> [symbol-path ...]

Show the stacks of a minidump, microdump or core file (symkit stackwalk).

Options:

  -f FORMAT  human (the default) or machine: fields with | between them
  -m         The same as -f machine
  -s         Show the memory of the stacks
  -c         Show only the thread that crashed or asked for the dump
  -t <index> Show only the thread with this number, beside the one that crashed
  -d         Show what each word of the stacks points to
  -b         Show one line for each frame of the thread that crashed
`
	microUsage = `Usage: %s [options] <microdump-file> [symbol-path ...]

Show the stack of a microdump (symkit stackwalk).

Options:

  -m         Write fields with | between them
  -s         Show the memory of the stack
`
)

// breakpadFlags is the command line of Breakpad's programs.
type breakpadFlags struct {
	help, machine bool
	report.BreakpadOptions
	args []string // the dump and the symbol stores
}

// minidumpStackwalk takes the place of Breakpad's minidump_stackwalk.
func minidumpStackwalk(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	return breakpadProgram(ctx, name, args, "bcdf:hmst:", breakpadUsage, "minidump", stdout, stderr)
}

// microdumpStackwalk takes the place of Breakpad's microdump_stackwalk.
func microdumpStackwalk(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	return breakpadProgram(ctx, name, args, "hms", microUsage, "microdump", stdout, stderr)
}

// breakpadProgram runs one of the programs: letters are its flags.
func breakpadProgram(ctx context.Context, name string, args []string, letters, usage, kind string, stdout, stderr io.Writer) int {
	messages := command.NewMessages("stackwalk", stderr)
	defer messages.Close()
	f, err := parseBreakpad(args, letters)
	switch {
	case err == nil && f.help:
		fmt.Fprintf(stdout, usage, programName(name))
		return 0
	case err == nil && len(f.args) == 0:
		err = fmt.Errorf("the path of a %s is missing", kind)
	}
	if err != nil {
		fmt.Fprintf(messages, "%s: %v\n", name, err)
		fmt.Fprintf(messages, usage, programName(name))
		return command.Failed
	}
	return f.run(ctx, stdout, messages)
}

// run walks the dump and prints the report.
func (f *breakpadFlags) run(ctx context.Context, stdout io.Writer, messages *command.Messages) int {
	c := &cli{stdout: stdout, stderr: messages, NoELF: true, dumpOnly: true, Dumps: f.args[:1], registers: true, Contents: f.Contents, pointers: f.Pointers}
	c.Symbols = existing(f.args[1:], func(path string) { command.Line(messages, "stackwalk: warning: %s: no such file or directory", path) })
	c.outputs = []written{{"", func(out io.Writer, r *walk.Result) error {
		if f.machine {
			return report.Machine(out, r)
		}
		if f.Thread >= report.BreakpadThreads(r.Process) {
			command.Line(messages, "stackwalk: error: -t %d: there are %d threads", f.Thread, report.BreakpadThreads(r.Process))
		}
		return report.Breakpad(out, r, f.BreakpadOptions)
	}}}

	code, err := c.walk(ctx)
	if err != nil {
		messages.Last("stackwalk: error: %v", err)
		return command.Failed
	}
	if code == command.Bad { // a stack of one frame is no failure there
		return 0
	}
	return code
}

// parseBreakpad parses arguments as getopt does: letters are the flags, with a colon after
// those that take a value.
func parseBreakpad(args []string, letters string) (*breakpadFlags, error) {
	f := &breakpadFlags{BreakpadOptions: report.BreakpadOptions{Thread: -1}}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			f.args = append(f.args, args...)
			return f, nil
		case len(arg) < 2 || arg[0] != '-':
			f.args = append(f.args, arg)
			continue
		}

		// Several flags can follow one dash; a value can follow its flag directly.
		for letters, rest := letters, arg[1:]; rest != ""; {
			letter := rest[:1]
			rest = rest[1:]
			i := strings.Index(letters, letter)
			if i < 0 || letter == ":" {
				return nil, fmt.Errorf("unknown flag -%s", letter)
			}

			value := ""
			if strings.HasPrefix(letters[i+1:], ":") {
				switch {
				case rest != "":
					value, rest = rest, ""
				case len(args) > 0:
					value, args = args[0], args[1:]
				default:
					return nil, fmt.Errorf("-%s: the value is missing", letter)
				}
			}
			err := f.set(letter, value)
			if err != nil || f.help {
				return f, err
			}
		}
	}
	return f, nil
}

// set sets one flag.
func (f *breakpadFlags) set(letter, value string) error {
	if letter == "c" && f.Thread != -1 || letter == "t" && f.Requesting {
		return errors.New("-c and -t exclude each other")
	}
	switch letter {
	case "h":
		f.help = true
	case "b":
		f.Brief = true
	case "c":
		f.Requesting = true
	case "d":
		f.Pointers = true
	case "m":
		f.machine = true
	case "s":
		f.Contents = true
	case "f":
		if !slices.Contains([]string{"human", "machine"}, value) {
			return fmt.Errorf("-f %q: want human or machine", value)
		}
		f.machine = value == "machine"
	case "t":
		f.Thread = leadingNumber(value)
	}
	return nil
}

// leadingNumber returns the decimal number that a text begins with, or 0, as C's atoi.
func leadingNumber(text string) int {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	n, err := strconv.Atoi(text[:end])
	if err != nil {
		return 0
	}
	return n
}
