package main

import (
	"fmt"
	"strings"
)

// The completion scripts are self-contained: they run no program. No library makes such
// scripts from kong's model and escapes the help texts: the existing ones run the program
// each time the user presses the completion key, or do not quote help texts for the shell.

// bashCompletion returns the completion of a program for bash. Where the script offers
// nothing, bash completes names of files (complete -o default).
func bashCompletion(m modelProgram) []byte {
	var b strings.Builder
	function := "_symkit_" + m.Name
	fmt.Fprintf(&b, "# bash completion for %s\n\n%s() {\n", m.Name, function)
	b.WriteString(`	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' i flags

	# Readline splits --flag=value at the equals sign.
	if [[ $cur == = ]]; then
		cur=''
	elif [[ $prev == = && COMP_CWORD -ge 2 ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	COMPREPLY=()

`)

	// The command is the first argument that is no flag.
	if len(m.Commands) > 0 {
		b.WriteString("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n\t\t-*) ;;\n")
		fmt.Fprintf(&b, "\t\t%s) command=${COMP_WORDS[i]}; break ;;\n", strings.Join(commandNames(m), "|"))
		c, _ := m.defaultCommand()
		fmt.Fprintf(&b, "\t\t*) command=%s; break ;;\n\t\tesac\n\tdone\n\n", c.Name)
	}

	b.WriteString("\tcase $command:$prev in\n")
	bashValues(&b, "", m.Flags)
	for _, c := range m.Commands {
		bashValues(&b, c.Name, c.Flags)
	}
	b.WriteString("\tesac\n\n\tif [[ $cur == -* ]]; then\n")

	fmt.Fprintf(&b, "\t\tflags='%s'\n", flagNames(m.Flags))
	if len(m.Commands) > 0 {
		b.WriteString("\t\tcase $command in\n")
		for _, c := range m.Commands {
			pattern := c.Name
			if c.Default {
				pattern += "|''"
			}
			fmt.Fprintf(&b, "\t\t%s) flags+=' %s' ;;\n", pattern, flagNames(c.Flags))
		}
		b.WriteString("\t\tesac\n")
	}
	b.WriteString("\t\tCOMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n")

	if len(m.Commands) > 0 {
		b.WriteString("\telif [[ -z $command ]]; then\n")
		fmt.Fprintf(&b, "\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\") $(compgen -f -- \"$cur\"))\n", strings.Join(commandNames(m), " "))
	}
	fmt.Fprintf(&b, "\tfi\n} &&\ncomplete -o bashdefault -o default -F %s %s\n", function, m.Name)
	return []byte(b.String())
}

// bashValues writes the cases for values of flags. The flags of the program are
// accepted before and after a command.
func bashValues(b *strings.Builder, command string, flags []modelFlag) {
	if command == "" {
		command = "*"
	}
	for _, f := range flags {
		if f.Value == "" {
			continue
		}
		pattern := command + ":--" + f.Name
		if f.Short != "" {
			pattern += "|" + command + ":-" + f.Short
		}

		switch {
		case len(f.Values) > 0:
			fmt.Fprintf(b, "\t%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", pattern, strings.Join(f.Values, " "))
		case f.takesDir():
			fmt.Fprintf(b, "\t%s) compopt -o dirnames +o default +o bashdefault; return ;;\n", pattern)
		case f.takesFile():
			fmt.Fprintf(b, "\t%s) return ;;\n", pattern)
		default:
			fmt.Fprintf(b, "\t%s) compopt +o default +o bashdefault; return ;;\n", pattern)
		}
	}
}

func commandNames(m modelProgram) []string {
	var names []string
	for _, c := range m.Commands {
		names = append(names, c.Name)
	}
	return names
}

func flagNames(flags []modelFlag) string {
	var names []string
	for _, f := range flags {
		names = append(names, "--"+f.Name)
	}
	return strings.Join(names, " ")
}
