package main

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"symkit/test/testfile"
)

// maxStderr bounds a program's standard error without -v, in bytes.
const maxStderr = 16 << 10

// text is the output of a process. Its Write notes the first character that must not reach a
// terminal.
type text struct {
	rest    []byte // the start of a character
	bad     error
	answers int  // lines that do not begin with a blank, as an inlined call of an answer does
	last    byte // the last one written
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	if t.bad != nil {
		return len(p), nil
	}
	for _, c := range p {
		if c != ' ' && (t.last == '\n' || t.last == 0) {
			t.answers++
		}
		t.last = c
	}
	all := append(t.rest, p...)
	end := len(all)

	// A write can end inside a character: its start waits for the next write.
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(all[i]) {
			if !utf8.FullRune(all[i:]) {
				end = i
			}
			break
		}
	}

	t.bad = testfile.Unprintable(all[:end])
	t.rest = append([]byte(nil), all[end:]...)
	return len(p), nil
}

// judgeText returns the fault in the output of a process, or the empty string.
func judgeText(s step, code int, stdout *text, stderr string) string {
	_, questions := s.command()
	switch bad := testfile.Unprintable([]byte(stderr)); {
	case stdout.bad != nil:
		return fmt.Sprintf("a control character on stdout: %v", stdout.bad)
	case bad != nil:
		return fmt.Sprintf("a control character on stderr: %v", bad)
	case code == 0 && len(questions) > 0 && stdout.answers != len(questions):
		return fmt.Sprintf("%d answers to %d questions", stdout.answers, len(questions))
	case len(stderr) > maxStderr && !slices.Contains(s.args, "-v"):
		return fmt.Sprintf("%d bytes on stderr", len(stderr))
	}
	return ""
}
