package rawdump

import (
	"fmt"
	"time"

	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

const exceptionLayout layout = `MINIDUMP_EXCEPTION
  thread_id                                  = {x4}
{-4}  exception_record.exception_code            = {x4}
  exception_record.exception_flags           = {x4}
  exception_record.exception_record          = {x8}
  exception_record.exception_address         = {x8}
  exception_record.number_parameters         = {d4}
`

const (
	exceptionSize = 168
	maxParameters = 15 // EXCEPTION_MAXIMUM_PARAMETERS
)

// exception writes MINIDUMP_EXCEPTION_STREAM, with the registers.
func (p *printer) exception() {
	c := p.stream(mdmp.ExceptionStream)
	if c.Len() < exceptionSize {
		return
	}
	p.fields(exceptionLayout, c)

	// The array has maxParameters numbers, whatever their number is.
	c.Skip(uint64(exceptionLayout.size()) - 4)
	n := c.U32()
	c.Skip(4)
	for i := range uint32(maxParameters) {
		parameter := c.U64()
		if i < n {
			p.printf("  exception_record.exception_information[%2d] = %#x\n", i, parameter)
		}
	}

	size, rva := c.U32(), c.U32()
	p.printf("  thread_context.data_size                   = %d\n  thread_context.rva                         = %#x\n", size, rva)
	p.context(size, rva, "\n", "  (no context)\n\n    ")
}

const assertionSize = 3*256 + 8

// assertion writes MINIDUMP_ASSERTION_INFO.
func (p *printer) assertion() {
	c := p.stream(mdmp.AssertionInfoStream)
	if c.Len() < assertionSize {
		return
	}
	p.printf("MDAssertion\n")
	for _, name := range []string{"expression", "function", "file"} {
		text, _ := fixed(&c, 128)
		p.printf("  %-42s = %s\n", name, text)
	}
	p.fields(`  line                                       = {d4}
  type                                       = {d4}

`, c)
}

// breakpadInfo writes MINIDUMP_BREAKPAD_INFO. Each id has a bit that says that it is valid.
func (p *printer) breakpadInfo() {
	c := p.stream(mdmp.BreakpadInfoStream)
	if c.Len() < 12 {
		return
	}
	valid := c.U32()
	id := func(bit uint32) string {
		n := c.U32()
		return orInvalid(fmt.Sprintf("%#x", n), valid&bit != 0)
	}
	p.printf("MINIDUMP_BREAKPAD_INFO\n  validity             = %#x\n  dump_thread_id       = %s\n", valid, id(1))
	p.printf("  requesting_thread_id = %s\n\n", id(2))
}

// systemTime reads a SYSTEMTIME.
func systemTime(c *wire.Cursor) string {
	year, month := int(c.U16()), int(uint8(c.U16()))
	c.Skip(2) // the day of the week
	day, hour, minute, second := int(uint8(c.U16())), int(uint8(c.U16())), int(uint8(c.U16())), int(uint8(c.U16()))
	milliseconds := int(c.U16())

	// A date that the calendar does not have comes back as another one.
	t := time.Date(year, time.Month(month), day, hour, minute, second, milliseconds*int(time.Millisecond), time.UTC)
	if year > 9999 || t.Year() != year || int(t.Month()) != month || t.Day() != day || t.Hour() != hour || t.Minute() != minute || t.Second() != second {
		return "<invalid date>"
	}
	return t.Format(time.RFC3339Nano)
}
