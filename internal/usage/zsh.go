package usage

import (
	"fmt"
	"strings"
)

// zshCompletion returns the completion of a program for zsh (zshcompsys(1),
// _arguments).
func zshCompletion(p Program) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# zsh completion for %[1]s\n\n_%[1]s() {\n\tlocal -a flags\n", p.Name)
	if len(p.named()) == 0 {
		zshFlags(&b, "\t", p.main().Flags)
		fmt.Fprintf(&b, "\t_arguments -s -S $flags %s\n", zshArguments(p.main().Arguments))
	} else {
		zshCommands(&b, p)
	}
	fmt.Fprintf(&b, "}\n\n_%s \"$@\"\n", p.Name)
	return []byte(b.String())
}

// zshFlags writes the assignment of the flags' specifications.
func zshFlags(b *strings.Builder, indent string, flags []Flag) {
	b.WriteString(indent + "flags=(\n")
	for _, f := range flags {
		fmt.Fprintf(b, "%s\t%s\n", indent, zshFlag(f))
	}
	b.WriteString(indent + ")\n")
}

// zshCommands writes the part of a program with commands: the command is the first argument
// that is neither a flag nor the value of one.
func zshCommands(b *strings.Builder, p Program) {
	names := strings.Join(commandNames(p.named()), "|")
	b.WriteString("\tlocal command='' i\n\tlocal -a commands\n")
	if p.alone() {
		fmt.Fprintf(b, "\tif ((CURRENT > 2)) && [[ ${words[2]} == (%s) ]]; then\n\t\tcommand=${words[2]}\n\tfi\n", names)
	} else {
		b.WriteString("\tfor ((i = 2; i < CURRENT; i++)); do\n\t\tcase ${words[i]} in\n")
		fmt.Fprintf(b, "\t\t(%s) ((i++)) ;;\n\t\t(-*) ;;\n", strings.Join(valued(p.main().Flags), "|"))
		fmt.Fprintf(b, "\t\t(%s) command=${words[i]}; break ;;\n\t\t(*) break ;;\n\t\tesac\n\tdone\n", names)
	}

	// The name of the command is the first argument for _arguments.
	b.WriteString("\n\tcase $command in\n")
	for _, c := range p.named() {
		fmt.Fprintf(b, "\t(%s)\n", c.Name)
		zshFlags(b, "\t\t", p.Command(c).Flags)
		b.WriteString("\t\t_arguments -s -S $flags '1: :' '*:file:_files'\n\t\t;;\n")
	}

	b.WriteString("\t(*)\n")
	zshFlags(b, "\t\t", p.main().Flags)
	if p.alone() {
		b.WriteString("\t\t((CURRENT == 2)) && ")
	} else {
		b.WriteString("\t\t")
	}
	b.WriteString("commands=(\n")
	for _, c := range p.named() {
		fmt.Fprintf(b, "\t\t\t%s\n", zshQuote(strings.ReplaceAll(c.Name, ":", `\:`)+":"+firstSentence(c.Help)))
	}
	b.WriteString("\t\t)\n\t\t_arguments -s -S $flags \\\n")
	b.WriteString("\t\t\t'1: :{_describe -t commands command commands; _files}' '*:file:_files'\n\t\t;;\n\tesac\n")
}

// zshFlag returns the specification of a flag for _arguments. A flag that may not be
// repeated excludes itself in both spellings.
func zshFlag(f Flag) string {
	text := "[" + zshText(f.summary()) + "]"
	long, short := "--"+f.Name, "-"+f.Short
	if f.Value != "" {
		long += "="
		short += "+"
		text += ":" + zshText(strings.ToLower(f.Value)) + ":" + zshValues(f)
	}

	prefix := "(" + strings.Join(f.spellings(), " ") + ")"
	if f.Repeated {
		prefix = "*"
	}
	switch {
	case f.Short == "":
		return zshQuote(prefix + long + text)
	case f.Name == "":
		return zshQuote(prefix + short + text)
	}
	return zshQuote(prefix) + "{" + short + "," + long + "}" + zshQuote(text)
}

// zshValues returns the action that completes the value of a flag.
func zshValues(f Flag) string {
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

func zshArguments(arguments []Argument) string {
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
