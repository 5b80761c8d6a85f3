package rawdump

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"symkit/internal/printable"
	"symkit/internal/wire"
	"symkit/walk/internal/mdmp"
)

// crashpad writes MinidumpCrashpadInfo. The text is made before any of it is written, since damage
// anywhere costs the whole stream.
func (p *printer) crashpad() {
	if _, ok := p.streams[mdmp.CrashpadInfoStream]; !ok {
		return
	}
	text, ok := p.crashpadText()
	if !ok {
		p.printf("MinidumpCrashpadInfo cannot print invalid data")
		return
	}
	p.text(text)
}

func (p *printer) crashpadText() ([]byte, bool) {
	c := p.stream(mdmp.CrashpadInfoStream)
	version, report, client := c.U32(), guid(&c), guid(&c)
	simple, modules := location(&c), location(&c)
	if c.Err() != nil || version == 0 {
		return nil, false
	}

	out := fmt.Appendf(nil, "MDRawCrashpadInfo\n  version = %d\n  report_id = %s\n  client_id = %s\n", version, report, client)
	d := &dictionaries{p: p, ok: true}
	out = d.simple(out, simple, "  simple_annotations[\"%s\"] = %s\n")
	for i, link := range d.records(modules, 12) {
		module := link.U32()
		link.Skip(4) // size
		out = d.module(out, i, module, link.U32())
	}
	return append(out, '\n'), d.ok
}

// location is MINIDUMP_LOCATION_DESCRIPTOR: size and offset.
func location(c *wire.Cursor) [2]uint32 { return [2]uint32{c.U32(), c.U32()} }

// dictionaries reads the annotations of Crashpad's clients. ok is false once something could not
// be read.
type dictionaries struct {
	p    *printer
	ok   bool
	text int // bytes of all texts
}

// maxAnnotations bounds the text of all annotations, by the size of the dump: modules of a damaged
// dump can share one list.
const maxAnnotations = 4

// records returns the records of a list that begins with their number, up to the first that is
// not whole.
func (d *dictionaries) records(at [2]uint32, size uint64) (out []wire.Cursor) {
	c := d.p.at(at[1], at[0])
	if c.Err() != nil || at[0] == 0 {
		d.ok = d.ok && c.Err() == nil
		return nil
	}
	n := uint64(c.U32())
	d.text += c.Len()
	if c.Err() != nil || n > uint64(c.Len())/size || d.text > maxAnnotations*len(d.p.data) {
		d.ok = false
		return nil
	}
	for range n {
		out = append(out, c.Sub(size))
	}
	return out
}

// string reads a string.
func (d *dictionaries) string(rva uint32, terminated bool) string {
	text, ok := d.p.utf8Name(rva, terminated)
	d.text += len(text)
	d.ok = d.ok && ok && d.text <= maxAnnotations*len(d.p.data)
	if !d.ok {
		return ""
	}
	return text
}

// simple appends a dictionary, by name. Of two values of one name the last counts.
func (d *dictionaries) simple(out []byte, at [2]uint32, format string) []byte {
	values := map[string]string{}
	for _, r := range d.records(at, 8) {
		key := d.string(r.U32(), true)
		values[key] = d.string(r.U32(), true)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		out = fmt.Appendf(out, format, key, values[key])
	}
	return out
}

// module appends MinidumpModuleCrashpadInfo, the i-th of the stream.
func (d *dictionaries) module(out []byte, i int, module, rva uint32) []byte {
	c := d.p.rest(uint64(rva))
	version := c.U32()
	list, simple, objects := location(&c), location(&c), location(&c)
	if c.Err() != nil {
		d.ok = false
		return out
	}

	prefix := fmt.Sprintf("  module_list[%d].", i)
	out = fmt.Appendf(out, "%sminidump_module_list_index = %d\n%sversion = %d\n", prefix, module, prefix, version)
	for k, r := range d.records(list, 4) {
		out = fmt.Appendf(out, "%slist_annotations[%d] = %s\n", prefix, k, d.string(r.U32(), true))
	}
	out = d.simple(out, simple, prefix+"simple_annotations[\"%s\"] = %s\n")

	values := map[string]string{}
	for _, r := range d.records(objects, 12) {
		key := d.string(r.U32(), true)
		typ := r.U16()
		r.Skip(2)
		values[key] = d.object(typ, r.U32())
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		out = fmt.Appendf(out, "%sannotation_objects[\"%s\"] = %s\n", prefix, key, values[key])
	}
	return out
}

// object returns the value of a MinidumpAnnotation. Types from 0x8000 on are the client's own.
func (d *dictionaries) object(typ uint16, rva uint32) string {
	switch {
	case typ == 0:
		return "<invalid>"
	case typ == mdmp.AnnotationString:
		return d.string(rva, false)
	case typ >= 0x8000:
		return "<user defined>"
	}
	return "<unsupported>"
}

// macField is a field of Mozilla's record of a __crash_info section: a number at an offset, or the
// string of an index. Versions before since do not have it.
type macField struct {
	name   string
	since  uint64
	offset int
	format string
}

var macFields = []macField{
	{"version", 1, 8, "%d"}, {"thread", 4, 16, "%d"}, {"dialog_mode", 4, 24, "%x"},
	{"module_path", 4, 0, ""}, {"message", 4, 1, ""}, {"signature_string", 4, 2, ""}, {"backtrace", 4, 3, ""},
	{"message2", 4, 4, ""}, {"abort_cause", 5, 32, "%x"},
}

// macRecord is one record.
type macRecord struct {
	version uint64
	raw     wire.Cursor
	strings []string
}

// macCrashInfo writes Mozilla's stream of crash information. Damage to one record costs the stream.
func (p *printer) macCrashInfo() {
	const maxRecords = 20
	c := p.stream(mdmp.MacCrashInfoStream)
	if c.Len() < 12+8*maxRecords {
		return
	}
	c.Skip(4) // the stream's type again
	n, start := min(c.U32(), maxRecords), c.U32()
	var records []macRecord
	for range n {
		size, rva := c.U32(), c.U32()
		r, ok := macRecordAt(p.at(rva, size), uint64(start))
		if !ok || len(records) > 0 && records[0].version != r.version {
			return
		}
		if r.version > 0 {
			records = append(records, r)
		}
	}

	p.printf("MINIDUMP_MAC_CRASH_INFO\n  num_records = %d\n", len(records))
	for i := range records {
		p.printf("\n  RECORD[%d] \n", i)
		for _, f := range macFields {
			p.printf("    %-18s= %s\n", f.name, records[i].field(f))
		}
	}
	p.printf("\n")
}

// macRecordAt reads a record: numbers, and from offset start on strings that end with a NUL.
func macRecordAt(c wire.Cursor, start uint64) (r macRecord, ok bool) {
	r.raw = c
	fixed, whole := uint64(16), c
	c.Skip(8)
	r.version = c.U64()
	switch {
	case r.version >= 5:
		fixed = 40
	case r.version >= 4:
		fixed = 32
	}
	whole.Skip(fixed)
	if c.Err() != nil || whole.Err() != nil || r.version > 0 && start < fixed {
		return r, false
	}
	if r.version < 4 {
		return r, true
	}

	texts := r.raw
	texts.Skip(start)
	for range 5 {
		b := texts.CString()
		if !utf8.Valid(b) {
			return r, false
		}
		r.strings = append(r.strings, printable.String(string(b)))
	}
	return r, texts.Err() == nil
}

// field returns the text of a field: empty for 0, and in versions that do not have it.
func (r *macRecord) field(f macField) string {
	switch {
	case r.version < f.since:
		return ""
	case f.format == "":
		return r.strings[f.offset]
	}
	c := r.raw
	c.Skip(uint64(f.offset))
	n := c.U64()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(f.format, n)
}

// macBootArgs writes Mozilla's stream of the kernel's arguments.
func (p *printer) macBootArgs() {
	c := p.stream(mdmp.MacBootArgsStream)
	c.Skip(4) // the stream's type again
	rva := c.U64()
	if c.Err() != nil {
		return
	}
	text, _ := p.name(rva)
	p.printf("mac_boot_args = %s\n\n", text)
}

// rawFiles are the streams that are the contents of a file, in the order of the text.
var rawFiles = []mdmp.StreamType{mdmp.LinuxCmdLineStream, mdmp.LinuxEnvironStream, mdmp.LinuxLsbReleaseStream,
	mdmp.LinuxProcStatusStream, mdmp.LinuxCPUInfoStream, mdmp.LinuxMapsStream, mdmp.LinuxLimitsStream, mdmp.SoftErrorsStream}

// files writes the streams that are the contents of a file. After each NUL is a line break.
func (p *printer) files() {
	for _, typ := range rawFiles {
		c := p.stream(typ)
		if c.Err() != nil {
			continue
		}
		p.printf("Stream %s:\n", typ)
		p.text(bytes.ReplaceAll(c.Rest(), []byte{0}, []byte("\\0\n")))
		p.printf("\n\n")
	}
}

// stability writes Chromium's StabilityReport, a protocol buffer.
func (p *printer) stability() {
	c := p.stream(mdmp.StabilityReportStream)
	if c.Err() != nil {
		return
	}
	var out strings.Builder
	if !stabilityReport(&out, c) {
		return
	}
	p.printf("StabilityReport\n%s", &out)
}
