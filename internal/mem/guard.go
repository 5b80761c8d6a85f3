package mem

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"

	"symkit/internal/crash"
)

// ErrChanged: a mapped file was truncated, or its disk failed, while its bytes
// were in use.
var ErrChanged = errors.New("file changed while it was read")

// Guard runs fn and returns its error, or ErrChanged if fn touched a page of a mapped file
// that is no longer there. Without Guard the kernel's SIGBUS ends the process. Every
// goroutine that reads the bytes of a Mapping needs a Guard of its own; nesting is
// harmless.
//
// Guard returns ErrChanged only if the address of the fault lies in a live Mapping. Any
// other fault is a defect of this module, such as a read of a released Buffer, and must
// never be reported as a change of the user's file. Such a fault stays a panic, like every
// panic that is no fault, and the process crashes with the stack of the fault.
func Guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch r := recover(); {
		case r == nil:
		case isFileFault(r):
			err = ErrChanged
		default:
			crash.Report(r) // before the calls that led to the panic are gone
			panic(r)
		}
	}()
	return fn()
}

// isFileFault reports whether r is the panic of a memory fault in a live file
// mapping. runtime/debug.SetPanicOnFault documents the Addr method.
func isFileFault(r any) bool {
	if _, ok := r.(runtime.Error); !ok {
		return false
	}
	fault, ok := r.(interface{ Addr() uintptr })
	return ok && files.contain(fault.Addr())
}

// registry is the address ranges of live file mappings: the end of each by its
// start.
type registry struct {
	mu   sync.Mutex
	ends map[uintptr]uintptr
}

var files = registry{ends: map[uintptr]uintptr{}}

// add registers a mapping, whose last page may be longer than the file.
func (r *registry) add(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()

	start, page := address(data), uintptr(pageSize)
	r.ends[start] = start + (uintptr(len(data))+page-1)/page*page
}

func (r *registry) remove(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.ends, address(data))
}

func (r *registry) contain(addr uintptr) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	for start, end := range r.ends {
		if start <= addr && addr < end {
			return true
		}
	}
	return false
}

// address returns the address of data. Nothing is read through the number.
func address(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }
