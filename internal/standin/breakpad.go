package standin

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
	minidumpCommand = newBreakpadCommand("minidump", "Show the stacks of a minidump, microdump or core file.", "crash.dmp",
		"  minidump_stackwalk -s -c crash.dmp symbols             the thread that crashed, with the memory of its stack\n\n",
		usage.Flag{Short: "f", Value: "FORMAT", Values: []string{"human", "machine"}, Help: "human (the default) or machine: fields with | between them"},
		usage.Flag{Short: "m", Help: "The same as -f machine"},
		usage.Flag{Short: "s", Help: "Show the memory of the stacks"},
		usage.Flag{Short: "c", Help: "Show only the thread that crashed or asked for the dump"},
		usage.Flag{Short: "t", Value: "INDEX", Help: "Show only the thread with this number, beside the one that crashed"},
		usage.Flag{Short: "d", Help: "Show what each word of the stacks points to"},
		usage.Flag{Short: "b", Help: "Show one line for each frame of the thread that crashed"})
	microdumpCommand = newBreakpadCommand("microdump", "Show the stack of a microdump.", "logcat.txt", "",
		usage.Flag{Short: "m", Help: "Write fields with | between them"},
		usage.Flag{Short: "s", Help: "Show the memory of the stack"})
)

// newBreakpadCommand returns the program for a kind of dump. Its manual page has a summary and examples.
func newBreakpadCommand(kind, summary, dump, examples string, flags ...usage.Flag) breakpadCommand {
	name := kind + "_stackwalk"
	return breakpadCommand{kind, usage.Program{
		Description: summary + "\n\nThis is symkit's stackwalk, with the command line of Breakpad's " + name + ".\n\nExamples:\n\n" +
			"  " + name + " " + dump + " symbols  a report for people, with a symbol store\n\n" +
			"  " + name + " -m " + dump + " symbols > stacks.machine\n\n" + examples +
			"Exit codes: 0 done, 1 the dump cannot be read, or wrong usage.",
		Node: usage.Node{Name: name,
			Arguments: []usage.Argument{
				{Name: kind + "-file", Help: "Minidump, microdump or core file.", Required: true},
				{Name: "symbol-path", Help: "Symbol stores.", Repeated: true}},
			Flags: append(flags, usage.Flag{Short: "h", Help: "Show this help"})},
		Environment: []usage.Variable{command.Limits},
	}}
}

// text returns the help of the program.
func (b *breakpadCommand) text() string {
	var text strings.Builder
	summary, _, _ := strings.Cut(b.usage.Description, "\n")
	fmt.Fprintf(&text, "Usage: %s [options] <%s> [symbol-path ...]\n\n%s (symkit stackwalk).\n\nOptions:\n\n",
		b.usage.Name, b.usage.Arguments[0].Name, strings.TrimSuffix(summary, "."))
	for _, f := range b.usage.Flags {
		fmt.Fprintf(&text, "  %-10s %s\n", strings.TrimSpace("-"+f.Short+" "+f.Value), f.Help)
	}
	return text.String()
}

// breakpadFlags is the command line of Breakpad's programs.
type breakpadFlags struct {
	help, machine bool
	peers.BreakpadOptions
	args []string // the dump and the symbol stores
}

// run runs the program.
func (b breakpadCommand) run(ctx context.Context, name string, args []string, stdout, stderr io.Writer, walk Walk) int {
	messages := command.NewMessages("stackwalk", stderr)
	defer messages.Close()

	f, err := b.parse(args)
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
		fmt.Fprintf(messages, "%s: %v\n%s", name, err, b.text())
		return command.Failed
	}

	code, err := walk(ctx, &Request{Dump: f.args[0], Symbols: existing(messages, f.args[1:]), Registers: true, Contents: f.Contents, Pointers: f.Pointers,
		Outputs: []Output{{Print: f.printer(messages)}}, Messages: messages}, stdout)
	if err != nil {
		messages.Last("stackwalk: error: %v", err)
		return command.Failed
	}
	if code == command.Bad { // a stack of one frame is no failure there
		return 0
	}
	return code
}

// printer returns the function that prints the report.
func (f *breakpadFlags) printer(messages *command.Messages) func(io.Writer, *walk.Result) error {
	return func(out io.Writer, r *walk.Result) error {
		if f.machine {
			return peers.Machine(out, r)
		}
		threads := peers.BreakpadThreads(r.Process)
		if f.Thread >= threads {
			command.Line(messages, "stackwalk: error: -t %d: there are %d threads", f.Thread, threads)
		}
		return peers.Breakpad(out, r, f.BreakpadOptions)
	}
}

// parse parses arguments as getopt does.
func (b *breakpadCommand) parse(args []string) (*breakpadFlags, error) {
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
		for rest := arg[1:]; rest != ""; {
			letter := rest[:1]
			rest = rest[1:]
			i := slices.IndexFunc(b.usage.Flags, func(f usage.Flag) bool { return f.Short == letter })
			if i < 0 {
				return nil, fmt.Errorf("unknown flag -%s", letter)
			}
			value := ""
			if b.usage.Flags[i].Value != "" {
				if rest == "" && len(args) == 0 {
					return nil, fmt.Errorf("-%s: the value is missing", letter)
				}
				if rest == "" {
					rest, args = args[0], args[1:]
				}
				value, rest = rest, ""
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
		f.machine = value == "machine"
		if value != "human" && value != "machine" {
			return fmt.Errorf("-f %q: want human or machine", value)
		}
	case "t":
		f.Thread = leadingNumber(value)
	}
	if f.Requesting && f.Thread != -1 {
		return errors.New("-c and -t exclude each other")
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
	n, _ := strconv.Atoi(text[:end]) // 0 if there is none
	return n
}
