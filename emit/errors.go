package emit

import (
	"errors"
	"fmt"
)

// Faults of a symbol file. The Reader wraps a fault in a *lineError inside a *located.Error.
var (
	// errOrder: the format does not allow the record at this place.
	errOrder = errors.New("record out of place")
	// errRecord: a line begins like no record.
	errRecord = errors.New("unknown record")
	// errMissing: the line ends before its last field.
	errMissing = errors.New("missing field")
	// errExtra: there is an extra space or field.
	errExtra = errors.New("extra space or field")
	// errNumber: a number has a wrong digit, such as upper-case hex.
	errNumber = errors.New("malformed number")
	// errRange: a number is too large for its field, or a range wraps.
	errRange = errors.New("number out of range")
	// errText: a name has a control character, a bidirectional control, or invalid UTF-8.
	errText = errors.New("control character or invalid UTF-8")
	// errTooLong: consumers cut or reject a line, name or list of ranges of this length.
	errTooLong = errors.New("too long")
	// errUnterminated: the last line has no newline.
	errUnterminated = errors.New("last line without newline")
	// errReference: no earlier record has the FILE or INLINE_ORIGIN number.
	errReference = errors.New("number of no earlier record")
	// errRules: the rules are not "REG: EXPRESSION" pairs.
	errRules = errors.New("malformed rules")
	// errOldForm: an INLINE_ORIGIN can be read as the record's old form, which has a file
	// number before the name.
	errOldForm = errors.New("name begins with a number")
)

// lineError is an error with the number of its line, from 1.
type lineError struct {
	Line int
	Err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *lineError) Unwrap() error { return e.Err }

// section is the name of the text in errors.
const section = "symbols"
