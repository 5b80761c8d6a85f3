package minidump

import (
	"fmt"
	"strconv"
	"strings"

	"symkit/internal/wire"
	"symkit/walk"
	"symkit/walk/internal/mdmp"
)

// facts collects the values that only reports show.
func (b *builder) facts() {
	d, f := b.d, &b.p.Facts
	s := &d.System
	f.VersionLine, f.CPUInfo, f.CPUs, f.GPU = s.Version(), s.CPUInfo(), int(s.Processors), "UNKNOWN"
	// The clock of a damaged dump can go back: then the uptime is 0.
	m := d.Misc
	if m != nil && m.Flags&mdmp.MiscProcessTimes != 0 && m.CreateTime != 0 {
		f.HasUptime = true
		if d.Header.Time > m.CreateTime {
			f.Uptime = uint64(d.Header.Time - m.CreateTime)
		}
	}

	f.Assertion = d.Assertion.String()
	for i := range d.UnloadedModules {
		m := &d.UnloadedModules[i]
		f.Unloaded = append(f.Unloaded, walk.UnloadedModule{
			Name: b.text(m.Name), Base: m.Base, End: end(m.Base, uint64(m.Size)), CodeID: m.CodeID()})
	}

	// An empty stream of handles gives an empty list, a missing stream gives nil.
	if d.Handles != nil {
		f.Handles = make([]walk.Handle, 0, len(d.Handles))
	}

	for i := range d.Handles {
		h := &d.Handles[i]
		f.Handles = append(f.Handles, walk.Handle{Handle: h.Handle, Type: b.optional(h.Type), Name: b.optional(h.Name)})
	}

	// The remaining facts depend on the system, or on the tool that wrote the dump.
	b.linuxFacts()
	b.macFacts()
	if d.Crashpad != nil {
		f.Crashpad = b.crashpad(d.Crashpad)
	}
	f.SoftErrors = d.File(mdmp.SoftErrorsStream)
}

// optional returns nil for a string that the dump does not have.
func (b *builder) optional(t mdmp.Text) *string {
	if t.IsNil() {
		return nil
	}
	s := b.text(t)
	return &s
}

// bytes converts a string that is UTF-8 or nearly so, and takes its size from the same bound
// as text.
func (b *builder) bytes(s []byte) string {
	if len(s) > b.left {
		return ""
	}
	b.left -= len(s)
	return strings.ToValidUTF8(string(s), "\uFFFD")
}

// linuxFacts reads the facts in the files of /proc and /etc.
func (b *builder) linuxFacts() {
	d, f := b.d, &b.p.Facts
	// Each processor has a block in /proc/cpuinfo; the first revision of the microcode
	// stands for all.
	for name, value := range mdmp.Fields(d.File(mdmp.LinuxCPUInfoStream), ':') {
		if v, ok := strings.CutPrefix(value, "0x"); ok && name == "microcode" {
			if n, err := strconv.ParseUint(v, 16, 64); err == nil {
				f.Microcode = fmt.Sprintf("%#x", n)
			}
			break
		}
	}

	// The file has the keys of lsb-release, or those of os-release.
	release := d.File(mdmp.LinuxLsbReleaseStream)
	if release != nil {
		f.LSB = &walk.LSBRelease{}
		for name, value := range mdmp.Fields(release, '=') {
			switch name {
			case "DISTRIB_ID", "ID":
				f.LSB.ID = value
			case "DISTRIB_RELEASE", "VERSION_ID":
				f.LSB.Release = value
			case "DISTRIB_CODENAME", "VERSION_CODENAME":
				f.LSB.Codename = value
			case "DISTRIB_DESCRIPTION", "PRETTY_NAME":
				f.LSB.Description = value
			}
		}
	}

	f.Limits = d.Limits()
}

// macFacts collects the records of __crash_info sections and the kernel's arguments.
func (b *builder) macFacts() {
	d, f := b.d, &b.p.Facts
	for i := range d.MacCrashInfo {
		m := &d.MacCrashInfo[i]
		r := walk.MacRecord{Module: b.bytes(m.ModulePath), Message: b.bytes(m.Message), Signature: b.bytes(m.Signature),
			Backtrace: b.bytes(m.Backtrace), Message2: b.bytes(m.Message2)}

		// Later versions of the record have more fields.
		if m.Version >= mdmp.MacRecordVersion4 {
			r.Thread, r.DialogMode = &m.Thread, &m.DialogMode
		}
		if m.Version >= mdmp.MacRecordVersion5 {
			r.AbortCause = &m.AbortCause
		}
		f.MacRecords = append(f.MacRecords, r)
	}
	f.MacBootArgs = b.optional(d.MacBootArgs)
}

// crashpad converts the annotations of Crashpad's client.
func (b *builder) crashpad(p *mdmp.CrashpadInfo) *walk.Crashpad {
	out := &walk.Crashpad{ReportID: uuid(p.ReportID), ClientID: uuid(p.ClientID), Simple: b.annotations(p.Annotations)}
	for i := range p.Modules {
		m := &p.Modules[i]
		info := walk.CrashpadModule{Simple: b.annotations(m.Simple)}
		// The index counts in the dump's list of modules, and can be out of range in a
		// damaged dump.
		if m.Module >= 0 && m.Module < len(b.d.Modules) {
			info.Module = walk.BaseName(b.text(b.d.Modules[m.Module].Name))
		}
		for _, s := range m.List {
			info.List = append(info.List, b.bytes(s))
		}

		// Only strings are shown: the types from 0x8000 on are the client's own.
		for _, o := range m.Objects {
			if o.Type == mdmp.AnnotationString {
				info.Objects = append(info.Objects, walk.Annotation{Name: b.bytes(o.Name), Value: b.bytes(o.Value)})
			}
		}
		out.Modules = append(out.Modules, info)
	}
	return out
}

func (b *builder) annotations(all []mdmp.Annotation) (out []walk.Annotation) {
	for _, a := range all {
		out = append(out, walk.Annotation{Name: b.bytes(a.Key), Value: b.bytes(a.Value)})
	}
	return out
}

// uuid prints a UUID. The text is empty if the UUID consists of zeros.
func uuid(g mdmp.GUID) string {
	if g == (mdmp.GUID{}) {
		return ""
	}
	return g.String()
}

// lastError names the value that GetLastError would return in a thread. That value is in the
// word after the first thirteen of the thread environment block (TEB, winternl.h). The name
// is empty if the dump lacks the block, or is not a dump of Windows.
func (b *builder) lastError(t *mdmp.Thread) string {
	word := uint64(4)
	if b.d.System.CPU.Wide() {
		word = 8
	}
	data := b.d.Memory.Bytes(t.TEB+13*word, 4)
	if !b.d.System.OS.Windows() || data == nil {
		return ""
	}
	c := wire.New(mdmp.Section, data, b.d.BigEndian)
	return windowsError(c.U32())
}
