package mdmp

import (
	"fmt"

	"symkit/internal/wire"
	"symkit/walk"
)

// readThreads decodes MINIDUMP_THREAD_LIST. A stack outside the file is lost,
// the thread is not.
func (d *Dump) readThreads(c wire.Cursor) error {
	n, all := list[Thread](&c)
	d.Threads = make([]Thread, 0, n)
	for t := range all {
		// A thread without its stack still has its registers.
		_, err := d.Range(&t.Stack)
		d.lose(ThreadListStream, err)
		d.Threads = append(d.Threads, *t)
	}
	return c.Err()
}

// ThreadByID returns the index of a thread, or -1 if there is none with the id.
func (d *Dump) ThreadByID(id uint32) int {
	for i := range d.Threads {
		if d.Threads[i].ID == id {
			return i
		}
	}
	return -1
}

// readThreadNames decodes MINIDUMP_THREAD_NAME_LIST. A name that cannot be
// read is lost alone.
func (d *Dump) readThreadNames(c wire.Cursor) error {
	n, all := list[threadName](&c)
	d.ThreadNames = make([]ThreadName, 0, n)
	for t := range all {
		name, err := d.name(t.RVA, t.At)
		if err != nil {
			d.lose(ThreadNamesStream, err)
			continue
		}
		d.ThreadNames = append(d.ThreadNames, ThreadName{t.ID, name})
	}
	return c.Err()
}

// readThreadInfos checks MINIDUMP_THREAD_INFO_LIST.
func (d *Dump) readThreadInfos(c wire.Cursor) error {
	table[threadInfo](&c, sizeOf[threadInfo](), false)
	return c.Err()
}

// readException decodes MINIDUMP_EXCEPTION_STREAM. If the number of parameters is
// impossible, only the parameters are lost.
func (d *Dump) readException(c wire.Cursor) error {
	e := &Exception{}
	read(&c, &e.ExceptionRecord)
	if c.Err() != nil {
		return c.Err()
	}

	// An exception without its parameters still names the thread, the code and the address.
	n := e.Count
	if n > MaxParameters {
		d.lose(ExceptionStream, &wire.Error{Section: Section, Offset: e.CountAt, Err: ErrCount})
		n = 0
	}
	e.Parameters = e.Information[:n]
	d.Exception = e
	return nil
}

// RequestingThread returns the index of the thread that crashed or requested the
// dump, or -1 if the dump does not name the thread or does not list it.
func (d *Dump) RequestingThread() int {
	switch b := d.Breakpad; {
	case d.Exception != nil:
		return d.ThreadByID(d.Exception.ThreadID)
	case b != nil && b.Validity&2 != 0:
		return d.ThreadByID(b.RequestingThread)
	}
	return -1
}

// WroteDump reports whether a thread existed only to write the dump. The stack of
// such a thread is of no interest.
func (d *Dump) WroteDump(t *Thread) bool {
	return d.Breakpad != nil && d.Breakpad.Validity&1 != 0 && d.Breakpad.DumpThread == t.ID
}

// ThreadContext decodes the registers of a thread. For the thread of the exception
// it prefers those in the exception stream, because the thread's own context is
// that of the exception handler.
func (d *Dump) ThreadContext(t *Thread) (walk.Registers, error) {
	e := d.Exception
	if e != nil && e.ThreadID == t.ID && e.Context.Size != 0 {
		c, err := d.Context(e.Context)
		if err == nil {
			return c, nil
		}
	}
	return d.Context(t.Context)
}

// readBreakpadInfo decodes MDRawBreakpadInfo.
func (d *Dump) readBreakpadInfo(c wire.Cursor) error {
	return whole(&c, &d.Breakpad)
}

// readAssertion decodes MDRawAssertionInfo.
func (d *Dump) readAssertion(c wire.Cursor) error {
	return whole(&c, &d.Assertion)
}

// whole reads the only record of a stream.
func whole[T any](c *wire.Cursor, into **T) error {
	record := new(T)
	read(c, record)
	if c.Err() == nil {
		*into = record
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
		units  []uint16
	}{{" ", a.Expression[:]}, {" in function ", a.Function[:]}, {", in file ", a.File[:]}} {
		if part.units[0] != 0 {
			out += part.before + TextOf(part.units).String()
		}
	}
	if a.Line != 0 {
		out += fmt.Sprintf(" at line %d", a.Line)
	}
	return out
}
