package main

import (
	"fmt"
	"strings"
)

// zshCompletion returns the completion of a program for zsh (zshcompsys(1),
// _arguments).
func zshCompletion(m modelProgram) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# zsh completion for %[1]s\n\n_%[1]s() {\n", m.Name)
	b.WriteString("\tlocal -a flags\n\tflags=(\n")
	for _, f := range m.Flags {
		fmt.Fprintf(&b, "\t\t%s\n", zshFlag(f))
	}
	b.WriteString("\t)\n\n")

	if len(m.Commands) == 0 {
		fmt.Fprintf(&b, "\t_arguments -s -S $flags %s\n", zshArguments(m.Arguments))
	} else {
		zshCommands(&b, m)
	}
	fmt.Fprintf(&b, "}\n\n_%s \"$@\"\n", m.Name)
	return []byte(b.String())
}

// zshCommands writes the part of a program with commands: the command is the first
// argument that is no flag.
func zshCommands(b *strings.Builder, m modelProgram) {
	names := strings.Join(commandNames(m), "|")
	c, _ := m.defaultCommand()
	b.WriteString("\tlocal command='' named='' word\n\tfor word in ${words[2,CURRENT-1]}; do\n\t\tcase $word in\n\t\t(-*) ;;\n")
	fmt.Fprintf(b, "\t\t(%s) command=$word named=1; break ;;\n\t\t(*) command=%s; break ;;\n\t\tesac\n\tdone\n\n", names, c.Name)

	b.WriteString("\tlocal -a first commands\n\t[[ -n $named ]] && first=('1: :')\n\tcommands=(\n")
	for _, c := range m.Commands {
		if c.Default {
			continue // a default command is called without its name
		}
		fmt.Fprintf(b, "\t\t%s\n", zshQuote(strings.ReplaceAll(c.Name, ":", `\:`)+":"+firstSentence(c.Help)))
	}
	b.WriteString("\t)\n\n\tcase $command in\n")

	// While there is no argument, both a command and a file are possible, and the flags
	// of the default command.
	for _, c := range m.Commands {
		fmt.Fprintf(b, "\t(%s)\n\t\tflags+=(\n", c.Name)
		for _, f := range c.Flags {
			fmt.Fprintf(b, "\t\t\t%s\n", zshFlag(f))
		}
		b.WriteString("\t\t)\n\t\t_arguments -s -S $flags $first '*:file:_files'\n\t\t;;\n")
	}
	b.WriteString("\t(*)\n\t\tflags+=(\n")
	for _, f := range c.Flags {
		fmt.Fprintf(b, "\t\t\t%s\n", zshFlag(f))
	}
	b.WriteString("\t\t)\n\t\t_arguments -s -S $flags \\\n")
	b.WriteString("\t\t\t'1: :{_describe -t commands command commands; _files}' '*:file:_files'\n\t\t;;\n\tesac\n")
}

// zshFlag returns the specification of a flag for _arguments. A flag that may not be
// repeated excludes itself in both spellings.
func zshFlag(f modelFlag) string {
	text := "[" + zshText(f.summary()) + "]"
	long, short := "--"+f.Name, "-"+f.Short
	if f.Value != "" {
		long += "="
		short += "+"
		text += ":" + zshText(strings.ToLower(f.Value)) + ":" + zshValues(f)
	}

	names := "--" + f.Name
	if f.Short != "" {
		names = "-" + f.Short + " " + names
	}
	prefix := "(" + names + ")"
	if f.Repeated {
		prefix = "*"
	}
	if f.Short == "" {
		return zshQuote(prefix + long + text)
	}
	return zshQuote(prefix) + "{" + short + "," + long + "}" + zshQuote(text)
}

// zshValues returns the action that completes the value of a flag.
func zshValues(f modelFlag) string {
	switch {
	case len(f.Values) > 0:
		return "(" + strings.Join(f.Values, " ") + ")"
	case f.takesDir():
		return "_files -/"
	case f.takesFile():
		return "_files"
	}
	return " "
}

func zshArguments(arguments []modelArgument) string {
	var specs []string
	for i, a := range arguments {
		place := fmt.Sprint(i + 1)
		if a.Repeated {
			place = "*"
		}
		specs = append(specs, zshQuote(place+":"+zshText(a.Name)+":_files"))
	}
	return strings.Join(specs, " ")
}

// zshText escapes text for the parts of a specification of _arguments.
func zshText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(text)
}

func zshQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
