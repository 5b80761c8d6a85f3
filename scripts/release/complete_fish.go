package main

import (
	"fmt"
	"strings"
)

// fishCompletion returns the completion of a program for fish. fish completes names of
// files as arguments by itself.
func fishCompletion(m modelProgram) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\n", m.Name)
	for _, f := range m.Flags {
		fishFlag(&b, m.Name, "", f)
	}

	// The flags of the default command are possible unless another command is named.
	var others []string
	for _, c := range m.Commands {
		if !c.Default {
			others = append(others, c.Name)
		}
	}
	for _, c := range m.Commands {
		fmt.Fprintf(&b, "complete -c %s -n __fish_use_subcommand -a %s -d %s\n", m.Name, c.Name, fishQuote(firstSentence(c.Help)))
		condition := "__fish_seen_subcommand_from " + c.Name
		if c.Default {
			condition = "not __fish_seen_subcommand_from " + strings.Join(others, " ")
		}
		for _, f := range c.Flags {
			fishFlag(&b, m.Name, condition, f)
		}
	}
	return []byte(b.String())
}

func fishFlag(b *strings.Builder, program, condition string, f modelFlag) {
	fmt.Fprintf(b, "complete -c %s", program)
	if condition != "" {
		fmt.Fprintf(b, " -n %s", fishQuote(condition))
	}
	if f.Short != "" {
		fmt.Fprintf(b, " -s %s", f.Short)
	}
	fmt.Fprintf(b, " -l %s -d %s", f.Name, fishQuote(f.summary()))

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
