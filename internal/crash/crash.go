// Package crash gives a panic an exit code of its own. Go ends a process with 2 after a panic,
// which the programs use for work that is done with losses.
//
// Only a deferred function of the goroutine that panics sees the panic. So the goroutines that do
// the work of a program defer Catch; in a program of somebody else, who has not called Exit, Catch
// does nothing. Fatal errors of the runtime (no memory, a deadlock) cannot be caught.
package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Code is the exit code after a panic (sysexits.h: EX_SOFTWARE).
const Code = 70

// maxFrames is how many calls are shown.
const maxFrames = 12

// ending is what Exit was called with, or nil.
var ending atomic.Pointer[end]

type end struct {
	name  string
	clean func()
	once  sync.Once
}

// Exit makes Catch end the process with Code. name is that of the program, for the message; clean is
// called before the end, and may be nil.
func Exit(name string, clean func()) { ending.Store(&end{name: name, clean: clean}) }

// Catch is deferred by goroutines. It ends the process after a panic, with a message and the
// functions that were running.
func Catch() {
	e := ending.Load()
	if e == nil {
		return
	}
	if r := recover(); r != nil {
		e.report(r)
	}
}

// Report ends the process, if Exit was called, for a panic that the caller has recovered in a
// deferred function.
func Report(r any) {
	if e := ending.Load(); e != nil {
		e.report(r)
	}
}

// report does not return. Of several goroutines that panic the first is shown.
func (e *end) report(r any) {
	text := fmt.Sprintf("panic: %v\n%s: error: a defect of this program, exit code %d; please report it with the input (SECURITY.md)\n%s",
		r, e.name, Code, trace())
	e.once.Do(func() {
		_, _ = os.Stderr.WriteString(text) // nobody is left to tell
		if e.clean != nil {
			e.clean()
		}
		os.Exit(Code)
	})
	select {}
}

// trace returns the calls that led to the panic, the innermost first.
func trace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var out strings.Builder
	panicked := false
	for n := 0; n < maxFrames; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
		case panicked && !strings.HasPrefix(f.Function, "runtime."):
			fmt.Fprintf(&out, "\t%s %s:%d\n", f.Function, filepath.Base(f.File), f.Line)
			n++
		}
		if !more {
			break
		}
	}
	return out.String()
}
