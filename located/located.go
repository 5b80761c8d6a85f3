// Package located has the error that all decoders of symkit return: what is wrong, and
// at which offset of which part of the input.
//
//	var damage *located.Error
//	if errors.As(err, &damage) {
//		fmt.Println(damage.Section, damage.Offset, damage.Err)
//	}
//
// The cause is a sentinel: one of this package if a value cannot be read at all, or
// one of the decoder's package if the value has no meaning. errors.Is finds it. A
// package that knows the path of the file puts the path in front, so that the text of
// an error is "path: section+0xoffset: what".
package located

import (
	"errors"
	"fmt"

	"symkit/internal/printable"
)

// Causes that all decoders have in common.
var (
	// ErrTruncated: the data ends inside the value.
	ErrTruncated = errors.New("truncated")
	// ErrOverflow: a LEB128 does not fit 64 bits.
	ErrOverflow = errors.New("LEB128 does not fit 64 bits")
	// ErrReserved: an initial length in the range DWARF reserves (DWARF 5 §7.2.2).
	ErrReserved = errors.New("reserved initial length")
	// ErrUnterminated: a string without its NUL.
	ErrUnterminated = errors.New("unterminated string")
	// ErrSize: a size that no number has, such as an address size of 3 bytes.
	ErrSize = errors.New("impossible size of a number")
	// ErrOffset: a position outside the section.
	ErrOffset = errors.New("offset outside the section")
)

// Error is a failure with its place in the input.
type Error struct {
	// Section names the bytes that Offset counts in: a section (".debug_line"), a
	// header ("ELF header"), a note, a stream of a minidump, "symbols" for a symbol file.
	Section string
	// Offset is in bytes from the start of Section. For a compressed section, the
	// offset is that in the uncompressed bytes, unless the compression is damaged.
	Offset int
	// Err is the cause.
	Err error
}

// Error returns "section+0xoffset: what". Characters of the section's name that would
// control a terminal are escaped.
func (e *Error) Error() string {
	return fmt.Sprintf("%s+%#x: %v", printable.String(e.Section), e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
