package minidump

import "symkit/walk/internal/mdmp"

const (
	accessViolation    = 0xc0000005
	inPageError        = 0xc0000006
	stackBufferOverrun = 0xc0000409
)

// windowsReason names an exception of Windows.
func windowsReason(s style, e *mdmp.Exception) string {
	if s == styleBreakpad {
		return breakpadWindows(e)
	}
	return rustWindows(e)
}

// access appends the kind of the access, which is parameter 0, to the name of an
// exception.
func access(name string, e *mdmp.Exception) (string, bool) {
	if len(e.Parameters) > 0 {
		if kind, ok := lookup("windows access", e.Parameters[0]); ok {
			return name + "_" + kind, true
		}
	}
	return name, false
}

// breakpadWindows names an exception of Windows as Breakpad does.
func breakpadWindows(e *mdmp.Exception) string {
	name, ok := lookup("windows exception", e.Code)
	if !ok {
		name, ok = lookup("windows exception breakpad", e.Code)
	}
	if !ok {
		return ""
	}

	// Some exceptions are named together with their parameters.
	switch e.Code {
	case accessViolation:
		name, _ = access(name, e)
	case inPageError:
		name, _ = access(name, e)
		if len(e.Parameters) >= 3 {
			name += " / " + ntStatus(e.Parameters[2]&0xffffffff)
		}
	case stackBufferOverrun:
		// Code 0 is that of the compiler's stack cookie check before fast fail existed.
		if len(e.Parameters) > 0 && e.Parameters[0] != 0 {
			if fast, ok := lookup("windows fastfail", e.Parameters[0]); ok {
				return fast
			}
		}
	}
	return name
}

// rustWindows names an exception of Windows as rust-minidump does.
func rustWindows(e *mdmp.Exception) string {
	name, ok := lookup("windows exception", e.Code)
	if !ok {
		name = windowsError(e.Code)
	}

	// Some exceptions are named together with their parameters.
	switch {
	case e.Code == accessViolation:
		name, _ = access(name, e)
	case e.Code == inPageError && len(e.Parameters) >= 3:
		if kind, ok := access(name, e); ok {
			name = kind + " / " + ntStatus(e.Parameters[2]&0xffffffff)
		}
	case name == "STATUS_STACK_BUFFER_OVERRUN" && len(e.Parameters) > 0:
		code := e.Parameters[0] & 0xffffffff
		fast, ok := lookup("windows fastfail", code)
		if !ok {
			fast = hex8(code)
		}
		name = "EXCEPTION_STACK_BUFFER_OVERRUN / " + fast
	}
	return name
}

// windowsError names an error code of Windows, such as a thread's last error: a code of
// winerror.h, or else of ntstatus.h, or else an error of winerror.h within a facility.
func windowsError(code uint32) string {
	if name, ok := lookup("windows error", code); ok {
		return name
	}
	if name, ok := lookup("windows ntstatus", code); ok {
		return name
	}

	// The high half may be a facility, with an error of winerror.h in the low half.
	if code>>28 != 0 {
		facility, known := lookup("windows facility", code>>16&0xfff)
		name, named := lookup("windows error", code&0xffff)
		if known && named {
			return facility + " / " + name
		}
	}
	return "unknown " + hex8(code)
}

// ntStatus names a status of ntstatus.h.
func ntStatus(code uint64) string {
	if name, ok := lookup("windows ntstatus", code); ok {
		return name
	}
	return hex8(code)
}
