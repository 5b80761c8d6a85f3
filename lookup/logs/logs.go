// Package logs finds the addresses in lines of logs: reports of sanitizers, backtraces of C libraries, run-times and
// frameworks, tombstones of Android and OpenHarmony, traces and oopses of kernels, and their messages about processes.
//
//	text := logs.Append(nil, line, func(dst []byte, r *logs.Reference) ([]byte, bool) {
//		frames, err := files[r.Module].Frames(nil, r.Addr)
//		if err != nil || len(frames) == 0 {
//			return dst, false // the address stays in the line
//		}
//		return fmt.Appendf(dst, "%s at %s:%d", frames[0].Name, frames[0].File, frames[0].Line), true
//	})
package logs

import (
	"slices"
	"strings"

	"symkit/lookup"
)

// Reference is an address in a line.
type Reference struct {
	// From and To are the bytes of the line that name the address: [From, To).
	From, To int
	// Module is the path or the name of the file, "" if the line does not say.
	Module string
	// BuildID is that of the module, nil if the line does not say.
	BuildID []byte
	// Symbol is the name of the symbol that Addr is relative to, mangled or readable; "" if there is none.
	Symbol string
	// Size is the size of the symbol and of the padding after it, in bytes; 0 if the line does not say.
	Size uint64
	// Kind says what Addr is, if Symbol is "" and Mapping is not set: virtual, or relative.
	Kind lookup.Kind
	Addr uint64
	// Return states that Addr is a return address: the call is before it.
	Return bool
	// Offset is where the module's file begins in the file Module, an APK; 0: Module is the file itself.
	Offset uint64
	// Mapping, if its Limit is not 0, is the mapping of the module's code in a process: Addr is an address in memory.
	Mapping lookup.Mapping
}

// maxLine is the length of the lines that are searched, in bytes.
const maxLine = 1 << 14

// Find returns the addresses in a line, from left to right, those of one form: a line is of one log. It returns none
// for a line that is too long to be one of a log.
func Find(line string) []Reference {
	if len(line) > maxLine {
		return nil
	}
	for _, f := range forms() {
		if slices.ContainsFunc(f.needs, func(text string) bool { return !strings.Contains(line, text) }) {
			continue
		}
		var found []Reference
		for _, m := range f.expr.FindAllStringSubmatchIndex(line, -1) {
			r, ok := f.reference(line, m)
			if ok {
				found = append(found, r)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// Append appends the line to dst, with each reference replaced by what place appends for it. If place returns false,
// the reference stays.
func Append(dst []byte, line string, place func(dst []byte, r *Reference) ([]byte, bool)) []byte {
	at := 0
	for _, r := range Find(line) {
		dst = append(dst, line[at:r.From]...)
		with, ok := place(dst, &r)
		if !ok {
			with = append(dst, line[r.From:r.To]...)
		}
		dst, at = with, r.To
	}
	return append(dst, line[at:]...)
}
