package usage

import (
	"fmt"
	"strings"
)

// The completion scripts are self-contained: they run no program. No library makes such
// scripts from kong's model and escapes the help texts: the existing ones run the program
// each time the user presses the completion key, or do not quote help texts for the shell.

// bashCompletion returns the completion of a program for bash 4.1 or later. Where the script
// offers nothing, bash completes names of files (complete -o default).
func bashCompletion(p Program) []byte {
	var b strings.Builder
	function := "_symkit_" + strings.ReplaceAll(p.Name, "-", "__") // POSIX mode takes no hyphen
	fmt.Fprintf(&b, "# bash completion for %s\n\n%s() {\n", p.Name, function)
	b.WriteString(`	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' argument='' i flags

	# Readline splits --flag=value at the equals sign.
	if [[ $cur == = ]]; then
		cur=''
	elif [[ $prev == = && COMP_CWORD -ge 2 ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	COMPREPLY=()

`)

	bashCommand(&b, p)
	b.WriteString("\tcase $command:$prev in\n")
	for _, c := range p.named() {
		bashValues(&b, c.Name, p.Command(c).Flags)
	}
	bashValues(&b, "", p.main().Flags)
	b.WriteString("\tesac\n\n\tif [[ $cur == -* ]]; then\n")

	b.WriteString("\t\tcase $command in\n")
	for _, c := range p.named() {
		fmt.Fprintf(&b, "\t\t%s) flags='%s' ;;\n", c.Name, flagNames(p.Command(c).Flags))
	}
	fmt.Fprintf(&b, "\t\t*) flags='%s' ;;\n\t\tesac\n", flagNames(p.main().Flags))
	b.WriteString("\t\tCOMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n")

	// The first argument may be a command or a file.
	if len(p.named()) > 0 {
		b.WriteString("\telif [[ -z $command$argument ]]; then\n")
		fmt.Fprintf(&b, "\t\twhile IFS= read -r i; do [[ $i ]] && COMPREPLY+=(\"$i\"); done <<<\"$(compgen -W '%s' -- \"$cur\"; compgen -f -- \"$cur\")\"\n",
			strings.Join(commandNames(p.named()), " "))
		b.WriteString("\t\tcompopt -o filenames\n")
	}
	fmt.Fprintf(&b, "\tfi\n} &&\ncomplete -o bashdefault -o default -F %s %s\n", function, p.Name)
	return []byte(b.String())
}

// bashCommand writes the search for the command: the first argument that is neither a flag nor
// the value of one.
func bashCommand(b *strings.Builder, p Program) {
	if len(p.named()) == 0 {
		return
	}
	names := strings.Join(commandNames(p.named()), "|")
	if p.alone() {
		fmt.Fprintf(b, "\tif ((COMP_CWORD > 1)); then\n\t\targument=1\n\t\tcase ${COMP_WORDS[1]} in\n")
		fmt.Fprintf(b, "\t\t%s) command=${COMP_WORDS[1]} ;;\n\t\tesac\n\tfi\n\n", names)
		return
	}
	b.WriteString("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n")
	fmt.Fprintf(b, "\t\t%s) [[ ${COMP_WORDS[i+1]} == = ]] && ((i++)); ((i++)) ;;\n\t\t-*) ;;\n", strings.Join(valued(p.main().Flags), "|"))
	fmt.Fprintf(b, "\t\t%s) command=${COMP_WORDS[i]}; break ;;\n\t\t*) argument=1; break ;;\n\t\tesac\n\tdone\n\n", names)
}

// valued returns the spellings of the flags that take a value.
func valued(flags []Flag) (all []string) {
	for _, f := range flags {
		if f.Value != "" {
			all = append(all, f.spellings()...)
		}
	}
	return all
}

// bashValues writes the cases for values of the flags of a command.
func bashValues(b *strings.Builder, command string, flags []Flag) {
	for _, f := range flags {
		if f.Value == "" {
			continue
		}
		var patterns []string
		for _, s := range f.spellings() {
			patterns = append(patterns, command+":"+s)
		}
		pattern := strings.Join(patterns, "|")

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

// flagNames returns the flags that a shell offers: letters only where there is no name.
func flagNames(flags []Flag) string {
	var names []string
	for _, f := range flags {
		s := f.spellings()
		names = append(names, s[len(s)-1])
	}
	return strings.Join(names, " ")
}
