package mdmp

import "errors"

// The errors of the decoders, in addition to those of package located.
var (
	// ErrSignature: the file does not begin with MDMP.
	ErrSignature = errors.New("not a minidump")
	// ErrVersion: the low half of the header's version is not 0xa793.
	ErrVersion = errors.New("unknown version of the format")
	// ErrMissing: the dump lacks a required stream.
	ErrMissing = errors.New("the stream is missing")
	// ErrCount: a count does not fit the bytes that hold the records.
	ErrCount = errors.New("count does not fit the size")
	// ErrRecordSize: the size of a header or record is below its smallest version.
	ErrRecordSize = errors.New("impossible size of a record")
	// ErrDuplicate: two streams of one type; the last one counts.
	ErrDuplicate = errors.New("duplicate stream")
	// ErrString: a string whose size is odd, or longer than any name.
	ErrString = errors.New("impossible size of a string")
	// ErrRange: a range of addresses that is empty or goes past the end of the
	// address space.
	ErrRange = errors.New("impossible range of addresses")
	// ErrOverlap: records overlap: their sizes together exceed the size of the file.
	ErrOverlap = errors.New("overlapping records")
	// ErrLine: a line of text that does not have the format of the file.
	ErrLine = errors.New("malformed line")
	// ErrContext: a thread context of another CPU than the dump's.
	ErrContext = errors.New("context of another CPU")
	// ErrCPU: a CPU whose contexts are not known.
	ErrCPU = errors.New("unknown CPU")
)

// Section is the name of the file in errors: their offsets count from its start.
const Section = "minidump"
