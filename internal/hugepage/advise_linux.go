package hugepage

import "golang.org/x/sys/unix"

// Advise asks for huge pages for data, which begins with a page. Most systems
// give them only to who asks.
func Advise(data []byte) { _ = unix.Madvise(data, unix.MADV_HUGEPAGE) }
