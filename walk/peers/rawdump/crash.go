package rawdump

import (
	"time"

	"symkit/walk/internal/mdmp"
)

// exception writes MINIDUMP_EXCEPTION_STREAM, with the registers.
func (p *printer) exception() {
	e := p.d.Exception
	if e == nil {
		return
	}
	p.printf("MINIDUMP_EXCEPTION\n")
	p.form(mdmp.Form{Width: 42, Elements: int(min(e.Count, mdmp.MaxParameters))}, e.ExceptionRecord)
	p.context(e.Context, "\n", "  (no context)\n\n    ")
}

// assertion writes MINIDUMP_ASSERTION_INFO.
func (p *printer) assertion() {
	a := p.d.Assertion
	if a == nil {
		return
	}
	p.printf("MDAssertion\n")
	p.line(42, "expression", wide(mdmp.TextOf(a.Expression[:]), ""))
	p.line(42, "function", wide(mdmp.TextOf(a.Function[:]), ""))
	p.line(42, "file", wide(mdmp.TextOf(a.File[:]), ""))
	p.form(mdmp.Form{Width: 42}, *a)
	p.printf("\n")
}

// breakpadInfo writes MINIDUMP_BREAKPAD_INFO. Each id has a bit that says that it is valid.
func (p *printer) breakpadInfo() {
	b := p.d.Breakpad
	if b == nil {
		return
	}
	p.printf("MINIDUMP_BREAKPAD_INFO\n")
	p.form(mdmp.Form{Width: 20, Flags: b.Validity}, *b)
	p.printf("\n")
}

// systemTime returns the text of a SYSTEMTIME.
func systemTime(s mdmp.SystemTime) string {
	year, month, day := int(s.Year), int(uint8(s.Month)), int(uint8(s.Day))
	hour, minute, second := int(uint8(s.Hour)), int(uint8(s.Minute)), int(uint8(s.Second))

	// A date that the calendar does not have comes back as another one.
	t := time.Date(year, time.Month(month), day, hour, minute, second, int(s.Milliseconds)*int(time.Millisecond), time.UTC)
	if year > 9999 || t.Year() != year || int(t.Month()) != month || t.Day() != day || t.Hour() != hour || t.Minute() != minute || t.Second() != second {
		return "<invalid date>"
	}
	return t.Format(time.RFC3339Nano)
}
