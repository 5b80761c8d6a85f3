package mem

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// ErrChanged: a mapped file was truncated, or its disk failed, while its bytes
// were in use.
var ErrChanged = errors.New("file changed while it was read")

// nilPage is the size of the page that is never mapped. A fault in it is a nil
// pointer of ours, not a file that shrank.
const nilPage = 4096

// Guard runs fn and returns its error, or ErrChanged when fn touched a page of
// a mapped file that is no longer there. Without it the kernel's SIGBUS ends
// the process. Every goroutine that reads bytes of a mapped file needs a Guard of its
// own; nesting is harmless. Every other panic passes through.
func Guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch r := recover(); {
		case r == nil:
		case isFault(r):
			err = ErrChanged
		default:
			panic(r)
		}
	}()
	return fn()
}

// isFault tells whether r is the panic of a memory fault at a real address.
// runtime/debug.SetPanicOnFault documents the Addr method.
func isFault(r any) bool {
	if _, ok := r.(runtime.Error); !ok {
		return false
	}
	fault, ok := r.(interface{ Addr() uintptr })
	return ok && fault.Addr() >= nilPage
}
