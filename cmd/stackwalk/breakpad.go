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
	"symkit/internal/usage"
	"symkit/walk"
	"symkit/walk/peers"
)

// breakpadCommand is the command line of one of Breakpad's programs.
type breakpadCommand struct {
	kind  string // of dump
	usage usage.Program
}

// minidumpCommand and microdumpCommand are the command lines of the two programs.
var (
	minidumpCommand = breakpadCommand{"minidump", usage.Program{
		Description: breakpadDescription("minidump_stackwalk", "Show the stacks of a minidump, microdump or core file.", "crash.dmp",
			"  minidump_stackwalk -s -c crash.dmp symbols             the thread that crashed, with the memory of its stack\n\n"),
		Node: breakpadNode("minidump_stackwalk", "minidump-file",
			usage.Flag{Short: "f", Value: "FORMAT", Values: []string{"human", "machine"}, Help: "human (the default) or machine: fields with | between them"},
			usage.Flag{Short: "m", Help: "The same as -f machine"},
			usage.Flag{Short: "s", Help: "Show the memory of the stacks"},
			usage.Flag{Short: "c", Help: "Show only the thread that crashed or asked for the dump"},
			usage.Flag{Short: "t", Value: "INDEX", Help: "Show only the thread with this number, beside the one that crashed"},
			usage.Flag{Short: "d", Help: "Show what each word of the stacks points to"},
			usage.Flag{Short: "b", Help: "Show one line for each frame of the thread that crashed"}),
		Environment: []usage.Variable{command.Limits},
	}}
	microdumpCommand = breakpadCommand{"microdump", usage.Program{
		Description: breakpadDescription("microdump_stackwalk", "Show the stack of a microdump.", "logcat.txt", ""),
		Node: breakpadNode("microdump_stackwalk", "microdump-file",
			usage.Flag{Short: "m", Help: "Write fields with | between them"},
			usage.Flag{Short: "s", Help: "Show the memory of the stack"}),
		Environment: []usage.Variable{command.Limits},
	}}
)

// breakpadDescription returns the text of a manual page above the flags.
func breakpadDescription(name, summary, dump, more string) string {
	return summary + "\n\nThis is symkit's stackwalk, with the command line of Breakpad's " + name + ".\n\nExamples:\n\n" +
		"  " + name + " " + dump + " symbols  a report for people, with a symbol store\n\n" +
		"  " + name + " -m " + dump + " symbols > stacks.machine\n\n" + more +
		"Exit codes: 0 done, 1 the dump cannot be read, or wrong usage."
}

// breakpadNode returns the arguments and flags of a program.
func breakpadNode(name, dump string, flags ...usage.Flag) usage.Node {
	return usage.Node{Name: name,
		Arguments: []usage.Argument{
			{Name: dump, Help: "Minidump, microdump or core file.", Required: true},
			{Name: "symbol-path", Help: "Symbol stores.", Repeated: true}},
		Flags: append(flags, usage.Flag{Short: "h", Help: "Show this help"})}
}

// text returns the help of the program.
func (b breakpadCommand) text() string {
	var text strings.Builder
	summary, _, _ := strings.Cut(b.usage.Description, "\n")
	fmt.Fprintf(&text, "Usage: %s [options] <%s> [symbol-path ...]\n\n%s (symkit stackwalk).\n\nOptions:\n\n",
		b.usage.Name, b.usage.Arguments[0].Name, strings.TrimSuffix(summary, "."))
	for _, f := range b.usage.Flags {
		fmt.Fprintf(&text, "  %-10s %s\n", strings.TrimSpace("-"+f.Short+" "+f.Value), f.Help)
	}
	return text.String()
}

// letters returns the flags for getopt.
func (b breakpadCommand) letters() string {
	var letters strings.Builder
	for _, f := range b.usage.Flags {
		letters.WriteString(f.Short)
		if f.Value != "" {
			letters.WriteString(":")
		}
	}
	return letters.String()
}

// breakpadFlags is the command line of Breakpad's programs.
type breakpadFlags struct {
	help, machine bool
	peers.BreakpadOptions
	args []string // the dump and the symbol stores
}

// minidumpStackwalk takes the place of Breakpad's minidump_stackwalk.
func minidumpStackwalk(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	return minidumpCommand.run(ctx, name, args, stdout, stderr)
}

// microdumpStackwalk takes the place of Breakpad's microdump_stackwalk.
func microdumpStackwalk(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	return microdumpCommand.run(ctx, name, args, stdout, stderr)
}

// run runs one of the programs.
func (b breakpadCommand) run(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	messages := command.NewMessages("stackwalk", stderr)
	defer messages.Close()

	f, err := parseBreakpad(args, b.letters())
	switch {
	case len(args) == 1 && args[0] == "--help-json":
		err = b.usage.WriteJSON(stdout)
		if err == nil {
			return 0
		}
		messages.Last("%s: error: %v", name, err)
		return command.Failed
	case err == nil && f.help:
		fmt.Fprint(stdout, b.text())
		return 0
	case err == nil && len(f.args) == 0:
		err = fmt.Errorf("the path of a %s is missing", b.kind)
	}
	if err != nil {
		fmt.Fprintf(messages, "%s: %v\n", name, err)
		fmt.Fprint(messages, b.text())
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
			return peers.Machine(out, r)
		}
		if f.Thread >= peers.BreakpadThreads(r.Process) {
			command.Line(messages, "stackwalk: error: -t %d: there are %d threads", f.Thread, peers.BreakpadThreads(r.Process))
		}
		return peers.Breakpad(out, r, f.BreakpadOptions)
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
	f := &breakpadFlags{BreakpadOptions: peers.BreakpadOptions{Thread: -1}}
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
