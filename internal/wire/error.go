package wire

import (
	"errors"
	"fmt"
)

// Sentinels for the failures of a Cursor. Decoders have sentinels of their own for
// what the bytes mean.
var (
	// ErrTruncated: the data ends inside the value.
	ErrTruncated = errors.New("truncated")
	// ErrOverflow: a LEB128 does not fit 64 bits.
	ErrOverflow = errors.New("LEB128 does not fit 64 bits")
	// ErrReserved: an initial length in the range DWARF reserves (DWARF 5 §7.2.2).
	ErrReserved = errors.New("reserved initial length")
	// ErrUnterminated: a string without its NUL.
	ErrUnterminated = errors.New("unterminated string")
	// ErrSize: a size that no number has; see Cursor.Uint.
	ErrSize = errors.New("impossible size of a number")
	// ErrOffset: a position outside the section.
	ErrOffset = errors.New("offset outside the section")
)

// Error is a failure with its place in the input. All decoders return errors of this
// type; errors.Is finds the sentinel in Err.
type Error struct {
	// Section names the bytes Offset counts in: a section (".debug_line"), a
	// header ("ELF header"), a note, a stream.
	Section string
	// Offset is in bytes from the start of Section.
	Offset int
	Err    error
}

// Error returns "section+0xoffset: what". A caller that knows the file puts the
// file's name in front.
func (e *Error) Error() string {
	return fmt.Sprintf("%s+%#x: %v", Printable(e.Section), e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
