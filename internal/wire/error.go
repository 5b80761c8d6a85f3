package wire

import "symkit/located"

// Error is the located error, under the name that decoders use.
type Error = located.Error

// The failures of a Cursor. Decoders have sentinels of their own for errors in the meaning
// of the bytes. ErrSize: see Cursor.Uint.
var (
	ErrTruncated    = located.ErrTruncated
	ErrOverflow     = located.ErrOverflow
	ErrReserved     = located.ErrReserved
	ErrUnterminated = located.ErrUnterminated
	ErrSize         = located.ErrSize
	ErrOffset       = located.ErrOffset
)
