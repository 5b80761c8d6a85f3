package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// populate asks the system to provide all pages of data at once. Otherwise the first write
// to each page interrupts the program. populate does nothing where the system lacks the
// call (before Linux 5.14).
//
// The system call is raw, so that Go's runtime does not take it for one that may block: the
// runtime would look after the call twenty thousand times a second, and give the processor
// to another thread.
func populate(data []byte) {
	// The address is that of data, and the length its length, for as long as the call takes.
	_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)), unix.MADV_POPULATE_WRITE)
}
