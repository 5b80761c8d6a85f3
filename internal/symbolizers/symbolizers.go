// Package symbolizers answers as other symbolizers do: GNU's addr2line and LLVM's llvm-symbolizer, whose protocols
// profilers and sanitizers speak.
//
// A protocol is lines in and lines out. GNU and LLVM hold the options of a program, and append the answer for
// one line; Serve reads the lines of a stream. A line break in a name is escaped, so that no answer has a line too many.
package symbolizers

import (
	"path"
	"strconv"

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

// framesAt returns the frames at an address, in the memory of c. Other symbolizers have no names for the slots of
// procedure linkage tables.
func (c *Scratch) framesAt(f *lookup.File, addr uint64) []lookup.Frame {
	c.frames, _ = c.Sweep.Frames(f, c.frames[:0], addr) // damage is reported when the file is closed
	if len(c.frames) > 0 && c.frames[0].Stub {
		return c.frames[:0]
	}
	return c.frames
}

// shownFile returns the path of a source file, or its base name alone.
func shownFile(file string, base bool) string {
	if base && file != "" {
		return path.Base(file)
	}
	return file
}

// appendDiscriminator appends what follows a line that has several blocks of code.
func appendDiscriminator(dst []byte, n uint32) []byte {
	dst = strconv.AppendUint(append(dst, " (discriminator "...), uint64(n), 10)
	return append(dst, ')')
}

// appendText appends a text of a file, or ?? for none.
func appendText(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "??"...)
	}
	return append(dst, printable.String(text)...)
}
