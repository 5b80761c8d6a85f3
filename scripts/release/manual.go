package main

import (
	"fmt"
	"strings"
)

// manual returns the manual page of a program, in the man macros of roff(7), from the
// same model and text as --help.
func manual(src source, m modelProgram) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s \"symkit %s\" \"User Commands\"\n", quote(strings.ToUpper(m.Name)),
		src.date.Format("2006-01-02"), src.number())
	b.WriteString(".nh\n.ad l\n") // no hyphens in names of flags

	summary, rest, _ := strings.Cut(m.Description, "\n\n")
	summary = strings.TrimSuffix(summary, ".")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(m.Name), roff(strings.ToLower(summary[:1])+summary[1:]))

	b.WriteString(".SH SYNOPSIS\n")
	synopses(&b, m)
	manualText(&b, rest)

	b.WriteString(".SH OPTIONS\n")
	manualArguments(&b, m.Arguments)
	manualFlags(&b, m.Flags)
	if len(m.Commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	for _, c := range m.Commands {
		fmt.Fprintf(&b, ".SS %s\n%s\n", quote(m.Name+" "+c.Name), roff(c.Help))
		manualArguments(&b, c.Arguments)
		manualFlags(&b, c.Flags)
	}

	b.WriteString(commonSections)
	var others []string
	for _, name := range programs {
		if name != m.Name {
			others = append(others, fmt.Sprintf(".BR %s (1)", roff(name)))
		}
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(others, " ,\n") + "\n")
	return []byte(b.String())
}

// commonSections are the sections that hold for all programs (README.md,
// docs/robustness.md).
const commonSections = `.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
An input failed: nothing was written of it; in a batch all others are.
.TP
.B 2
The output is written, but something was lost or is wrong, or no stack could
be walked.
.TP
.B 80
The command line is wrong.
.SH ENVIRONMENT
.TP
.B DEBUGINFOD_URLS
Servers that are asked for missing debug files, separated by spaces.
.TP
.B SYMKIT_LIMITS
Changes the limits on what a damaged or hostile input may cost.
`

// synopses writes a line for the program or for each of its commands.
func synopses(b *strings.Builder, m modelProgram) {
	if len(m.Commands) == 0 {
		synopsis(b, m.Name, m.Arguments)
		return
	}
	for i, c := range m.Commands {
		name := m.Name + " " + c.Name
		if c.Default {
			name = m.Name
		}
		if i > 0 {
			b.WriteString(".br\n")
		}
		synopsis(b, name, c.Arguments)
	}
}

func synopsis(b *strings.Builder, name string, arguments []modelArgument) {
	fmt.Fprintf(b, ".B %s\n[\\fIOPTION\\fR]...", roff(name))
	for _, a := range arguments {
		text := "\\fI" + roff(a.Name) + "\\fR"
		if a.Repeated {
			text += "..."
		}
		if !a.Required {
			text = "[" + text + "]"
		}
		b.WriteString(" " + text)
	}
	b.WriteString("\n")
}

// manualText writes the text of --help after its first paragraph. Indented paragraphs are
// examples: command lines with their purposes.
func manualText(b *strings.Builder, text string) {
	var description, examples []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "  "):
			examples = append(examples, paragraph)
		case strings.TrimSpace(paragraph) != "" && paragraph != "Examples:":
			description = append(description, paragraph)
		}
	}

	if len(description) > 0 {
		b.WriteString(".SH DESCRIPTION\n")
	}
	for i, paragraph := range description {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(roff(paragraph) + "\n")
	}

	b.WriteString(".SH EXAMPLES\n")
	for _, example := range examples {
		command, meaning, explained := strings.Cut(strings.TrimSpace(example), "  ")
		fmt.Fprintf(b, ".TP\n.B %s\n", oneLine(command))
		if explained {
			b.WriteString(roff(strings.TrimSpace(meaning)) + "\n")
		} else {
			b.WriteString("\\&\n") // a line for .TP
		}
	}
}

func manualArguments(b *strings.Builder, arguments []modelArgument) {
	for _, a := range arguments {
		fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(a.Name), roff(a.Help))
	}
}

func manualFlags(b *strings.Builder, flags []modelFlag) {
	group := ""
	for _, f := range flags {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(b, ".SS %s\n", quote(strings.TrimSuffix(group, ":")))
		}

		names := "\\fB" + roff("--"+f.Name) + "\\fR"
		if f.Short != "" {
			names = "\\fB" + roff("-"+f.Short) + "\\fR, " + names
		}
		if f.Value != "" {
			names += "=\\fI" + roff(strings.Join(strings.Fields(f.placeholder()), " ")) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", names, roff(f.Help))
	}
}

// placeholder returns the placeholder of f's value: its values if these are few.
func (f modelFlag) placeholder() string {
	if len(f.Values) > 0 {
		return strings.Join(f.Values, "|")
	}
	return f.Value
}

// roff escapes text for roff: backslashes, hyphens that are typed, lines that begin
// like a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)

	// Lines are filled anyway; short ones are what tools that check pages want.
	var b strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case length+len(word) > manualLine:
			b.WriteByte('\n')
			length = 0
		default:
			b.WriteByte(' ')
		}
		if length == 0 && strings.HasPrefix(word, ".") {
			b.WriteString(`\&`)
		}
		b.WriteString(word)
		length += len(word) + 1
	}
	return b.String()
}

// manualLine is the length of a line of a page.
const manualLine = 78

// oneLine escapes text that is part of one line: the argument of a macro.
func oneLine(text string) string { return strings.ReplaceAll(roff(text), "\n", " ") }

// quote returns text as one argument of a macro.
func quote(text string) string { return `"` + strings.ReplaceAll(oneLine(text), `"`, `\(dq`) + `"` }
