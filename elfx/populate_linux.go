package elfx

import "golang.org/x/sys/unix"

// populate makes the system provide the pages of data at once: for each of many
// that is written as it comes it is interrupted. Where it cannot (before Linux
// 5.14), nothing is lost.
func populate(data []byte) { _ = unix.Madvise(data, unix.MADV_POPULATE_WRITE) }
