package rawdump

import (
	"fmt"
	"io"
	"strings"

	"symkit/internal/wire"
)

// stabilityField is a field of Chromium's StabilityReport (stability_report.proto). path has the
// numbers of the messages that enclose the field, and the number of the field. A field whose name
// has %d occurs once for each process.
type stabilityField struct{ path, name string }

var stabilityFields = []stabilityField{
	{"2/3", "process_state[%d].process_id"},
	{"2/4/1/1", "process_state[%d].memory_state.process_private_usage"},
	{"2/4/1/2", "process_state[%d].memory_state.process_peak_workingset_size"},
	{"2/4/1/3", "process_state[%d].memory_state.process_peak_pagefile_usage"},
	{"2/4/1/4", "process_state[%d].memory_state.process_allocation_attempt"},
	{"2/7/1/1", "file_system_state.posix_file_system_state.open_file_descriptors"},
	{"2/7/2/1", "file_system_state.windows_file_system_state.process_handle_count"},
	{"7/1/1", "system_memory_state.windows_memory.system_commit_limit"},
	{"7/1/2", "system_memory_state.windows_memory.system_commit_remaining"},
	{"7/1/3", "system_memory_state.windows_memory.system_handle_count"},
}

const processID = "2/3" // an int64; all others are uint32

// message maps paths to the numbers in a message and in the messages within it.
type message map[string]uint64

// stabilityReport writes the fields that the report has. It returns false for damage.
func stabilityReport(out io.Writer, c wire.Cursor) bool {
	var processes []message
	rest := message{}
	for c.Len() > 0 {
		into := rest
		ahead := c
		if ahead.ULEB()>>3 == 2 {
			into = message{}
			processes = append(processes, into)
		}
		if !into.readField(&c, "") {
			return false
		}
	}

	for i, m := range append(processes, rest) {
		for _, f := range stabilityFields {
			n, ok := m[f.path]
			if !ok {
				continue
			}
			name := strings.ReplaceAll(f.name, "%d", fmt.Sprint(i))
			if f.path == processID {
				fmt.Fprintf(out, "  %s = %d\n", name, int64(n))
			} else {
				fmt.Fprintf(out, "  %s = %d\n", name, uint32(n))
			}
		}
	}
	return true
}

// readField reads one field of a protocol buffer (Encoding, "Message Structure") and the messages
// in it. It returns false for damage. within is the path of the message, with a slash after it.
func (m message) readField(c *wire.Cursor, within string) bool {
	const varint, fixed64, length, fixed32 = 0, 1, 2, 5
	tag := c.ULEB()
	path := fmt.Sprint(within, tag>>3)
	number, inside := known(path)
	kind := tag & 7

	// A known field of another kind is damage; an unknown field is skipped.
	if number && kind != varint || inside && kind != length || tag>>3 == 0 {
		return false
	}
	switch kind {
	case varint:
		n := c.ULEB()
		if number {
			m[path] = n
		}
	case fixed64:
		c.Skip(8)
	case fixed32:
		c.Skip(4)
	case length:
		sub := c.Sub(c.ULEB())
		for inside && sub.Len() > 0 {
			if !m.readField(&sub, path+"/") {
				return false
			}
		}
	default:
		return false
	}
	return c.Err() == nil
}

// known reports whether a path is that of a number, and whether it is that of a message.
func known(path string) (number, inside bool) {
	for _, f := range stabilityFields {
		number = number || f.path == path
		inside = inside || strings.HasPrefix(f.path, path+"/")
	}
	return number, inside
}
