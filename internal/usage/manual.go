package usage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// manual returns the manual page of a program or of a command, in the man macros of roff(7),
// from the same model and text as --help.
func manual(src Source, p Program, related []string) []byte {
	date := ""
	if !src.Date.IsZero() {
		date = src.Date.Format("2006-01-02")
	}
	name := pageName(p.Name)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s %s \"User Commands\"\n", `"`+strings.ToUpper(name)+`"`, `"`+date+`"`, quote("symkit "+src.Version))
	b.WriteString(".nh\n.ad l\n") // no hyphens in names of flags

	summary, rest, _ := strings.Cut(p.Description, "\n\n")
	summary = strings.TrimSuffix(strings.Join(strings.Fields(summary), " "), ".")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", oneLine(name), oneLine(strings.ToLower(summary[:1])+summary[1:]))

	b.WriteString(".SH SYNOPSIS\n")
	synopses(&b, p)
	text := splitText(rest)
	if len(text.description) > 0 {
		b.WriteString(".SH DESCRIPTION\n" + strings.Join(text.description, "\n.PP\n") + "\n")
	}

	b.WriteString(".SH OPTIONS\n")
	manualArguments(&b, p.main().Arguments)
	manualFlags(&b, p.main().Flags)
	manualCommands(&b, p)
	text.write(&b)
	manualEnvironment(&b, p)

	var others []string
	for _, other := range append(slices.Clone(Programs), related...) {
		ref := fmt.Sprintf(".BR %s (1)", oneLine(other))
		if other != name && !slices.Contains(others, ref) {
			others = append(others, ref)
		}
	}
	b.WriteString(".SH SEE ALSO\n" + strings.Join(others, " ,\n") + "\n")
	return []byte(b.String())
}

// manualCommands writes the list of commands, which have pages of their own.
func manualCommands(b *strings.Builder, p Program) {
	if len(p.named()) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	for _, c := range p.named() {
		name := p.Name + " " + c.Name
		fmt.Fprintf(b, ".TP\n.B %s\n%s\nSee\n.BR %s (1).\n", oneLine(name), roff(c.Help), oneLine(pageName(name)))
	}
}

// manualEnvironment writes the variables that a program reads.
func manualEnvironment(b *strings.Builder, p Program) {
	if len(p.Environment) > 0 {
		b.WriteString(".SH ENVIRONMENT\n")
	}
	for _, v := range p.Environment {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", oneLine(v.Name), roff(v.Help))
	}
}

// synopses writes a line for the program and for each of its commands.
func synopses(b *strings.Builder, p Program) {
	synopsis(b, p.Name, p.main().Arguments)
	for _, c := range p.named() {
		b.WriteString(".br\n")
		synopsis(b, p.Name+" "+c.Name, c.Arguments)
	}
}

func synopsis(b *strings.Builder, name string, arguments []Argument) {
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

// helpText is the text of --help after its first paragraph, in parts.
type helpText struct {
	description []string // paragraphs in roff
	examples    []string // command lines with their purposes
	exits       string   // "0 done, 1 failed"
}

// splitText finds the parts: indented paragraphs are examples, one paragraph lists the exit
// codes.
func splitText(text string) (h helpText) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		exits, about := strings.CutPrefix(paragraph, "Exit codes: ")
		switch {
		case strings.HasPrefix(paragraph, "  "):
			h.examples = append(h.examples, paragraph)
		case about:
			h.exits = strings.TrimSuffix(strings.Join(strings.Fields(exits), " "), ".")
		case strings.TrimSpace(paragraph) != "" && paragraph != "Examples:":
			h.description = append(h.description, roff(paragraph))
		}
	}
	return h
}

// defect is the exit code that all programs share (internal/crash).
const defect = ", 70 a defect of the program: please report it, with the input"

// exitCode matches the begin of an exit code's meaning.
var exitCode = regexp.MustCompile(`(?:^|, )(\d+) `)

// write writes the sections of examples and of exit codes.
func (h helpText) write(b *strings.Builder) {
	if len(h.examples) > 0 {
		b.WriteString(".SH EXAMPLES\n")
	}
	for _, example := range h.examples {
		command, meaning, explained := strings.Cut(strings.TrimSpace(example), "  ")
		fmt.Fprintf(b, ".TP\n.B %s\n", oneLine(command))
		if explained {
			b.WriteString(roff(strings.TrimSpace(meaning)) + "\n")
		} else {
			b.WriteString("\\&\n") // a line for .TP
		}
	}

	if h.exits == "" {
		return
	}
	b.WriteString(".SH EXIT STATUS\n")
	if end := strings.LastIndex(h.exits, ", 80 "); end >= 0 {
		h.exits = h.exits[:end] + defect + h.exits[end:]
	} else {
		h.exits += defect
	}
	starts := exitCode.FindAllStringSubmatchIndex(h.exits, -1)
	for i, m := range starts {
		end := len(h.exits)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		meaning := h.exits[m[1]:end]
		fmt.Fprintf(b, ".TP\n.B %s\n%s.\n", h.exits[m[2]:m[3]], roff(strings.ToUpper(meaning[:1])+meaning[1:]))
	}
}

func manualArguments(b *strings.Builder, arguments []Argument) {
	for _, a := range arguments {
		fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(a.Name), roff(a.Help))
	}
}

func manualFlags(b *strings.Builder, flags []Flag) {
	group := ""
	for _, f := range flags {
		if f.Group != group {
			group = f.Group
			fmt.Fprintf(b, ".SS %s\n", quote(strings.TrimSuffix(group, ":")))
		}

		names := "\\fB" + strings.Join(escaped(f.spellings()), "\\fR, \\fB") + "\\fR"
		if f.Value != "" {
			between := "="
			if f.Name == "" {
				between = " "
			}
			names += between + "\\fI" + oneLine(f.placeholder()) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", names, roff(f.Help))
	}
}

// escaped returns texts as roff.
func escaped(texts []string) []string {
	for i, text := range texts {
		texts[i] = roff(text)
	}
	return texts
}

// placeholder returns the placeholder of f's value: its values if these are few.
func (f Flag) placeholder() string {
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
