package rawdump

import (
	"fmt"

	"symkit/internal/printable"
	"symkit/walk/internal/mdmp"
)

// systemInfo writes MINIDUMP_SYSTEM_INFO. A service pack that cannot be read is shown as an empty one.
func (p *printer) systemInfo() {
	if !p.d.Has(mdmp.SystemInfoStream) {
		return
	}
	s := &p.d.System
	p.record("MINIDUMP_SYSTEM_INFO", 42, s.SystemRecord)
	p.line(42, "(version)", fmt.Sprintf("%d.%d.%d %s", s.Major, s.Minor, s.Build, wide(s.ServicePack, "")))
	p.line(42, "(cpu_info)", printable.String(s.CPUInfo()))
	p.printf("\n")
}

const (
	miscWidth   = 28
	invalidText = "(invalid)"
)

// miscInfo writes MINIDUMP_MISC_INFO, in the largest of its versions that the stream holds.
func (p *printer) miscInfo() {
	m := p.d.MiscOfStream()
	if m == nil {
		return
	}
	form := mdmp.Form{Width: miscWidth, Flags: m.Known}
	p.printf("MINIDUMP_MISC_INFO\n")
	p.form(form, m.MiscRecord)
	p.timeZone(&m.TimeZone, m.Known&mdmp.MiscTimeZone != 0)

	build, debug := invalidText, invalidText
	if m.Known&mdmp.MiscBuildString != 0 {
		build, debug = wide(mdmp.TextOf(m.BuildString[:]), build), wide(mdmp.TextOf(m.DebugBuildString[:]), debug)
	}
	p.line(miscWidth, "build_string", build)
	p.line(miscWidth, "dbg_bld_str", debug)
	p.xstate(&m.XState, m.HasXState)
	p.form(form, m.Cookie)
	p.printf("\n")
}

// timeZone writes TIME_ZONE_INFORMATION.
func (p *printer) timeZone(z *mdmp.TimeZone, valid bool) {
	if !valid {
		p.line(miscWidth, "time_zone", invalidText)
		return
	}
	p.line(miscWidth, "time_zone", "")
	p.printf("    bias          = %d\n", z.Bias)
	p.zoneName("standard", &z.Standard)
	p.zoneName("daylight", &z.Daylight)
}

// zoneName writes the part of TIME_ZONE_INFORMATION that is about one of the two times.
func (p *printer) zoneName(name string, z *mdmp.ZoneName) {
	p.printf("    %s_name = %s\n", name, wide(mdmp.TextOf(z.Name[:]), invalidText))
	p.printf("    %s_date = %s\n    %s_bias = %d\n", name, systemTime(z.Date), name, z.Bias)
}

// features are the names of parts of the extended state of an x86.
var features = map[int]string{0: "LEGACY_FLOATING_POINT", 1: "LEGACY_SSE", 2: "GSSE_AND_AVX", 3: "MPX_BNDREGS", 4: "MPX_BNDCSR",
	5: "AVX512_KMASK", 6: "AVX512_ZMM_H", 7: "ACK512_ZMM", 8: "XSTATE_IPT", 62: "XSTATE_LWP"}

// xstate writes XSTATE_CONFIG_FEATURE_MSC_INFO: the features that are enabled.
func (p *printer) xstate(x *mdmp.XStateInfo, valid bool) {
	if !valid {
		p.line(miscWidth, "xstate_data", invalidText)
		return
	}
	p.line(miscWidth, "xstate_data", "")
	for i, f := range x.Features {
		if x.Enabled>>i&1 == 0 {
			continue
		}
		name := fmt.Sprintf("%-22s", features[i])
		if features[i] == "" {
			name = "(unknown)           "
		}
		p.printf("    feature %2d - %s:  offset %4d, size %4d\n", i, name, f.Offset, f.Size)
	}
}
