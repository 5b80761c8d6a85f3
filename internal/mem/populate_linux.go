package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// populate makes the system provide the pages of data at once: for each of many
// that is written as it comes it is interrupted. Where it cannot (before Linux
// 5.14), nothing is lost.
//
// The call is raw, so that Go does not take it for one that may block: it would look
// after it twenty thousand times a second, and give the processor to another thread.
func populate(data []byte) {
	// The address is that of data, and the length its length, for as long as the call takes.
	_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)), unix.MADV_POPULATE_WRITE)
}
