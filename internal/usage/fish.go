package usage

import (
	"fmt"
	"strings"
)

// fishCompletion returns the completion of a program for fish. fish completes names of
// files as arguments by itself.
func fishCompletion(p Program) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\n", p.Name)

	// seen and first are conditions: a command was typed, the next word may be one.
	seen := func(names ...string) string { return "__fish_seen_subcommand_from " + strings.Join(names, " ") }
	first := "__fish_use_subcommand"
	if p.alone() {
		seen = func(names ...string) string {
			return "contains -- (commandline -opc)[2] '' " + strings.Join(names, " ")
		}
		first = "test (count (commandline -opc)) = 1"
	}

	main := ""
	if len(p.named()) > 0 {
		main = "not " + seen(commandNames(p.named())...)
	}
	for _, f := range p.main().Flags {
		fishFlag(&b, p.Name, main, f)
	}
	for _, c := range p.named() {
		fmt.Fprintf(&b, "complete -c %s -n %s -a %s -d %s\n", p.Name, fishQuote(first), c.Name, fishQuote(firstSentence(c.Help)))
		for _, f := range p.Command(c).Flags {
			fishFlag(&b, p.Name, seen(c.Name), f)
		}
	}
	return []byte(b.String())
}

func fishFlag(b *strings.Builder, program, condition string, f Flag) {
	fmt.Fprintf(b, "complete -c %s", program)
	if condition != "" {
		fmt.Fprintf(b, " -n %s", fishQuote(condition))
	}
	if f.Short != "" {
		fmt.Fprintf(b, " -s %s", f.Short)
	}
	if f.Name != "" {
		fmt.Fprintf(b, " -l %s", f.Name)
	}
	fmt.Fprintf(b, " -d %s", fishQuote(f.summary()))

	switch {
	case f.Value == "":
	case len(f.Values) > 0:
		fmt.Fprintf(b, " -x -a %s", fishQuote(strings.Join(f.Values, " ")))
	case f.takesDir():
		b.WriteString(" -x -a '(__fish_complete_directories)'")
	case f.takesFile():
		b.WriteString(" -r -F")
	default:
		b.WriteString(" -x")
	}
	b.WriteString("\n")
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
