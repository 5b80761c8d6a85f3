package linter

import (
	"errors"
	"fmt"
	"strings"

	"symkit/check/internal/checks"
	"symkit/check/internal/eval"
	"symkit/emit"
)

// win checks STACK WIN records: their type, their sizes, and that the program string can be run
// (reference: Breakpad's stackwalker_x86.cc).
func (l *linter) win() {
	c, s := l.c, l.s
	if len(s.Wins) == 0 {
		return
	}
	c.Begin(checks.Win, "records")
	c.Compared(checks.Win, uint64(len(s.Wins)))
	for i := range s.Wins {
		for _, err := range winErrors(&s.Wins[i]) {
			l.wrong(checks.Win, s.WinLines[i], s.Wins[i].Addr, "%v", err)
		}
	}
}

// Types of STACK WIN records that consumers use.
const (
	winFPO       = 0
	winFrameData = 4
)

// winErrors returns the faults of one record.
func winErrors(w *emit.StackWin) (errs []error) {
	if w.Type != winFPO && w.Type != winFrameData {
		errs = append(errs, fmt.Errorf("type %x: consumers use 0 and 4 only", w.Type))
	}
	if (w.Type == winFrameData) != (len(w.Program) > 0) {
		errs = append(errs, errors.New("a program string belongs to type 4, and only to it: consumers drop the record"))
	}
	if w.CodeSize == 0 {
		errs = append(errs, errors.New("a size of 0: consumers drop it"))
	}
	if uint64(w.PrologueSize)+uint64(w.EpilogueSize) > uint64(w.CodeSize) {
		errs = append(errs, errors.New("prologue and epilogue are larger than the code"))
	}
	if err := winProgram(string(w.Program)); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// winVars are the variables that a program starts with. Of the variables whose names begin with a
// dot, a program may assign only these.
var winVars = map[string]bool{
	"$ebp": true, "$esp": true, "$ebx": true, ".cbCalleeParams": true, ".cbSavedRegs": true, ".cbLocals": true,
	".cbParams": true, ".raSearch": true, ".raSearchStart": true, ".undef": true,
}

// winProgram checks that each operator has its operands, that each assignment is to a variable, and
// that $eip and $esp are set.
func winProgram(text string) error {
	if text == "" {
		return nil
	}

	// The program runs on names of variables instead of values.
	set := map[string]bool{}
	var stack []string // names of variables, "" for a value
	for token := range strings.FieldsSeq(text) {
		switch {
		case token == "^":
			if len(stack) < 1 {
				return fmt.Errorf("program: %w", eval.ErrStack)
			}
			stack[len(stack)-1] = ""
		case len(token) == 1 && strings.Contains("+-*/%@=", token):
			if len(stack) < 2 {
				return fmt.Errorf("program: %w", eval.ErrStack)
			}

			target := stack[len(stack)-2]
			stack = stack[:len(stack)-2]
			if token == "=" {
				if target == "" {
					return errors.New("program: assigns to a value")
				}
				set[target] = true
				continue
			}
			stack = append(stack, "")
		case token[0] == '$' || token[0] == '.':
			stack = append(stack, token)
		default:
			if strings.Trim(strings.TrimPrefix(token, "-"), "0123456789") != "" {
				return fmt.Errorf("program: %w %q", eval.ErrToken, token)
			}
			stack = append(stack, "")
		}
	}

	// The caller needs both registers.
	if !set["$eip"] || !set["$esp"] {
		return errors.New("program: does not set $eip and $esp")
	}
	for v := range set {
		if !winVars[v] && v[0] == '.' {
			return fmt.Errorf("program: assigns to %s", v)
		}
	}
	return nil
}
