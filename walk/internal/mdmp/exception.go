package mdmp

import (
	"fmt"

	"symkit/internal/wire"
)

// Exception is MINIDUMP_EXCEPTION_STREAM: why the process died.
type Exception struct {
	ThreadID uint32
	// Code is the exception: NTSTATUS (Windows), signal (Linux), Mach exception
	// (macOS). Flags refines it: si_code (Linux), code (macOS).
	Code, Flags uint32
	Record      uint64 // address of a nested exception's record
	// Address is the address of the fault (Linux, macOS) or of the instruction
	// (Windows).
	Address uint64
	// Parameters are as many as the system gave.
	Parameters []uint64
	Context    Location
}

const MaxParameters = 15 // EXCEPTION_MAXIMUM_PARAMETERS

// readException decodes MINIDUMP_EXCEPTION_STREAM. If the number of parameters is
// impossible, only the parameters are lost.
func (d *Dump) readException(c wire.Cursor) error {
	e := &Exception{ThreadID: c.U32()}
	c.Skip(4)
	e.Code, e.Flags, e.Record, e.Address = c.U32(), c.U32(), c.U64(), c.U64()
	at := c.Pos()
	n := c.U32()
	c.Skip(4)

	// The array always has MaxParameters elements in the file.
	params := make([]uint64, MaxParameters)
	for i := range params {
		params[i] = c.U64()
	}

	e.Context = location(&c)
	if c.Err() != nil {
		return c.Err()
	}

	// An exception without its parameters still names the thread, the code and the address.
	if n > MaxParameters {
		d.lose(ExceptionStream, &wire.Error{Section: Section, Offset: at, Err: ErrCount})
		n = 0
	}

	e.Parameters = params[:n]
	d.Exception = e
	return nil
}

// RequestingThread returns the index of the thread that crashed or requested the
// dump, or -1 if the dump does not name the thread or does not list it.
func (d *Dump) RequestingThread() int {
	switch b := d.Breakpad; {
	case d.Exception != nil:
		return d.ThreadByID(d.Exception.ThreadID)
	case b != nil && b.HasRequestingThread:
		return d.ThreadByID(b.RequestingThread)
	}
	return -1
}

// WroteDump reports whether a thread existed only to write the dump. The stack of
// such a thread is of no interest.
func (d *Dump) WroteDump(t *Thread) bool {
	return d.Breakpad != nil && d.Breakpad.HasDumpThread && d.Breakpad.DumpThread == t.ID
}

// ThreadContext decodes the registers of a thread. For the thread of the exception
// it prefers those in the exception stream, because the thread's own context is
// that of the exception handler.
func (d *Dump) ThreadContext(t *Thread) (Context, error) {
	if e := d.Exception; e != nil && e.ThreadID == t.ID && e.Context.Size != 0 {
		if c, err := d.Context(e.Context); err == nil {
			return c, nil
		}
	}
	return d.Context(t.Context)
}

// BreakpadInfo is MDRawBreakpadInfo.
type BreakpadInfo struct {
	HasDumpThread, HasRequestingThread bool
	DumpThread, RequestingThread       uint32
}

// readBreakpadInfo decodes MDRawBreakpadInfo.
func (d *Dump) readBreakpadInfo(c wire.Cursor) error {
	// Two bits of the first word say which of the thread ids are valid.
	valid := c.U32()
	b := &BreakpadInfo{valid&1 != 0, valid&2 != 0, c.U32(), c.U32()}
	if c.Err() == nil {
		d.Breakpad = b
	}
	return c.Err()
}

// Assertion is MDRawAssertionInfo: an assertion of the C library that failed.
type Assertion struct {
	Expression, Function, File Text
	Line                       uint32
	Type                       uint32 // 1: invalid parameter, 2: pure virtual call
}

// readAssertion decodes MDRawAssertionInfo.
func (d *Dump) readAssertion(c wire.Cursor) error {
	// Each of the three strings is an array of this many UTF-16 units.
	const units = 128
	a := &Assertion{fixed(&c, units), fixed(&c, units), fixed(&c, units), c.U32(), c.U32()}
	if c.Err() == nil {
		d.Assertion = a
	}
	return c.Err()
}

// String returns the assertion in the words of Breakpad's tool, or the empty string if a is
// nil.
func (a *Assertion) String() string {
	if a == nil {
		return ""
	}
	var out string
	switch a.Type {
	case 1:
		out = "Invalid parameter passed to library function"
	case 2:
		out = "Pure virtual function called"
	default:
		out = fmt.Sprintf("Unknown assertion type 0x%08x", a.Type)
	}

	// Strings that the writer left empty are left out of the text.
	for _, part := range [...]struct {
		before string
		text   Text
	}{{" ", a.Expression}, {" in function ", a.Function}, {", in file ", a.File}} {
		if part.text.Len() > 0 {
			out += part.before + part.text.String()
		}
	}
	if a.Line != 0 {
		out += fmt.Sprintf(" at line %d", a.Line)
	}
	return out
}
