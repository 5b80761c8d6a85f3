package bounds

import (
	"symkit/internal/limitof"
	"symkit/limits"
)

// memberBytes is the least size of a member in an uncompressed archive: a header of ar or the
// first blocks of other formats.
const memberBytes = 64

// Members returns how many ELF files and archives a package or an archive of n bytes may have
// before they cost more memory than the bytes pay for. Of 323 packages
// of Debian, the one with the most members for its size (grub-pc-dbg) has one for 11,000 bytes.
func Members(l limits.Limits, n uint64) uint64 { return l.Max(limitof.Members, MembersSize(n)) }

// MembersSize returns the size by which the limit members bounds the members of n bytes.
func MembersSize(n uint64) uint64 { return n / memberBytes }
