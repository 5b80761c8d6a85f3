package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"symkit/internal/usage"
)

// values are the flags of a command line by their name, and the arguments.
type values struct {
	flags map[string]string
	args  []string
}

// has reports whether a flag is set.
func (v *values) has(name string) bool {
	_, ok := v.flags[name]
	return ok
}

// syntax says how a program reads its command line. Letters may be joined, a value follows a letter or a name directly
// or after =, or is the next argument. @FILE stands for the arguments in FILE.
type syntax struct {
	// GNU is set for getopt_long: a long name has two dashes, and may be abbreviated. Else it may have one dash.
	GNU bool
	// Optional has the flags whose value may be left out.
	Optional []string
}

// parse parses a command line.
func (x syntax) parse(p *usage.Program, args []string) (*values, error) {
	args, err := withFiles(args, 0)
	if err != nil {
		return nil, err
	}
	v := &values{flags: map[string]string{}}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			v.args = append(v.args, args...)
			return v, nil
		case len(arg) < 2 || arg[0] != '-':
			v.args = append(v.args, arg)
			continue
		}

		// A long name, or letters.
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := x.long(p, arg, name, joined)
		if f == nil {
			args, err = v.letters(p, arg, args, x.Optional)
			if err != nil {
				return nil, err
			}
			continue
		}
		may := slices.Contains(x.Optional, key(f))
		switch {
		case joined && f.Value == "" && value != "true" && value != "false":
			return nil, fmt.Errorf("option '--%s' doesn't allow an argument", name)
		case joined && f.Value == "":
			joined = value == "true"
			value = ""
			if !joined {
				value = "false"
			}
		case !joined && f.Value != "" && !may:
			if len(args) == 0 {
				return nil, fmt.Errorf("option '--%s' requires an argument", name)
			}
			value, args = args[0], args[1:]
		}
		v.flags[key(f)] = value
	}
	return v, nil
}

// long returns the flag that an argument begins with as a long name, or nil.
func (x syntax) long(p *usage.Program, arg, name string, joined bool) *usage.Flag {
	double := strings.HasPrefix(arg, "--")
	f := findFlag(p, func(f *usage.Flag) bool {
		return f.Name == name && name != "" && (double || !x.GNU) || f.Short == name && joined && !x.GNU
	})
	if f == nil && double && x.GNU && name != "" {
		f = findFlag(p, func(f *usage.Flag) bool { return strings.HasPrefix(f.Name, name) }) // no name has two meanings
	}
	return f
}

// letters parses flags of one letter in an argument. Values that may be left out are. It returns the arguments that are
// left.
func (v *values) letters(p *usage.Program, arg string, args, optional []string) (rest []string, err error) {
	if strings.HasPrefix(arg, "--") {
		return nil, fmt.Errorf("unrecognized option '%s'", arg)
	}
	for i := 1; i < len(arg); i++ {
		f := findFlag(p, func(f *usage.Flag) bool { return f.Short == arg[i:i+1] })
		switch {
		case f == nil:
			return nil, fmt.Errorf("invalid option -- '%s'", arg[i:i+1])
		case f.Value == "" || slices.Contains(optional, key(f)):
			v.flags[key(f)] = ""
			continue
		}
		value := arg[i+1:]
		if value == "" {
			if len(args) == 0 {
				return nil, fmt.Errorf("option requires an argument -- '%s'", f.Short)
			}
			value, args = args[0], args[1:]
		}
		v.flags[key(f)] = value
		break
	}
	return args, nil
}

// key is the name of a flag in values.
func key(f *usage.Flag) string {
	if f.Name != "" {
		return f.Name
	}
	return f.Short
}

// findFlag returns the first flag that matches, or nil.
func findFlag(p *usage.Program, match func(f *usage.Flag) bool) *usage.Flag {
	for i := range p.Flags {
		if match(&p.Flags[i]) {
			return &p.Flags[i]
		}
	}
	return nil
}

// withFiles replaces @FILE by the arguments in the file, which may name files again. A file that cannot be read
// stays an argument.
func withFiles(args []string, depth int) (all []string, err error) {
	const deepest = 20
	for _, arg := range args {
		name, found := strings.CutPrefix(arg, "@")
		if !found {
			all = append(all, arg)
			continue
		}
		if depth == deepest {
			return nil, fmt.Errorf("%s: files of arguments name each other", arg)
		}
		text, err := os.ReadFile(name)
		switch {
		case errors.Is(err, syscall.EISDIR):
			return nil, fmt.Errorf("%s: a file of arguments is expected, not a directory", arg)
		case err != nil:
			all = append(all, arg)
			continue
		}
		more, err := withFiles(words(string(text)), depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// words divides a text into arguments as libiberty's buildargv and LLVM's TokenizeGNUCommandLine do: at blanks that are
// neither in quotes nor after a backslash.
func words(text string) (list []string) {
	var word []byte
	begun, quote, escaped := false, byte(0), false
	for i := range len(text) {
		c := text[i]
		blank := c == ' ' || c >= '\t' && c <= '\r'
		switch {
		case escaped:
			word, escaped = append(word, c), false
		case c == '\\':
			begun, escaped = true, true
		case quote == 0 && blank:
			if begun {
				list = append(list, string(word))
			}
			word, begun = word[:0], false
		case quote == 0 && (c == '"' || c == '\''):
			begun, quote = true, c
		case c == quote:
			quote = 0
		default:
			word, begun = append(word, c), true
		}
	}
	if begun {
		list = append(list, string(word))
	}
	return list
}

// helpText is the text of --help of a program with such a command line.
func helpText(p *usage.Program, arguments string) string {
	var text strings.Builder
	summary, _, _ := strings.Cut(p.Description, "\n")
	fmt.Fprintf(&text, "Usage: %s [option(s)] %s\n\n%s\n\nOptions:\n\n", p.Name, arguments, summary)
	for _, f := range p.Flags {
		name := ""
		if f.Short != "" {
			name = "-" + f.Short
		}
		if f.Name != "" {
			name = strings.TrimSpace(name + " --" + f.Name)
			if f.Value != "" {
				name += "=" + f.Value
			}
		} else if f.Value != "" {
			name += " " + f.Value
		}
		fmt.Fprintf(&text, "  %-28s %s\n", name, f.Help)
	}
	return text.String()
}
