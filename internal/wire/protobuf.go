package wire

import "errors"

// errFieldType: a field has a type that proto3 lacks, such as a group.
var errFieldType = errors.New("unknown type of a field")

// Field is a field of a protobuf message.
type Field struct {
	Number uint64
	Value  uint64 // of a number
	Sub    Cursor // over a message, a string or bytes; empty for a number
}

// Text returns the bytes of a string.
func (f *Field) Text() string { return string(f.Sub.Rest()) }

// Field reads the next field of a message (Protocol Buffers, "Encoding").
func (c *Cursor) Field() (f Field) {
	at := c.Pos()
	tag := c.ULEB()
	f.Number = tag >> 3
	switch tag & 7 {
	case 0:
		f.Value = c.ULEB()
	case 1:
		f.Value = c.U64()
	case 2:
		f.Sub = c.Sub(c.ULEB())
	case 5:
		f.Value = uint64(c.U32())
	default:
		c.Fail(at, errFieldType)
	}
	return f
}
