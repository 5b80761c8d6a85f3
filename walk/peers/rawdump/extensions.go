package rawdump

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"symkit/internal/printable"
	"symkit/walk/internal/mdmp"
)

// crashpad writes MinidumpCrashpadInfo. Damage anywhere costs the whole stream.
func (p *printer) crashpad() {
	c := p.d.Crashpad
	switch {
	case !slices.ContainsFunc(p.d.Directory, func(s mdmp.Stream) bool { return s.Type == mdmp.CrashpadInfoStream }):
		return
	case !p.d.Whole(mdmp.CrashpadInfoStream) || c.Version == 0:
		p.printf("MinidumpCrashpadInfo cannot print invalid data")
		return
	}

	a := &annotations{ok: true, left: maxAnnotations * p.d.Size()}
	a.out = fmt.Appendf(nil, "MDRawCrashpadInfo\n  version = %d\n  report_id = %s\n  client_id = %s\n", c.Version, c.ReportID, c.ClientID)
	a.simple("  ", c.Annotations)
	for i := range c.Modules {
		m := &c.Modules[i]
		prefix := fmt.Sprintf("  module_list[%d].", i)
		a.out = fmt.Appendf(a.out, "%sminidump_module_list_index = %d\n%sversion = %d\n", prefix, m.Module, prefix, m.Version)
		for k, text := range m.List {
			a.out = fmt.Appendf(a.out, "%slist_annotations[%d] = %s\n", prefix, k, a.text(text))
		}
		a.simple(prefix, m.Simple)
		values := map[string]string{}
		for _, o := range m.Objects {
			values[a.text(o.Name)] = a.object(o)
		}
		a.sorted(prefix+"annotation_objects", values)
	}
	if !a.ok {
		p.printf("MinidumpCrashpadInfo cannot print invalid data")
		return
	}
	p.text(append(a.out, '\n'))
}

// annotations is the text of annotations. ok is false if one of them is not UTF-8, or if their text
// is longer than left: records of a damaged dump can share one long string.
type annotations struct {
	out  []byte
	ok   bool
	left int
}

// maxAnnotations bounds the text of all annotations, by the size of the dump.
const maxAnnotations = 4

// text returns text for one line.
func (a *annotations) text(text []byte) string {
	a.left -= len(text)
	a.ok = a.ok && a.left >= 0 && utf8.Valid(text)
	if !a.ok {
		return ""
	}
	return printable.String(string(text))
}

// simple appends a dictionary. Of two values of one name the last counts.
func (a *annotations) simple(prefix string, all []mdmp.Annotation) {
	values := map[string]string{}
	for _, s := range all {
		values[a.text(s.Key)] = a.text(s.Value)
	}
	a.sorted(prefix+"simple_annotations", values)
}

// sorted appends values by name.
func (a *annotations) sorted(dictionary string, values map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		a.out = fmt.Appendf(a.out, "%s[\"%s\"] = %s\n", dictionary, key, values[key])
	}
}

// object returns the value of a MinidumpAnnotation. Types from 0x8000 on are the client's own.
func (a *annotations) object(o mdmp.AnnotationObject) string {
	switch {
	case o.Type == 0:
		return "<invalid>"
	case o.Type == mdmp.AnnotationString:
		return a.text(o.Value)
	case o.Type >= 0x8000:
		return "<user defined>"
	}
	return "<unsupported>"
}

// macCrashInfo writes Mozilla's stream of crash information. Damage to one record costs the stream.
func (p *printer) macCrashInfo() {
	records := slices.DeleteFunc(slices.Clone(p.d.MacCrashInfo), func(m mdmp.MacCrashInfo) bool { return m.Version == 0 })
	if !p.d.Whole(mdmp.MacCrashInfoStream) || slices.ContainsFunc(records, func(m mdmp.MacCrashInfo) bool { return m.Version != records[0].Version }) {
		return
	}
	texts := &annotations{ok: true, left: maxAnnotations * p.d.Size()}
	texts.out = fmt.Appendf(nil, "MINIDUMP_MAC_CRASH_INFO\n  num_records = %d\n", len(records))
	for i := range records {
		m := &records[i]
		texts.out = fmt.Appendf(texts.out, "\n  RECORD[%d] \n", i)
		for _, f := range []struct{ name, text string }{
			{"version", unlessZero("%d", m.Version)}, {"thread", unlessZero("%d", m.Thread)}, {"dialog_mode", unlessZero("%x", m.DialogMode)},
			{"module_path", texts.text(m.ModulePath)}, {"message", texts.text(m.Message)}, {"signature_string", texts.text(m.Signature)},
			{"backtrace", texts.text(m.Backtrace)}, {"message2", texts.text(m.Message2)}, {"abort_cause", unlessZero("%x", m.AbortCause)},
		} {
			texts.out = fmt.Appendf(texts.out, "    %-18s= %s\n", f.name, f.text)
		}
	}
	if texts.ok {
		p.text(append(texts.out, '\n'))
	}
}

// unlessZero formats a number. The text of 0 is empty.
func unlessZero(format string, n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// macBootArgs writes Mozilla's stream of the kernel's arguments.
func (p *printer) macBootArgs() {
	const size = 12
	if len(p.d.File(mdmp.MacBootArgsStream)) >= size {
		p.printf("mac_boot_args = %s\n\n", wide(p.d.MacBootArgs, ""))
	}
}
