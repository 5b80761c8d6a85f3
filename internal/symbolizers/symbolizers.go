// Package symbolizers answers as other symbolizers do: GNU's addr2line and LLVM's llvm-symbolizer, whose protocols
// profilers and sanitizers speak.
//
// A protocol is lines in and lines out. GNU and LLVM hold the options of a program, and append the answer for
// one line; Serve reads the lines of a stream.
package symbolizers

import (
	"path"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"symkit/lookup"
)

// rawName returns the name that a program shows for a frame, before it is demangled.
func rawName(f *lookup.Frame) string {
	if f.Linkage != "" {
		return f.Linkage
	}
	return f.Name
}

// appendName appends a name, with demangling as GNU's or LLVM's library does it.
func appendName(dst []byte, name string, readable bool, options ...demangle.Option) []byte {
	if readable && (strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "$")) {
		name = demangle.Filter(name, options...)
	}
	return append(dst, name...)
}

// appendFile appends the path of a source file, or its base name alone.
func appendFile(dst []byte, file string, base bool) []byte {
	if file == "" {
		return append(dst, "??"...)
	}
	if base {
		file = path.Base(file)
	}
	return append(dst, file...)
}
