package signature

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	javaLine    = regexp.MustCompile(`\.java:\p{Nd}+\)$`)
	javaAddress = regexp.MustCompile(`@[0-9a-f]{8}`)
	lineBreaks  = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n", "\x1e", "\n",
		"\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
)

// javaStack returns the signature of a Java stack trace: the exception, its description and
// the method that threw it.
func javaStack(trace string) string {
	lines := strings.Split(strings.TrimSuffix(lineBreaks.Replace(trace), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimFunc(lines[i], isSpace)
	}

	class, description, ok := strings.Cut(lines[0], ":")
	if ok {
		class = strings.TrimFunc(class, isSpace)
		description = strings.TrimFunc(javaAddress.ReplaceAllLiteralString(description, "@<addr>"), isSpace)
	}
	method := ""
	if len(lines) > 1 {
		method = javaLine.ReplaceAllLiteralString(lines[1], ".java)")
	}

	// A description has a colon after it only where it ends in an address: signatures have been
	// like this from the beginning.
	text := join(": ", class, join(" ", description, method))
	if strings.HasSuffix(description, "<addr>") {
		text = join(": ", class, description, method)
	}
	if len([]rune(text)) > maxLength {
		text = class + ": " + method
	}
	return text
}

// join joins the texts that are not empty.
func join(separator string, texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, separator)
}

// javaException returns the signature of the annotation JavaException: the class of the first
// exception and its innermost frame.
func javaException(annotation json.RawMessage) string {
	const unexpected = "EMPTY: Java exception not in expected format"
	type frame struct{ Module, Function, Filename string }
	var value struct {
		Exception struct {
			Values []struct{ Stacktrace map[string]json.RawMessage }
		}
	}
	err := json.Unmarshal(annotation, &value)
	if err != nil || len(value.Exception.Values) == 0 || len(value.Exception.Values[0].Stacktrace) == 0 {
		return unexpected
	}

	// The first exception has caused the others.
	var trace struct {
		Module string
		Type   *string
		Frames []frame
	}
	fields := value.Exception.Values[0].Stacktrace
	for name, into := range map[string]any{"module": &trace.Module, "type": &trace.Type, "frames": &trace.Frames} {
		if fields[name] != nil && json.Unmarshal(fields[name], into) != nil {
			return unexpected
		}
	}
	class := "Unknown"
	if trace.Type != nil {
		class = *trace.Type
	}
	if trace.Module != "" && class != "" {
		class = trace.Module + "." + class
	}
	if len(trace.Frames) == 0 {
		return class
	}

	f := trace.Frames[0]
	at := join(".", f.Module, f.Function)
	switch {
	case at == "":
		at = "unknown"
	case f.Filename != "":
		at += "(" + f.Filename + ")"
	}
	return class + ": at " + at
}
