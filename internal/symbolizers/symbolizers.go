// Package symbolizers answers as other symbolizers do: GNU's addr2line and LLVM's llvm-symbolizer, whose protocols
// profilers and sanitizers speak.
//
// A protocol is lines in and lines out. GNU and LLVM hold the options of a program, and append the answer for
// one line; Serve reads the lines of a stream. A line break in a name is escaped, so that no answer has a line too many.
package symbolizers

import (
	"path"

	"github.com/ianlancetaylor/demangle"

	"symkit/internal/printable"
	"symkit/lookup"
)

// rawName returns the name that a program shows for a frame, before it is demangled.
func rawName(f *lookup.Frame) string {
	if f.Linkage != "" {
		return f.Linkage
	}
	return f.Name
}

// How GNU's and LLVM's libraries demangle. Of a forged name, a few bytes can stand for gigabytes of text.
var (
	gnuStyle  = []demangle.Option{demangle.MaxLength(maxTextLog)}
	llvmStyle = []demangle.Option{demangle.MaxLength(maxTextLog), demangle.LLVMStyle}
)

// maxTextLog is the logarithm of the most bytes that a demangled name has. maxName is the most that a linkage name may
// have to be demangled: each byte can be a level of the recursion.
const (
	maxTextLog = 16
	maxName    = 1 << 14
)

// shownName returns a name, demangled if it is to be readable.
func shownName(name string, readable bool, style []demangle.Option) (text string) {
	if !readable || len(name) < 2 || len(name) > maxName || name[0] != '_' && name[0] != '.' && name[0] != '$' {
		return name
	}
	defer func() {
		if recover() != nil { // a forged name
			text = name
		}
	}()
	return demangle.Filter(name, style...)
}

// shownFile returns the path of a source file, or its base name alone.
func shownFile(file string, base bool) string {
	if base && file != "" {
		return path.Base(file)
	}
	return file
}

// appendText appends a text of a file, or ?? for none.
func appendText(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "??"...)
	}
	return append(dst, printable.String(text)...)
}
